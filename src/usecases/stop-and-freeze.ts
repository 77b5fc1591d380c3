// The two brakes, as people use them. A stop holds for one run, and is pressed in its thread or on a card. A freeze holds for a channel or
// everywhere, and is a command.

import { auditEntry } from "../audit/entry.ts";
import type { Person, Refusal } from "../domain/authorization.ts";
import { liftStop, refusalToLift, refusalToStop, rulesFor, stopRun } from "../domain/brake.ts";
import { type Freeze, freezeIn } from "../domain/freeze.ts";
import type { ChannelId, RunKey, TeamId, UserId } from "../domain/ids.ts";
import { setsOfRule } from "../domain/rule-facts.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { isStoppable, isStopped, type Run } from "../domain/run.ts";
import { applyBrakeToRuns } from "../engine/change-runs.ts";
import type { Freezes } from "../engine/shared-news.ts";
import { lookUp, SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import type { RunEngine } from "../engine/run-engine.ts";
import type { EventLog } from "../ports.ts";
import type { AuditReaders } from "../ports/notification.ts";
import {
  type Asker,
  type CommandRefusal,
  isAmongAny,
  noteIfRefused,
  refusalToUse,
  type UseCaseDeps,
} from "./access.ts";
import { CLICK_AGE_MS } from "./open-form.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

// Stop and its lifting, pressed in a run's thread or on a card. The press is trusted only for who pressed, and where.

/** `run` null: the button carried no valid key. */
export type BrakePress = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly run: RunKey | null;
};

export type StopRun = {
  /** Everything that was not sent is denied when this resolves to ok. Rejects with PortError if it could not be stored. */
  stop(press: BrakePress): Promise<Result<Run, RefusedAttempt>>;
  lift(press: BrakePress): Promise<Result<Run, RefusedAttempt>>;
};

export function createStopRun(deps: DecideDeps): StopRun {
  return {
    stop: (press) => brake(deps, press, STOP),
    lift: (press) => brake(deps, press, LIFT),
  };
}

/** What is written, and who may. */
type Brake = {
  readonly step: "stop" | "lift";
  readonly what: "stopped" | "stop-lifted";
  readonly apply: typeof stopRun;
  readonly refusal: typeof refusalToStop;
  /** How old the facts about the person may be (ms). To let approvals be given again needs fresh ones. */
  readonly maxAgeMs: number;
  /** Whether the press has anything to do. */
  readonly wanted: (run: Run) => boolean;
};

const STOP: Brake = {
  step: "stop",
  what: "stopped",
  apply: stopRun,
  refusal: refusalToStop,
  maxAgeMs: CLICK_AGE_MS,
  wanted: (run) => !isStopped(run),
};
const LIFT: Brake = {
  step: "lift",
  what: "stop-lifted",
  apply: liftStop,
  refusal: refusalToLift,
  maxAgeMs: SUBMIT_AGE_MS,
  wanted: isStopped,
};

async function brake(
  deps: DecideDeps,
  press: BrakePress,
  { step, what, apply, refusal, wanted, maxAgeMs }: Brake,
): Promise<Result<Run, RefusedAttempt>> {
  const { team, user, channel, run: key } = press;
  const run = key === null ? null : ((await deps.store.load(key))?.run ?? null);
  if (key === null || run === null || run.team !== team || run.channel !== channel)
    return refused(deps, { refusal: { type: "unknown" }, run: null }, press, { step });
  const person = await personFor(deps, run, user, maxAgeMs);
  const no: Refusal | null = "type" in person ? person : refusal(person, run, deps.context());
  if (no !== null) return refused(deps, { refusal: no, run }, press, { step });
  const after = await deps.engine.transact<Refusal | null>(
    key,
    (newest) => {
      if (!isStoppable(newest)) return { run: newest, value: { type: "closed", why: "run-over" } };
      if (!wanted(newest)) return { run: newest, value: null };
      const ctx = deps.context();
      const entry = auditEntry(newest, { at: ctx.now, what, outcome: what, by: { team, user } });
      return { run: apply(newest, user, ctx), value: null, sideWrites: { audit: [entry] } };
    },
    { mustHold: false },
  );
  if (after === null) return refused(deps, { refusal: { type: "unknown" }, run }, press, { step });
  if (after.value !== null) return refused(deps, { refusal: after.value, run }, press, { step });
  return ok(after.run);
}

/** Facts about the person for all the rules of the run. */
function personFor(deps: DecideDeps, run: Run, user: UserId, maxAgeMs: number): Promise<Person | Refusal> {
  const sets = new Set(rulesFor(run, deps.context()).flatMap(setsOfRule));
  return lookUp(deps, run, { user, sets: [...sets], maxAgeMs });
}

// Freezing a channel or everything, and lifting a freeze. The same people may lift a freeze, but not their own: it takes a second
// person to let approvals be sent again.

export type UseFreeze = {
  /** The freezes that hold in this channel. Only those who may freeze may look. */
  look(by: Asker): Promise<Result<readonly Freeze[], CommandRefusal>>;
  /** It is in force when this resolves to ok. `channel` null: everywhere. Rejects with PortError: then it may be in force. */
  freeze(by: Asker, channel: ChannelId | null, why: string): Promise<Result<Freeze, CommandRefusal>>;
  /** Lifts the freeze of this audit entry, or, with null, the one that holds in the channel. */
  lift(by: Asker, entry: number | null, why: string): Promise<Result<Lifted, CommandRefusal>>;
};

/** `still`: another freeze that holds in the channel of the person all the same. */
export type Lifted = Freeze & { readonly still: Freeze | null };

type Deps = UseCaseDeps & {
  readonly engine: Pick<RunEngine, "looksAfter">;
  readonly audit: AuditReaders;
  readonly freezes: Freezes;
  readonly log: EventLog;
};

export function createFreeze(deps: Deps): UseFreeze {
  const note = <Value>(by: Asker, result: Result<Value, CommandRefusal>) =>
    noteIfRefused(deps, by, result, { step: "freeze" });
  return {
    look: async (by) => note(by, await look(deps, by)),
    freeze: async (by, channel, why) => note(by, await freeze(deps, by, channel, why.trim())),
    lift: async (by, entry, why) => note(by, await lift(deps, by, entry, why.trim())),
  };
}

async function look(deps: Deps, by: Asker): Promise<Result<readonly Freeze[], CommandRefusal>> {
  const no = await refusalToFreeze(deps, by);
  if (no !== null) return err(no);
  return ok(deps.freezes.now().filter(({ channel }) => channel === null || channel === by.channel));
}

/** Null: they may freeze and lift, by what all processes have written up to now. Rejects with PortError. */
async function refusalToFreeze(deps: Deps, by: Asker, maxAgeMs?: number): Promise<CommandRefusal | null> {
  await deps.freezes.refresh();
  const no = await refusalToUse(deps, by, maxAgeMs);
  if (no !== null || (deps.audit.admins.includes(by.user) && by.team === deps.audit.team)) return no;
  const { freezers } = deps.context().policy;
  return freezers === null
    ? { type: "not-freezer" }
    : isAmongAny(deps, by, [freezers], { otherwise: "not-freezer", maxAgeMs });
}

async function freeze(
  deps: Deps,
  by: Asker,
  channel: ChannelId | null,
  why: string,
): Promise<Result<Freeze, CommandRefusal>> {
  const no = await refusalToFreeze(deps, by);
  if (no !== null) return err(no);
  const same = (): Freeze | undefined => deps.freezes.now().find((each) => each.channel === channel);
  if (same() !== undefined) return err({ type: "already-frozen" });
  const { team, user } = by;
  const facts = { at: deps.context().now, what: "frozen", outcome: "frozen", channel, reason: why } as const;
  await deps.freezes.write(auditEntry(null, { ...facts, by: { team, user } }));
  const made = same();
  if (made === undefined) return err({ type: "not-frozen" });
  deps.log.warn({ by: user, channel }, "frozen: no run starts and no approval is sent");
  applyToRuns(deps);
  return ok(made);
}

async function lift(
  deps: Deps,
  by: Asker,
  entry: number | null,
  why: string,
): Promise<Result<Lifted, CommandRefusal>> {
  // To let approvals be sent again needs fresh facts, as lifting a stop does.
  const no = await refusalToFreeze(deps, by, SUBMIT_AGE_MS);
  if (no !== null) return err(no);
  const found =
    entry === null
      ? freezeIn(deps.freezes.now(), by.channel)
      : (deps.freezes.now().find((each) => each.entry === entry) ?? null);
  if (found === null) return err({ type: "not-frozen" });
  if (found.by === by.user) return err({ type: "own-freeze", freeze: found });
  const { team, user } = by;
  const about = { channel: found.channel, refers: found.entry, reason: why };
  const facts = { at: deps.context().now, what: "freeze-lifted", outcome: "lifted", ...about } as const;
  await deps.freezes.write(auditEntry(null, { ...facts, by: { team, user } }));
  deps.log.warn({ by: user, channel: found.channel }, "a freeze is lifted");
  applyToRuns(deps);
  return ok({ ...found, still: freezeIn(deps.freezes.now(), by.channel) });
}

/** The answer does not wait for the cards: the freeze holds already. A run that fails here is corrected at its next save. */
function applyToRuns(deps: Deps): void {
  applyBrakeToRuns(deps).catch((error: unknown) =>
    deps.log.error(
      { error },
      "could not show a freeze, or its end, on every card; each run's next change does",
    ),
  );
}
