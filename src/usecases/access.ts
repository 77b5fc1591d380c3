// Who may start, watch and let go of runs: full members of this workspace who can see the channel, and whom the policy lets.

import type { Context } from "../domain/context.ts";
import { isOneOf, type Person } from "../domain/authorization.ts";
import type { ChannelId, RunKey, TeamId, UserId } from "../domain/ids.ts";
import { groupsAndChannelsOf, type Principals } from "../domain/policy/policy.ts";
import type { Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import { aboutTask, auditEntry, type AuditEntry } from "../audit/entry.ts";
import {
  type AgentService,
  channelsOf,
  type Counters,
  JOINED_AGE_MS,
  type People,
  PortError,
} from "../ports.ts";
import type { AuditLog, RunStore } from "../ports/store.ts";
import { type AttemptDetails, createNoteRefusal } from "./refusals.ts";
import type { RunEngine } from "../engine/run-engine.ts";

/** A look-up for starting, watching and reading may be this old (ms); one for deciding may not. */
export const RELAXED_AGE_MS = 60_000;

export type Asker = { readonly team: TeamId; readonly user: UserId; readonly channel: ChannelId };

export type UseCaseDeps = {
  store: RunStore & AuditLog;
  agents: Pick<AgentService, "fetchRun">;
  people: People;
  engine: Pick<RunEngine, "transact" | "change" | "resume">;
  context: () => Context;
  newKey: () => string;
  metrics: Counters;
};

/** Full members of this workspace, in the channel. Null: they may. */
export async function refusalToUse({ people }: UseCaseDeps, by: Asker): Promise<CommandRefusal | null> {
  if (by.channel.startsWith("D")) return { type: "not-a-channel" };
  let person: Person;
  try {
    person = await lookUpHere(people, by);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    if (error.code === "channel_not_found") return { type: "hidden-channel" };
    return { type: error.code === "missing_scope" ? "not-a-channel" : "unverified" };
  }
  if (person.kind !== "member") return { type: person.kind };
  return person.seesChannel ? null : { type: "not-in-channel" };
}

/** Somebody may have joined the channel a moment ago, so that they do not see it is never told from an old answer. */
async function lookUpHere(people: People, { team, user, channel }: Asker): Promise<Person> {
  const person = await people.lookUp(team, user, channel, RELAXED_AGE_MS);
  return person.seesChannel ? person : people.lookUp(team, user, channel, JOINED_AGE_MS);
}

/** Null: they may start or adopt runs here. */
export async function refusalToStart(deps: UseCaseDeps, by: Asker): Promise<CommandRefusal | null> {
  const no = await refusalToUse(deps, by);
  const { starters } = deps.context().policy;
  if (no !== null || starters === null) return no;
  const here = starters.filter(({ channels }) => channels === null || channels.includes(by.channel));
  if (here.length === 0) return { type: "no-runs-here" };
  const who = here.map((each) => each.who);
  return isAmongAny(deps, by, who, "not-starter");
}

/** Null: in one of the circles; `otherwise`: in none. */
export async function isAmongAny(
  { people }: UseCaseDeps,
  by: Asker,
  principalLists: readonly Principals[],
  otherwise: "not-starter" | "not-auditor",
): Promise<CommandRefusal | null> {
  try {
    const memberOf = await people.memberOf(
      by.user,
      principalLists.flatMap(groupsAndChannelsOf),
      RELAXED_AGE_MS,
    );
    const person: Person = { team: by.team, user: by.user, kind: "member", seesChannel: true, memberOf };
    return principalLists.some((principals) => isOneOf(person, principals) === true)
      ? null
      : { type: otherwise };
  } catch (error) {
    if (error instanceof PortError) return { type: "unverified" };
    throw error;
  }
}

/** Only members of its channel hear of a run; to others it is an unknown one. */
export async function refusalToKnow(
  { people }: UseCaseDeps,
  by: Asker,
  run: Run,
): Promise<CommandRefusal | null> {
  try {
    const channels = await channelsOf(people, by.user, run.channel);
    return channels.has(run.channel) ? null : { type: "unknown-run" };
  } catch (error) {
    if (error instanceof PortError) return { type: "unverified" };
    throw error;
  }
}

/** Stores the run and starts its first round; an intention that was met before yields its first run. */
export async function storeRun(
  deps: UseCaseDeps,
  run: Run,
  sideWrites: { intention?: string; audit: AuditEntry[] },
): Promise<RunKey> {
  const stored = await deps.store.insert(run, sideWrites);
  if (stored !== "stored") return stored.known;
  await deps.engine.resume({ run, revision: 1 });
  return run.key;
}

/** A «no» leaves a count and an audit entry; everything else passes as it is. `tried`: what is known of it. */
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

/** The audit line of a run that was started, watched or let go. */
export function runEntry(
  run: Run,
  by: Asker,
  what: "started" | "watched" | "unwatched",
  ctx: Context,
): AuditEntry {
  const { team, user } = by;
  const about = aboutTask(run.input, ctx);
  return auditEntry(run, { at: ctx.now, what, by: { team, user }, outcome: what, ...about });
}

// Why somebody may not start, watch, answer for or let go of a run.

export type CommandRefusal =
  | { readonly type: "empty-task" }
  | { readonly type: "guest" | "outsider" | "bot" | "deactivated" | "not-in-channel" }
  | { readonly type: "unverified" }
  /** The policy lets nobody start runs in this channel, or not this person. */
  | { readonly type: "no-runs-here" | "not-starter" }
  /** We can't see the channel: private, and nobody invited us. */
  | { readonly type: "hidden-channel" }
  /** A direct message, to us or among people. */
  | { readonly type: "not-a-channel" }
  /** No such run, or one that this person may not know of. */
  | { readonly type: "unknown-run" }
  | { readonly type: "service-silent"; readonly words: string }
  | { readonly type: "already-watched"; readonly run: Run }
  /** The run of this id has ended, and the service tells of another one under it. */
  | { readonly type: "id-used-again"; readonly run: Run }
  | { readonly type: "not-watched"; readonly run: Run }
  | { readonly type: "deciding" | "voted" | "denial-due"; readonly run: Run }
  | { readonly type: "answered" }
  /** The audit is for others to read; and here, for others than those who took part. */
  | { readonly type: "not-auditor" | "own-audit" }
  /** The audit itself was tampered with, so nobody is given it as evidence. `words`: where and how. */
  | { readonly type: "tampered"; readonly words: string }
  /** To let approvals leave again after tampering. */
  | {
      readonly type: "not-admin" | "nothing-to-acknowledge" | "other-findings" | "acknowledge-why";
    }
  /** It was allowed, and Slack did not take it. */
  | { readonly type: "not-sent" };
