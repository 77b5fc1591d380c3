// Decides who may start, watch and unwatch runs: full members of this workspace who see the channel and whom the policy allows. Also
// decides who may read about runs, which depends on the channels that a person is in.

import { isOneOf, type Person } from "../domain/authorization.ts";
import type { Context } from "../domain/context.ts";
import type { CommandRefusal } from "../domain/command-refusal.ts";
import { freezeIn } from "../domain/freeze.ts";
import type { ChannelId, UserId, PersonId } from "../domain/ids.ts";
import { groupsAndChannelsOf, type Principals } from "../domain/policy/named-people.ts";
import type { Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import type { Integrity } from "../engine/integrity.ts";
import type { RunEngine } from "../engine/run-engine.ts";
import { type AgentService, type Counters, type People, PortError } from "../ports.ts";
import type { AuditReaders } from "../ports/notification.ts";
import type { RunStore } from "../ports/store.ts";
import type { AuditEvidence, AuditLog } from "../ports/audit-store.ts";
import { type AttemptDetails, createNoteRefusal } from "./refusals.ts";

/** The maximum age of a look-up for starting, watching and reading (ms). Deciding needs a fresher look-up. */
const RELAXED_AGE_MS = 60_000;
/** The maximum age of a membership that allows reading (ms). */
export const MEMBERSHIP_AGE_MS = 60_000;
/**
 * The maximum age of a missing membership that refuses reading (ms), because the person may have just joined. Not 0, so that repeated
 * questions do not use up the look-ups.
 */
const JOINED_AGE_MS = 2_000;

export type Asker = PersonId & { readonly channel: ChannelId };

export type UseCaseDeps = {
  store: RunStore & AuditLog & Pick<AuditEvidence, "auditProof">;
  agents: Pick<AgentService, "fetchRun">;
  people: People;
  engine: Pick<RunEngine, "transactAnywhere" | "changeAnywhere" | "resume" | "followIfStored">;
  integrity: Pick<Integrity, "found">;
  context: () => Context;
  newKey: () => string;
  metrics: Counters;
};

/** Resolves to null for full members of this workspace who see the channel. `maxAgeMs`: how old Slack's answers may be. */
export async function refusalToUse(
  { people }: UseCaseDeps,
  by: Asker,
  maxAgeMs = RELAXED_AGE_MS,
): Promise<CommandRefusal | null> {
  if (by.channel.startsWith("D")) return { type: "not-a-channel" };
  let person: Person;
  try {
    person = await lookUpHere(people, by, maxAgeMs);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    if (error.code === "channel_not_found") return { type: "hidden-channel" };
    return { type: error.code === "missing_scope" ? "not-a-channel" : "unverified" };
  }
  if (person.kind !== "member") return { type: person.kind };
  return person.seesChannel ? null : { type: "not-in-channel" };
}

/** The person may have joined the channel a moment ago, so an old answer never decides that they do not see it. */
async function lookUpHere(people: People, { team, user, channel }: Asker, maxAgeMs: number): Promise<Person> {
  const person = await people.lookUp(team, user, channel, maxAgeMs);
  return person.seesChannel ? person : people.lookUp(team, user, channel, JOINED_AGE_MS);
}

/** Returns whether the person is an admin of the configuration, whose ids name people of our own team. */
export const isAdmin = ({ admins, team }: Pick<AuditReaders, "admins" | "team">, by: Asker): boolean =>
  admins.includes(by.user) && by.team === team;

/** Resolves to null if the person may start or adopt runs here. */
export async function refusalToStart(
  deps: UseCaseDeps,
  by: Asker,
  starts: "started" | "adopted" = "started",
): Promise<CommandRefusal | null> {
  const refusal = await refusalToUse(deps, by);
  const { policy, freezes } = deps.context();
  const freeze = freezeIn(freezes, by.channel);
  if (refusal === null && freeze !== null && starts === "started") return { type: "frozen", freeze };
  const { starters } = policy;
  if (refusal !== null || starters === null) return refusal;
  const here = starters.filter(({ channels }) => channels === null || channels.includes(by.channel));
  if (here.length === 0) return { type: "no-runs-here" };
  const who = here.map((starter) => starter.who);
  return isAmongAny(deps, by, who, { otherwise: "not-starter" });
}

/** Resolves to null if the person is in one of the lists, and to `otherwise` if they are in none. */
export async function isAmongAny(
  { people }: UseCaseDeps,
  by: Asker,
  principalLists: readonly Principals[],
  {
    otherwise,
    maxAgeMs = RELAXED_AGE_MS,
  }: {
    readonly otherwise: "not-starter" | "not-auditor" | "not-freezer" | "not-your-task";
    readonly maxAgeMs?: number | undefined;
  },
): Promise<CommandRefusal | null> {
  try {
    const memberOf = await people.memberOf(by.user, principalLists.flatMap(groupsAndChannelsOf), maxAgeMs);
    const person: Person = { team: by.team, user: by.user, kind: "member", seesChannel: true, memberOf };
    const memberships = principalLists.map((principals) => isOneOf(person, principals));
    if (memberships.includes(true)) return null;
    return { type: memberships.includes(null) ? "unverified" : otherwise };
  } catch (error) {
    if (error instanceof PortError) return { type: "unverified" };
    throw error;
  }
}

/** Only members of its channel learn about a run. For others it is unknown. */
export async function refusalToKnow(
  { people }: UseCaseDeps,
  by: Asker,
  { channel }: Pick<Run, "channel">,
): Promise<CommandRefusal | null> {
  try {
    const channels = await channelsOf(people, by.user, channel);
    return channels.has(channel) ? null : { type: "unknown-run" };
  } catch (error) {
    if (error instanceof PortError) return { type: "unverified" };
    throw error;
  }
}

/** Counts a refusal and writes its audit entry. Resolves to the result unchanged. `tried`: the known details of the attempt. */
export async function noteIfRefused<Value>(
  deps: Pick<UseCaseDeps, "store" | "metrics" | "context">,
  by: Asker,
  result: Result<Value, CommandRefusal>,
  tried: AttemptDetails,
): Promise<Result<Value, CommandRefusal>> {
  if (result.ok) return result;
  await createNoteRefusal(deps)(by, result.error.type, tried);
  return result;
}

/** Resolves to the channels of a person, for reading. An old answer never decides that they are not in `channel`. */
export async function channelsOf(
  people: Pick<People, "channelsOf">,
  user: UserId,
  channel: ChannelId,
): Promise<ReadonlySet<ChannelId>> {
  const channels = await people.channelsOf(user, MEMBERSHIP_AGE_MS);
  return channels.has(channel) ? channels : people.channelsOf(user, JOINED_AGE_MS);
}
