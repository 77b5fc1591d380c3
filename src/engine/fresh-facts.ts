// Facts that are looked up again at the moment of use: who a person is, according to Slack, and what the service says about the run.

import type { Person, Refusal } from "../domain/authorization.ts";
import type { Context } from "../domain/context.ts";
import { observeMissing } from "../domain/end-run.ts";
import type { ChannelId, GroupId, UserId } from "../domain/ids.ts";
import { observe } from "../domain/observe.ts";
import { withGroupsToAsk } from "../domain/rule-facts.ts";
import type { Run } from "../domain/run.ts";
import { type FetchedRun, type People, PortError } from "../ports.ts";

/** A decision may rest on an answer of Slack that is up to this old (ms), so that requests of the same burst share it. */
export const SUBMIT_AGE_MS = 5_000;

/** An answer of Slack that is not older than this (ms) is fresh enough for display. A person who clicks is looked up again. */
export const SHOWN_AGE_MS = 60_000;

export type PersonQuery = {
  readonly user: UserId;
  /** The groups and channels whose membership is asked about. */
  readonly sets: readonly (GroupId | ChannelId)[];
  readonly maxAgeMs: number;
};

/** Resolves to facts about the person, or to a refusal if Slack does not answer. */
export async function lookUp(
  { people }: { readonly people: Pick<People, "lookUp" | "memberOf"> },
  run: Run,
  { user, sets, maxAgeMs }: PersonQuery,
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

/** Resolves to facts about the people, without those about whom Slack does not answer. */
export async function lookUpAll(
  deps: Parameters<typeof lookUp>[0],
  run: Run,
  { users, ...query }: Omit<PersonQuery, "user"> & { readonly users: readonly UserId[] },
): Promise<Person[]> {
  const found = await Promise.all(users.map((user) => lookUp(deps, run, { ...query, user })));
  return found.flatMap((person) => ("type" in person ? [] : [person]));
}

type KnownGroups = { readonly [group: GroupId]: boolean };

/** Resolves to null if no rule depends on the requester's groups. The result leaves out a group if Slack does not answer about it. */
export async function lookUpRequester(
  { people, context }: { readonly people: Pick<People, "memberOf">; readonly context: () => Context },
  run: Run,
  maxAgeMs: number,
): Promise<KnownGroups | null> {
  const withGroups = withGroupsToAsk(run, context().policy);
  return withGroups.requesterGroups === undefined ? null : groupsOfRequester(people, withGroups, maxAgeMs);
}

/** A failed look-up leaves out only its own group. */
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

/** Applies the answer of a fetch to the run. Returns the same object if nothing has changed. */
export function observeFetched(run: Run, fetched: FetchedRun, ctx: Context): Run {
  return fetched.type === "missing"
    ? observeMissing(run, fetched.askedAt, ctx)
    : observe(run, fetched.snapshot, ctx);
}

/** Returns when the fetch began. */
export const askedAtOf = (fetched: FetchedRun): number =>
  fetched.type === "missing" ? fetched.askedAt : fetched.snapshot.askedAt;
