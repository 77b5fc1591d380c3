// Looks up people, channels and groups in Slack by id. Display names and payloads do not prove who someone is.

import type { Person } from "../../domain/authorization.ts";
import { type ChannelId, parsed, type TeamId, UserId } from "../../domain/ids.ts";
import type { Clock } from "../../engine/clock.ts";
import { type People, PortError } from "../../ports.ts";
import type { SlackUser } from "./answers.ts";
import { createChannelKinds } from "./channel-kinds.ts";
import { type Call, QUICK_MS } from "./clients.ts";
import { createMemberships } from "./memberships.ts";
import { createPacers } from "./rate-limiter.ts";
import { createUserLookUp } from "./shared-look-ups.ts";
import type { TeamOf } from "./workspace-check.ts";

/** Our own workspace, from auth.test. */
export type Home = { readonly team: TeamId; readonly enterprise: string | null };

/** The maximum age of an answer about a person's workspace (ms). */
const TEAM_AGE_MS = 60_000;
/** The maximum age of a name that is shown beside an id (ms). */
const NAME_AGE_MS = 10 * 60_000;

/** A person whom Slack has not identified after `deadlineMs` counts as unverified. */
export function createPeople(
  call: Call,
  home: Home,
  clock: Clock,
  deadlineMs = QUICK_MS,
): People & { teamOf: TeamOf } {
  const pacers = createPacers(clock);
  const users = createUserLookUp(call, pacers, clock);
  const kinds = createChannelKinds(call, pacers, clock);
  const sets = createMemberships(call, clock, { kinds, pacers });
  const lookUp = createLookUp({ users, kinds, sets }, home);

  return {
    membersOf: sets.membersOf,
    shareLimits: pacers.share,
    isPublic: kinds.isPublic,
    memberOf: (...args) => withDeadline(sets.memberOf(...args), deadlineMs),
    lookUp: (...args) => withDeadline(lookUp(...args), deadlineMs),
    nameOf: (user) => nameIn(withDeadline(users(user, NAME_AGE_MS), LIST_DEADLINE_MS)),
    channelsOf: (user, maxAgeMs) => withDeadline(sets.channelsOf(user, maxAgeMs), LIST_DEADLINE_MS),
    teamOf: async (user) => {
      const id = parsed(UserId, user);
      return id === null ? "" : (await withDeadline(users(id, TEAM_AGE_MS), deadlineMs)).team;
    },
  };
}

type LookUps = {
  readonly users: ReturnType<typeof createUserLookUp>;
  readonly kinds: ReturnType<typeof createChannelKinds>;
  readonly sets: ReturnType<typeof createMemberships>;
};

function createLookUp({ users, kinds, sets }: LookUps, home: Home): People["lookUp"] {
  /**
   * Every full member can open a public channel, and members can see their channel of any kind. So if Slack's rate limit delays the
   * question about the kind of channel, we ask about the membership first.
   */
  async function isSeenBy(user: UserId, channel: ChannelId, maxAgeMs: number): Promise<boolean> {
    const asksKindFirst = kinds.isQuick(channel, maxAgeMs);
    if (asksKindFirst && (await kinds.isPublic(channel, maxAgeMs))) return true;
    const membership = await sets.inChannel(user, channel, maxAgeMs);
    if (membership === "in" || (!asksKindFirst && (await kinds.isPublic(channel, maxAgeMs)))) return true;
    if (membership !== "unknown") return false;
    throw new PortError(UNSURE, { applied: "no", retry: "later", code: "too_many_members" });
  }

  return async (team, user, channel, maxAgeMs) => {
    const [facts, seesChannel] = await Promise.all([
      users(user, maxAgeMs),
      isSeenBy(user, channel, maxAgeMs),
    ]);
    if (facts.id !== user)
      throw new PortError("Slack answered for someone else", {
        applied: "no",
        retry: "later",
        code: "garbled",
      });
    return { team, user, kind: kindOf(facts, home), seesChannel };
  };
}

const UNSURE =
  "The channel and the person's list of channels are too large to tell whether the person is in the channel";

async function nameIn(user: Promise<SlackUser>): Promise<string | null> {
  try {
    return (await user).name;
  } catch {
    return null;
  }
}

/** The deadline for lists (ms). They may take longer because they do not answer a click. */
const LIST_DEADLINE_MS = 10_000;

async function withDeadline<T>(answer: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const details = { applied: "no", retry: "later", code: "timeout" } as const;
  const timer = setTimeout(() => reject(new PortError("Slack did not say in time who this is", details)), ms);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Classifies a person. The order matters: an outsider's guest flags describe their own workspace and mean nothing here. On Enterprise Grid,
 * Slack names one of a person's workspaces and lists all of them. A person who belongs only to a sibling workspace is an outsider.
 */
export function kindOf(facts: SlackUser, home: Home): Person["kind"] {
  if (facts.deleted) return "deactivated";
  if (facts.isBot) return "bot";
  const isSameOrg = home.enterprise !== null && facts.enterprise === home.enterprise;
  const isHere = facts.team === home.team || (isSameOrg && facts.teams.includes(home.team));
  if (!isHere) return "outsider";
  return facts.isGuest ? "guest" : "member";
}
