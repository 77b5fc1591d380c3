// Finds the earlier decisions on the same request that a form shows. They come only from channels that its person sees.

import type { Approval } from "../domain/approval.ts";
import type { Person, Refusal } from "../domain/authorization.ts";
import type { Precedents } from "../domain/precedent.ts";
import type { Run } from "../domain/run.ts";
import { type Clock, endedWithin } from "../engine/clock.ts";
import { findPrecedents, type MayKnow } from "../engine/precedents.ts";
import { type People, PortError } from "../ports.ts";
import { channelsOf, MEMBERSHIP_AGE_MS } from "./access.ts";
import type { FormTicket } from "../ports/store.ts";
import type { DecideDeps } from "./refusals.ts";

/** How long a form waits for precedents (ms). It must open within 3 s of the click, so it opens without them after this time. */
const PATIENCE_MS = 400;

type Deps = Pick<DecideDeps, "store" | "context"> & {
  readonly people: Pick<People, "channelsOf" | "isPublic">;
  readonly clock: Clock;
};

export async function precedentsFor(
  deps: Deps,
  run: Run,
  approval: Approval,
  person: Person | Refusal,
): Promise<Pick<FormTicket, "precedents">> {
  if ("type" in person) return {};
  let found: Precedents | null = null;
  const search = findPrecedents(deps, run, approval, mayKnow(deps, run, person)).then(
    (precedents) => void (found = precedents),
    (error: unknown) => {
      if (!(error instanceof PortError)) throw error;
    },
  );
  await endedWithin(deps.clock, PATIENCE_MS, [search]);
  return toShow(found);
}

const toShow = (found: Precedents | null): Pick<FormTicket, "precedents"> =>
  found === null || isEmpty(found) ? {} : { precedents: found };

const isEmpty = ({ denied, approved, unread }: Precedents): boolean =>
  denied === null && approved === null && unread === undefined;

/** An escalation may have brought the person in, who then need not see the channel of the run. */
function mayKnow({ people }: Deps, run: Run, { user, kind, seesChannel }: Person): MayKnow {
  return async (channel) => {
    if (channel === run.channel) return seesChannel;
    if ((await channelsOf(people, user, channel)).has(channel)) return true;
    return kind === "member" && people.isPublic(channel, MEMBERSHIP_AGE_MS);
  };
}
