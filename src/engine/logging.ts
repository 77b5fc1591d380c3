// What the engine logs. While something is down, its repeated warnings are limited to one for each cause and minute, which also says how
// many were left out.

import { applyOutcome } from "../domain/apply-outcome.ts";
import type { Context } from "../domain/context.ts";
import { type Effect, effectKey, type Outcome } from "../domain/effect.ts";
import type { RunKey } from "../domain/ids.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import { approvalOfCard } from "../domain/slot.ts";
import { type Counters, type EventLog, PortError } from "../ports.ts";
import type { Clock } from "./clock.ts";

const QUIET_MS = 60_000;
/** The number of causes that are remembered. If there are more, the oldest may be logged twice within a minute. */
const MAX_CAUSES = 10_000;

/** `cause` names the repeated event. Fields hold ids, never secrets or texts of people. */
export type WarnQuietly = (cause: string, fields: object, message: string) => void;

type LogAndClock<Level extends "warn" | "error"> = {
  readonly log: Pick<EventLog, Level | "debug">;
  readonly clock: Pick<Clock, "monotonic">;
};

export const createQuietWarnings = (deps: LogAndClock<"warn">): WarnQuietly => createQuietLog(deps, "warn");
export const createQuietErrors = (deps: LogAndClock<"error">): WarnQuietly => createQuietLog(deps, "error");

function createQuietLog<Level extends "warn" | "error">(
  { log, clock }: LogAndClock<Level>,
  level: Level,
): WarnQuietly {
  const lastWarnings = new Map<string, { readonly at: number; unlogged: number }>();
  return (cause, fields, message) => {
    const last = lastWarnings.get(cause);
    if (last !== undefined && clock.monotonic() - last.at < QUIET_MS) {
      last.unlogged += 1;
      return log.debug(fields, message);
    }
    const more = last === undefined || last.unlogged === 0 ? {} : { unlogged: last.unlogged };
    log[level]({ ...fields, ...more }, message);
    lastWarnings.delete(cause);
    lastWarnings.set(cause, { at: clock.monotonic(), unlogged: 0 });
    const [oldest] = lastWarnings.keys();
    if (lastWarnings.size > MAX_CAUSES && oldest !== undefined) lastWarnings.delete(oldest);
  };
}

export type RunFailureLog = (
  facts: { readonly run: RunKey; readonly effect?: string; readonly error: unknown },
  message: string,
) => void;

/**
 * Failures of the store with the same code and message share one line a minute, because every run that is due meets them. Logs all others.
 */
export function createRunFailureLog({ log, clock }: LogAndClock<"error">): RunFailureLog {
  const logQuietly = createQuietErrors({ log, clock });
  return (facts, message) => {
    if (facts.error instanceof PortError) logQuietly(`${facts.error.code} ${message}`, facts, message);
    else log.error(facts, message);
  };
}

// Logs and counts the outcome of each effect. A failure is logged with its stable code, not with its words: the service's words may repeat
// a request, so they are only for people.

export type EffectLog = (run: Run, effect: Effect, outcome: Outcome) => void;

type Deps = {
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: EventLog;
  readonly metrics: Pick<Counters, "effect" | "decision">;
};

const FAILED: readonly Outcome["type"][] = ["later", "refused", "unsure", "unproven"];

export function createEffectLog({ context, clock, log, metrics }: Deps): EffectLog {
  const warn = createQuietWarnings({ log, clock });
  return (run, effect, outcome) => {
    const code = "code" in outcome ? outcome.code : undefined;
    const approval = approvalOf(effect);
    const ids = {
      ...(code === undefined ? {} : { code }),
      ...effectIds(run, effect),
      outcome: outcome.type,
      runId: runId(run),
      ...(approval === null ? {} : { approval }),
    };
    if (FAILED.includes(outcome.type)) {
      const next = nextTry(progressOf(applyOutcome(run, effect, outcome, context()), effect), clock);
      warn(causeOf(run, effect, outcome, code), { ...ids, ...next }, "effect failed");
    } else log.info(ids, "effect settled");
    metrics.effect(effect.type, outcome.type);
    const decision = decisionOf(run, effect);
    if (decision !== null) metrics.decision(decision.verdict, outcome.type);
  };
}

export const effectIds = ({ key }: Pick<Run, "key">, effect: Effect) => ({
  run: key,
  effect: effectKey(effect),
});

/** Returns what the run remembers about its tries of this effect. */
function progressOf(run: Run, effect: Effect): object | undefined {
  switch (effect.type) {
    case "create-run":
      return run.creation;
    case "send-decision": {
      const state = findApproval(run, effect.approval)?.state;
      return state?.type === "decided" ? state.delivery : undefined;
    }
    case "post":
    case "find":
    case "update":
    case "sweep":
      return run.posts[effect.slot];
    case "upload":
    case "share":
    case "find-file":
      return run.uploads[effect.slot];
    case "send-notice":
      return run.notices.find(({ id }) => id === effect.notice);
    case "find-people":
      return findApproval(run, effect.approval)?.calls?.find(({ n }) => n === effect.call);
    case "count-approvers":
    case "look-up-precedents":
    case "look-up-requester":
      return undefined;
  }
}

type Progress = {
  readonly tries?: number;
  readonly notBefore?: number;
  readonly lookAt?: number;
  readonly retryAt?: number;
};

/** `try`: the number so far. `nextTryMs`: the wait before the next try. Null if unknown, or never. */
export function nextTry(
  { tries, notBefore, lookAt, retryAt }: Progress = {},
  clock: Pick<Clock, "monotonic">,
): { readonly try: number | null; readonly nextTryMs: number | null } {
  const at = lookAt ?? retryAt ?? notBefore;
  return { try: tries ?? null, nextTryMs: at === undefined ? null : Math.max(at - clock.monotonic(), 0) };
}

/** Each decision of a person is a cause of its own, so that every one of them is logged. */
function causeOf(run: Run, effect: Effect, outcome: Outcome, code: string | undefined): string {
  const isDecisionOfPerson = (decisionOf(run, effect)?.by ?? null) !== null;
  const subject = isDecisionOfPerson ? `${run.key} ${effectKey(effect)}` : effect.type;
  return `${subject} ${outcome.type} ${code ?? ""}`;
}

function decisionOf(run: Run, effect: Effect) {
  const state = effect.type === "send-decision" ? findApproval(run, effect.approval)?.state : null;
  return state?.type === "decided" ? state.decision : null;
}

function approvalOf(effect: Effect): string | null {
  if ("approval" in effect) return effect.approval;
  return "slot" in effect ? approvalOfCard(effect.slot) : null;
}
