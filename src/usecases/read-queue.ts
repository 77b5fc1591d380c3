// Reads the queue of one person. The person and their groups are looked up once for the whole queue.

import { isOneOf, type Person } from "../domain/authorization.ts";
import { asOfNow } from "../domain/bring-up-to-date.ts";
import type { Context } from "../domain/context.ts";
import { reachedStages } from "../domain/escalation.ts";
import type { Freeze } from "../domain/freeze.ts";
import type { ChannelId, GroupId, UserId, PersonId } from "../domain/ids.ts";
import { groupsAndChannelsOf, type NamedPeople } from "../domain/policy/named-people.ts";
import { type Queue, queueOf, setsToAsk } from "../domain/queue.ts";
import type { Run } from "../domain/run.ts";
import { needsFile } from "../domain/text/request-text.ts";
import { type People, PortError } from "../ports.ts";
import { channelsOf, MEMBERSHIP_AGE_MS } from "./access.ts";
import type { RunStore } from "../ports/store.ts";

/** The maximum number of waiting runs that are read, oldest first. Reading more would keep people waiting. */
const MAX_RUNS = 300;
/** The maximum number of groups and channels to look up for one queue. For rules that need more, it stays unknown who may decide. */
const MAX_SETS = 50;

export type QueueDeps = {
  readonly store: Pick<RunStore, "list" | "channelsInUse">;
  readonly people: Pick<People, "channelsOf" | "lookUp" | "memberOf" | "isPublic">;
  readonly context: () => Context;
};

export type WholeQueue = Queue & {
  /** The channels of the person. */
  readonly channels: ReadonlySet<ChannelId>;
  /** True if more runs wait than were read. */
  readonly more: boolean;
  /** The freezes in force in one of these channels. */
  readonly freezes: readonly Freeze[];
};

/**
 * Rejects with PortError if Slack does not say which channels the person is in, or if the store does not answer. If Slack does not say who
 * the person is, or whether they are in a group, the affected requests count as waiting for others, as "unverified".
 * `here`: the channel in which the person asks, if any. `only`: limits the queue to this channel.
 */
export async function readQueue(
  deps: QueueDeps,
  { team, user }: PersonId,
  { here = null, only = null }: { readonly here?: ChannelId | null; readonly only?: ChannelId | null } = {},
): Promise<WholeQueue> {
  const { store, people, context } = deps;
  const asksFrom = here ?? only;
  const all =
    asksFrom === null
      ? await people.channelsOf(user, MEMBERSHIP_AGE_MS)
      : await channelsOf(people, user, asksFrom);
  const channels = only === null ? all : new Set([only].filter((channel) => all.has(channel)));
  const stages = stagesOf(context());
  const place = [...channels][0] ?? (stages.length === 0 ? undefined : (await store.channelsInUse())[0]);
  if (place === undefined) return { ...EMPTY, channels };
  const freezes = context().freezes.filter(({ channel }) => channel === null || channels.has(channel));
  const [found, person] = await Promise.all([
    waitingIn(store, [...channels]),
    whoIs(people, { team, user }, place),
  ]);
  const further = await escalatedTo(deps, user, person, { stages, seen: channels, only });
  // A queue asks about no requester, because it may show hundreds of runs. The form asks.
  const runs = [...found.slice(0, MAX_RUNS), ...further.runs].map((run) => asOfNow(run, null, context()));
  const memberOf = await memberships(people, user, runs, context());
  const openChannels = person?.kind === "member" ? await publicIn(people, further.runs) : NO_CHANNELS;
  const reader = {
    user,
    channels,
    openChannels,
    person: person === null ? null : { ...person, memberOf },
  };
  const more = found.length > MAX_RUNS || further.more;
  return { ...queueOf(runs, reader, context()), channels, freezes, more };
}

const NO_CHANNELS: ReadonlySet<ChannelId> = new Set();

/**
 * Resolves to the public channels of these runs, in which every full member can open a file. If Slack does not say so, a channel counts as
 * public here, and the form judges. Only asked for requests whose whole text is in a file.
 */
async function publicIn(
  people: Pick<People, "isPublic">,
  runs: readonly Run[],
): Promise<ReadonlySet<ChannelId>> {
  const withFile = runs.filter(({ approvals }) => approvals.some(({ request }) => needsFile(request)));
  const channels = [...new Set(withFile.map(({ channel }) => channel))];
  const isPublic = (channel: ChannelId): Promise<boolean> =>
    people.isPublic(channel, MEMBERSHIP_AGE_MS).catch((error: unknown) => {
      if (error instanceof PortError) return true;
      throw error;
    });
  const found = await Promise.all(channels.map(isPublic));
  return new Set(channels.filter((_, nth) => found[nth] === true));
}

async function waitingIn(store: QueueDeps["store"], channels: readonly ChannelId[]): Promise<readonly Run[]> {
  if (channels.length === 0) return [];
  return store.list({ channels, only: "pending", oldestFirst: true, limit: MAX_RUNS + 1 });
}

/** Returns the people whom the stages of the policy let decide. */
const stagesOf = ({ policy }: Pick<Context, "policy">): readonly NamedPeople[] =>
  policy.rules.flatMap(({ followUp }) => followUp.escalate.flatMap(({ to }) => (to === null ? [] : [to])));

type EscalationScope = {
  readonly stages: readonly NamedPeople[];
  readonly seen: ReadonlySet<ChannelId>;
  readonly only: ChannelId | null;
};

/**
 * Resolves to runs of other channels in which a stage of an escalation may let this person decide. They are read only for people whom a
 * stage of the policy names.
 */
async function escalatedTo(
  { store, people }: QueueDeps,
  user: UserId,
  person: Person | null,
  { stages, seen, only }: EscalationScope,
): Promise<{ readonly runs: readonly Run[]; readonly more: boolean }> {
  if (stages.length === 0 || person === null) return NO_RUNS;
  const sets = [...new Set(stages.flatMap(groupsAndChannelsOf))].slice(0, MAX_SETS);
  const answers = await Promise.all(sets.map((set) => membershipIn(people, user, set)));
  const memberOf = new Map(answers.flatMap((answer) => [...answer]));
  if (!stages.some((people) => isOneOf({ ...person, memberOf }, people) === true)) return NO_RUNS;
  const otherChannels = (await store.channelsInUse()).filter(
    (channel) => !seen.has(channel) && (only === null || channel === only),
  );
  const found = await waitingIn(store, otherChannels);
  const runs = found
    .slice(0, MAX_RUNS)
    .filter(({ approvals }) => approvals.some((approval) => reachedStages(approval).length > 0));
  return { runs, more: found.length > MAX_RUNS };
}

const NO_RUNS = { runs: [], more: false } as const;
const EMPTY = {
  yours: [],
  others: [],
  undelivered: [],
  unreadable: [],
  closedTo: null,
  more: false,
  freezes: [],
} as const;

/** Resolves to null if Slack does not say. The kind of an account does not depend on the channel, so any channel will do. */
async function whoIs(
  people: QueueDeps["people"],
  { team, user }: PersonId,
  channel: ChannelId,
): Promise<Person | null> {
  try {
    return await people.lookUp(team, user, channel, MEMBERSHIP_AGE_MS);
  } catch (error) {
    if (error instanceof PortError) return null;
    throw error;
  }
}

/** A failed look-up leaves out only its own group. */
async function memberships(
  people: QueueDeps["people"],
  user: UserId,
  runs: readonly Run[],
  ctx: Pick<Context, "policy" | "now">,
): Promise<ReadonlyMap<GroupId | ChannelId, boolean>> {
  const asked = [...setsToAsk(runs, ctx)].slice(0, MAX_SETS);
  const answers = await Promise.all(asked.map((set) => membershipIn(people, user, set)));
  return new Map(answers.flatMap((answer) => [...answer]));
}

async function membershipIn(
  people: QueueDeps["people"],
  user: UserId,
  set: GroupId | ChannelId,
): Promise<ReadonlyMap<GroupId | ChannelId, boolean>> {
  try {
    return await people.memberOf(user, [set], MEMBERSHIP_AGE_MS);
  } catch (error) {
    if (error instanceof PortError) return new Map();
    throw error;
  }
}
