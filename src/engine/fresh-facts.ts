// Facts that are asked for again at the moment of use: who somebody is, according to Slack, and what the service says of the run.

import type { Person, Refusal } from "../domain/authorization.ts";
import type { Context } from "../domain/context.ts";
import { observeMissing } from "../domain/end-run.ts";
import type { UserId } from "../domain/ids.ts";
import { observe } from "../domain/observe.ts";
import { groupsAndChannelsOf, type Principals } from "../domain/policy/principals.ts";
import type { Run } from "../domain/run.ts";
import { type FetchedRun, type People, PortError } from "../ports.ts";

/** A decision may rest on an answer up to this old (ms), shared by requests of the same burst. */
export const SUBMIT_AGE_MS = 5_000;

export type Asked = { readonly user: UserId; readonly principals: Principals; readonly maxAgeMs: number };

/** Facts about the person, or a refusal where Slack does not answer. */
export async function lookUp(
  { people }: { readonly people: Pick<People, "lookUp" | "memberOf"> },
  run: Run,
  { user, principals, maxAgeMs }: Asked,
): Promise<Person | Refusal> {
  try {
    const [person, memberOf] = await Promise.all([
      people.lookUp(run.team, user, run.channel, maxAgeMs),
      people.memberOf(user, groupsAndChannelsOf(principals), maxAgeMs),
    ]);
    return { ...person, memberOf };
  } catch (error) {
    if (error instanceof PortError) return { type: "unverified" };
    throw error;
  }
}

/** Applies the answer of a fetch to the run. The same object when nothing is new. */
export function observeFetched(run: Run, fetched: FetchedRun, ctx: Context): Run {
  return fetched.type === "missing"
    ? observeMissing(run, fetched.askedAt, ctx)
    : observe(run, fetched.snapshot, ctx);
}

/** When the fetch began. */
export const askedAtOf = (fetched: FetchedRun): number =>
  fetched.type === "missing" ? fetched.askedAt : fetched.snapshot.askedAt;
