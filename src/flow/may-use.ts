// Who may start, watch and let go of runs: full members of this workspace who can see the channel, and whom the policy lets.

import type { Context } from "../core/context.ts";
import { isAmong, type Person } from "../core/decide.ts";
import type { ChannelId, RunKey, TeamId, UserId } from "../core/ids.ts";
import { type Circle, setsOf } from "../core/policy.ts";
import type { Result } from "../core/result.ts";
import type { Run } from "../core/run.ts";
import { aboutTask, auditEntry } from "./audit-entry.ts";
import type { FlowMetrics } from "./flow-log.ts";
import type { NoRun } from "./no-run.ts";
import { channelsOf, JOINED_AGE_MS, type People } from "./people.ts";
import { type AgentService, type AuditEntry, PortError, type Store } from "./ports.ts";
import { createNoteRefusal, type Tried } from "./refuse.ts";
import type { Rounds } from "./rounds.ts";

/** A look-up for starting, watching and reading may be this old (ms); one for deciding may not. */
export const RELAXED_AGE_MS = 60_000;

export type Asker = { readonly team: TeamId; readonly user: UserId; readonly channel: ChannelId };

export type UseDeps = {
  store: Store;
  agents: Pick<AgentService, "look">;
  people: People;
  rounds: Pick<Rounds, "change" | "take">;
  context: () => Context;
  newKey: () => string;
  metrics: FlowMetrics;
};

/** Full members of this workspace, in the channel. Null: they may. */
export async function mayUse({ people }: UseDeps, by: Asker): Promise<NoRun | null> {
  if (by.channel.startsWith("D")) return { because: "not-a-channel" };
  let person: Person;
  try {
    person = await lookUpHere(people, by);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    if (error.code === "channel_not_found") return { because: "hidden-channel" };
    return { because: error.code === "missing_scope" ? "not-a-channel" : "unverified" };
  }
  if (person.kind !== "member") return { because: person.kind };
  return person.seesChannel ? null : { because: "not-in-channel" };
}

/** Somebody may have joined the channel a moment ago, so that they do not see it is never told from an old answer. */
async function lookUpHere(people: People, { team, user, channel }: Asker): Promise<Person> {
  const person = await people.lookUp(team, user, channel, RELAXED_AGE_MS);
  return person.seesChannel ? person : people.lookUp(team, user, channel, JOINED_AGE_MS);
}

/** Null: they may start or adopt runs here. */
export async function mayStart(deps: UseDeps, by: Asker): Promise<NoRun | null> {
  const no = await mayUse(deps, by);
  const { starters } = deps.context().policy;
  if (no !== null || starters === null) return no;
  const here = starters.filter(({ channels }) => channels === null || channels.includes(by.channel));
  if (here.length === 0) return { because: "no-runs-here" };
  const who = here.map((each) => each.who);
  return isAmongAny(deps, by, who, "not-starter");
}

/** Null: in one of the circles; `otherwise`: in none. */
export async function isAmongAny(
  { people }: UseDeps,
  by: Asker,
  circles: readonly Circle[],
  otherwise: "not-starter" | "not-auditor",
): Promise<NoRun | null> {
  try {
    const memberOf = await people.memberOf(by.user, circles.flatMap(setsOf), RELAXED_AGE_MS);
    const person: Person = { team: by.team, user: by.user, kind: "member", seesChannel: true, memberOf };
    return circles.some((circle) => isAmong(person, circle) === true) ? null : { because: otherwise };
  } catch (error) {
    if (error instanceof PortError) return { because: "unverified" };
    throw error;
  }
}

/** Only members of its channel hear of a run; to others it is an unknown one. */
export async function mayKnow({ people }: UseDeps, by: Asker, run: Run): Promise<NoRun | null> {
  try {
    const channels = await channelsOf(people, by.user, run.channel);
    return channels.has(run.channel) ? null : { because: "unknown-run" };
  } catch (error) {
    if (error instanceof PortError) return { because: "unverified" };
    throw error;
  }
}

/** Stores the run and starts its first round; an intention that was met before yields its first run. */
export async function keep(
  deps: UseDeps,
  run: Run,
  alongside: { intention?: string; audit: AuditEntry[] },
): Promise<RunKey> {
  const stored = await deps.store.insert(run, alongside);
  if (stored !== "stored") return stored.known;
  await deps.rounds.take({ run, revision: 1 });
  return run.key;
}

/** A «no» leaves a count and an audit entry; everything else passes as it is. `tried`: what is known of it. */
export async function answered<Value>(
  deps: Pick<UseDeps, "store" | "metrics" | "context">,
  by: Asker,
  result: Result<Value, NoRun>,
  tried: Tried,
): Promise<Result<Value, NoRun>> {
  if (result.ok) return result;
  await createNoteRefusal(deps)(by, result.error.because, tried);
  return result;
}

/** The audit line of a run that was started, watched or let go. */
export function entry(
  run: Run,
  by: Asker,
  what: "started" | "watched" | "unwatched",
  ctx: Context,
): AuditEntry {
  const { team, user } = by;
  const about = aboutTask(run.input, ctx);
  return auditEntry(run, { at: ctx.now, what, by: { team, user }, outcome: what, ...about });
}
