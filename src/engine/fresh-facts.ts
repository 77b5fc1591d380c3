// Facts that are asked for again at the moment of use: who someone is, according to Slack, and what the service says of the run.

import type { Person, Refusal } from "../domain/authorization.ts";
import type { Context } from "../domain/context.ts";
import { observeMissing } from "../domain/end-run.ts";
import type { ChannelId, GroupId, UserId } from "../domain/ids.ts";
import { observe } from "../domain/observe.ts";
import { withGroupsToAsk } from "../domain/rule-facts.ts";
import type { Run } from "../domain/run.ts";
import { type FetchedRun, type People, PortError } from "../ports.ts";

/** A decision may rest on an answer up to this old (ms), shared by requests of the same burst. */
export const SUBMIT_AGE_MS = 5_000;

/** `sets`: the groups and channels that are asked about. */
export type Asked = {
  readonly user: UserId;
  readonly sets: readonly (GroupId | ChannelId)[];
  readonly maxAgeMs: number;
};

/** Facts about the person, or a refusal where Slack does not answer. */
export async function lookUp(
  { people }: { readonly people: Pick<People, "lookUp" | "memberOf"> },
  run: Run,
  { user, sets, maxAgeMs }: Asked,
): Promise<Person | Refusal> {
  try {
    const [person, memberOf] = await Promise.all([
      people.lookUp(run.team, user, run.channel, maxAgeMs),
      people.memberOf(user, sets, maxAgeMs),
    ]);
    return { ...person, memberOf };
  } catch (error) {
    if (error instanceof PortError) return { type: "unverified" };
    throw error;
  }
}

/** Leaves out people whom Slack does not answer about. */
export async function lookUpAll(
  deps: Parameters<typeof lookUp>[0],
  run: Run,
  { users, ...asked }: Omit<Asked, "user"> & { readonly users: readonly UserId[] },
): Promise<Person[]> {
  const found = await Promise.all(users.map((user) => lookUp(deps, run, { ...asked, user })));
  return found.flatMap((each) => ("type" in each ? [] : [each]));
}

type KnownGroups = { readonly [group: GroupId]: boolean };

/** Null: no rule asks. Of a group that is missing in the answer, Slack does not say. */
export async function lookUpRequester(
  { people, context }: { readonly people: Pick<People, "memberOf">; readonly context: () => Context },
  run: Run,
  maxAgeMs: number,
): Promise<KnownGroups | null> {
  const asked = withGroupsToAsk(run, context().policy);
  return asked.requesterGroups === undefined ? null : groupsOfRequester(people, asked, maxAgeMs);
}

/** One failed look-up leaves out its own group only. */
export async function groupsOfRequester(
  people: Pick<People, "memberOf">,
  { requester, requesterGroups }: Run,
  maxAgeMs: number,
): Promise<KnownGroups> {
  const answers = await Promise.all(
    (requesterGroups?.asks ?? []).map(async (group) => {
      try {
        const isIn = (await people.memberOf(requester, [group], maxAgeMs)).get(group);
        return isIn === undefined ? [] : [[group, isIn] as const];
      } catch (error) {
        if (error instanceof PortError) return [];
        throw error;
      }
    }),
  );
  return Object.fromEntries(answers.flat());
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
