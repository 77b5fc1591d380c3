// The two brakes, as people use them. A stop applies to one run, and is a button in its thread and on its cards. A freeze applies to a
// channel or everywhere, and is a command.

import { auditEntry } from "../audit/entry.ts";
import type { Person, Refusal } from "../domain/authorization.ts";
import { asOfNow } from "../domain/bring-up-to-date.ts";
import {
  actsOnNewestStop,
  liftStop,
  refusalToLift,
  refusalToStop,
  rulesFor,
  stopRun,
} from "../domain/brake.ts";
import type { CommandRefusal } from "../domain/command-refusal.ts";
import { type Freeze, freezeIn, freezesIn } from "../domain/freeze.ts";
import type { ChannelId, RunKey, TeamId, UserId } from "../domain/ids.ts";
import { hasUnknownGroups, membershipsToLookUp, setsOfRule } from "../domain/rule-facts.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { deniesAll, isStoppable, isStopped, type Run } from "../domain/run.ts";
import { applyBrakeToRuns } from "../engine/change-runs.ts";
import type { Freezes } from "../engine/freezes.ts";
import { lookUp, lookUpRequester, SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import type { RunEngine } from "../engine/run-engine.ts";
import type { EventLog } from "../ports.ts";
import type { AuditReaders } from "../ports/notification.ts";
import { type Asker, isAdmin, isAmongAny, noteIfRefused, refusalToUse, type UseCaseDeps } from "./access.ts";
import { CLICK_AGE_MS } from "./open-form.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

// Stopping a run and lifting the stop, in the run's thread or on a card. The press is trusted only for who pressed, and where.

/**
 * `run` is null if the button carried no valid key. `shown`: the time of the newest stop when the button was drawn, lifted or not. Null if the
 * button names none.
 */
export type BrakePress = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly run: RunKey | null;
  readonly shown: number | null;
};

/**
 * A press acts only on the newest stop that its button showed, because a press that comes late or twice may find another one. A press on Stop
 * also counts some time after the newest stop was lifted.
 */
export type StopRun = {
  /** Everything that was not sent is denied when this resolves to ok. Rejects with PortError if the stop could not be stored. */
  stop(press: BrakePress): Promise<Result<Run, RefusedAttempt>>;
  lift(press: BrakePress): Promise<Result<Run, RefusedAttempt>>;
};

export function createStopRun(deps: DecideDeps): StopRun {
  return {
    stop: (press) => brake(deps, press, STOP),
    lift: (press) => brake(deps, press, LIFT),
  };
}

/** The differences between a stop and its lifting. */
type Brake = {
  readonly step: "stop" | "lift";
  readonly what: "stopped" | "stop-lifted";
  readonly apply: typeof stopRun;
  readonly refusalTo: typeof refusalToStop;
  /** The maximum age of the facts about the person (ms). Lifting a stop needs fresh facts, because it lets people approve again. */
  readonly maxAgeMs: number;
  /** Returns whether the press has an effect. */
  readonly isWanted: (run: Run) => boolean;
};

const STOP: Brake = {
  step: "stop",
  what: "stopped",
  apply: stopRun,
  refusalTo: refusalToStop,
  maxAgeMs: CLICK_AGE_MS,
  isWanted: (run) => !deniesAll(run),
};
const LIFT: Brake = {
  step: "lift",
  what: "stop-lifted",
  apply: liftStop,
  refusalTo: refusalToLift,
  maxAgeMs: SUBMIT_AGE_MS,
  isWanted: isStopped,
};

async function brake(
  deps: DecideDeps,
  press: BrakePress,
  { step, what, apply, refusalTo, isWanted, maxAgeMs }: Brake,
): Promise<Result<Run, RefusedAttempt>> {
  const { team, user, channel, run: key } = press;
  const run = key === null ? null : ((await deps.store.load(key))?.run ?? null);
  if (key === null || run === null || run.team !== team || run.channel !== channel)
    return refused(deps, { refusal: { type: "unknown" }, run: null }, press, { step });
  // If the groups are known, Slack is not asked again: a stop must not fail because Slack does not answer.
  const isUnknown = hasUnknownGroups(asOfNow(run, null, deps.context()));
  const [person, requesterGroups] = await Promise.all([
    personForStop(deps, run, user, maxAgeMs),
    isUnknown ? lookUpRequester(deps, run, maxAgeMs) : null,
  ]);
  const ctx = deps.context();
  const known = asOfNow(run, requesterGroups, ctx);
  const refusal: Refusal | null = "type" in person ? person : refusalTo(person, known, ctx);
  if (refusal !== null) return refused(deps, { refusal, run }, press, { step });
  const after = await deps.engine.transactAnywhere<Refusal | null>(key, (newest) => {
    if (!isStoppable(newest)) return { run: newest, value: { type: "closed", why: "run-over" } };
    if (!isWanted(newest)) return { run: newest, value: null };
    const ctx = deps.context();
    const { stop } = newest;
    if (stop !== undefined && !actsOnNewestStop(step, stop, press.shown, ctx))
      return { run: newest, value: { type: "other-stop", stop } };
    const entry = auditEntry(newest, { at: ctx.now, what, outcome: what, by: { team, user } });
    return { run: apply(newest, user, ctx), value: null, sideWrites: { audit: [entry] } };
  });
  if (after === null) return refused(deps, { refusal: { type: "unknown" }, run }, press, { step });
  if (after.value !== null) return refused(deps, { refusal: after.value, run }, press, { step });
  return ok(after.run);
}

/** Looks up the person with all groups and channels that the rules of the run depend on. */
function personForStop(
  deps: DecideDeps,
  run: Run,
  user: UserId,
  maxAgeMs: number,
): Promise<Person | Refusal> {
  const ctx = deps.context();
  const sets = new Set([
    ...rulesFor(run, ctx).flatMap(setsOfRule),
    ...run.approvals.flatMap((approval) => membershipsToLookUp(run, approval, ctx)),
  ]);
  return lookUp(deps, run, { user, sets: [...sets], maxAgeMs });
}

// Freezing a channel or everything, and lifting a freeze. The same people may lift a freeze, but not their own: a second person must agree
// that approvals are sent again.

export type UseFreeze = {
  /** Resolves to the freezes in force in this channel. Only people who may freeze may see them. */
  look(by: Asker): Promise<Result<readonly Freeze[], CommandRefusal>>;
  /**
   * The freeze is in force when this resolves to ok. `channel` null freezes everything. Rejects with PortError; the freeze may then be in
   * force all the same.
   */
  freeze(by: Asker, channel: ChannelId | null, why: string): Promise<Result<Freeze, CommandRefusal>>;
  /** Lifts one freeze that is in force in the person's channel. `which` may be null if only one kind is. */
  lift(by: Asker, which: FreezeKind | null, why: string): Promise<Result<Lifted, CommandRefusal>>;
};

/** `here`: of the person's channel only. */
export type FreezeKind = "here" | "everywhere";

/** `still`: another freeze that remains in force in the person's channel, or null. */
export type Lifted = Freeze & { readonly still: Freeze | null };

type Deps = UseCaseDeps & {
  readonly engine: Pick<RunEngine, "holdsShard" | "change">;
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
    lift: async (by, which, why) => note(by, await lift(deps, by, which, why.trim())),
  };
}

async function look(deps: Deps, by: Asker): Promise<Result<readonly Freeze[], CommandRefusal>> {
  const refusal = await refusalToFreeze(deps, by);
  if (refusal !== null) return err(refusal);
  return ok(freezesIn(deps.freezes.now(), by.channel));
}

/** Resolves to null if the person may freeze and lift. First reads the freezes of all processes. Rejects with PortError. */
async function refusalToFreeze(deps: Deps, by: Asker, maxAgeMs?: number): Promise<CommandRefusal | null> {
  await deps.freezes.refresh();
  const refusal = await refusalToUse(deps, by, maxAgeMs);
  if (refusal !== null || isAdmin(deps.audit, by)) return refusal;
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
  const refusal = await refusalToFreeze(deps, by);
  if (refusal !== null) return err(refusal);
  const currentFreeze = (): Freeze | undefined =>
    deps.freezes.now().find((each) => each.channel === channel && !deps.freezes.isLost(each));
  if (currentFreeze() !== undefined) return err({ type: "already-frozen" });
  const { team, user } = by;
  const facts = { at: deps.context().now, what: "frozen", outcome: "frozen", channel, reason: why } as const;
  await deps.freezes.write(auditEntry(null, { ...facts, by: { team, user } }));
  const written = currentFreeze();
  if (written === undefined) return err({ type: "not-frozen" });
  deps.log.warn({ by: user, channel }, "frozen: no run starts and no approval is sent");
  applyToRuns(deps);
  return ok(written);
}

async function lift(
  deps: Deps,
  by: Asker,
  which: FreezeKind | null,
  why: string,
): Promise<Result<Lifted, CommandRefusal>> {
  // Approvals can be sent again after this, so it needs fresh facts about the person, as lifting a stop does.
  const refusal = await refusalToFreeze(deps, by, SUBMIT_AGE_MS);
  if (refusal !== null) return err(refusal);
  const chosen = freezeToLift(freezesIn(deps.freezes.now(), by.channel), which);
  if (!chosen.ok) return chosen;
  const found = chosen.value;
  if (found.by === by.user) return err({ type: "own-freeze", freeze: found });
  const { team, user } = by;
  // The number of a lost entry may be that of another one.
  const refers = deps.freezes.isLost(found) ? {} : { refers: found.entry };
  const about = { channel: found.channel, ...refers, reason: why };
  const facts = { at: deps.context().now, what: "freeze-lifted", outcome: "lifted", ...about } as const;
  await deps.freezes.write(auditEntry(null, { ...facts, by: { team, user } }));
  deps.log.warn({ by: user, channel: found.channel }, "a freeze is lifted");
  applyToRuns(deps);
  return ok({ ...found, still: freezeIn(deps.freezes.now(), by.channel) });
}

function freezeToLift(applying: readonly Freeze[], which: FreezeKind | null): Result<Freeze, CommandRefusal> {
  const [freeze] = applying;
  if (freeze === undefined) return err({ type: "not-frozen" });
  const kindOf = ({ channel }: Freeze): FreezeKind => (channel === null ? "everywhere" : "here");
  if (which === null)
    return new Set(applying.map(kindOf)).size === 1
      ? ok(freeze)
      : err({ type: "several-freezes", freezes: applying });
  const named = applying.find((each) => kindOf(each) === which);
  return named === undefined ? err({ type: "other-freeze", freeze }) : ok(named);
}

/** The answer does not wait for the cards, because the freeze is in force already. A run that fails here is corrected at its next save. */
function applyToRuns(deps: Deps): void {
  applyBrakeToRuns(deps).catch((error: unknown) =>
    deps.log.error(
      { error },
      "could not show a freeze, or its end, on every card; the next poll of each run does",
    ),
  );
}
