// What the engine logs. Warnings that repeat while something is down: one for each cause and minute, with the number of those left out.

import { applyOutcome } from "../domain/apply-outcome.ts";
import type { Context } from "../domain/context.ts";
import { type Effect, effectKey, nextTryOf, type Outcome } from "../domain/effect.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import type { Counters, EventLog } from "../ports.ts";
import type { Clock } from "./clock.ts";

const QUIET_MS = 60_000;
/** So many causes are remembered; when there are more, the oldest may be told twice within a minute. */
const MAX_CAUSES = 10_000;

/** `cause` names what happens again and again. Fields hold ids, never texts of people or secrets. */
export type WarnQuietly = (cause: string, fields: object, message: string) => void;

export function createQuietWarnings({
  log,
  clock,
}: {
  readonly log: Pick<EventLog, "warn" | "debug">;
  readonly clock: Pick<Clock, "monotonic">;
}): WarnQuietly {
  const told = new Map<string, { readonly at: number; unlogged: number }>();
  return (cause, fields, message) => {
    const last = told.get(cause);
    if (last !== undefined && clock.monotonic() - last.at < QUIET_MS) {
      last.unlogged += 1;
      return log.debug(fields, message);
    }
    const more = last === undefined || last.unlogged === 0 ? {} : { unlogged: last.unlogged };
    log.warn({ ...fields, ...more }, message);
    told.delete(cause);
    told.set(cause, { at: clock.monotonic(), unlogged: 0 });
    const [oldest] = told.keys();
    if (told.size > MAX_CAUSES && oldest !== undefined) told.delete(oldest);
  };
}

// What came of each effect, logged and counted. A failure names its cause by a stable code: its words are for people, because those of the
// service may repeat a request.

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
      effect: effectKey(effect),
      outcome: outcome.type,
      run: run.key,
      runId: runId(run),
      ...(approval === null ? {} : { approval }),
    };
    if (FAILED.includes(outcome.type)) {
      const { tries, at } = nextTryOf(applyOutcome(run, effect, outcome, context()), effect);
      const nextTryMs = at === null ? null : Math.max(at - clock.monotonic(), 0);
      warn(causeOf(run, effect, outcome, code), { ...ids, try: tries, nextTryMs }, "effect failed");
    } else log.info(ids, "effect settled");
    metrics.effect(effect.type, outcome.type);
    const decision = decisionOf(run, effect);
    if (decision !== null) metrics.decision(decision.verdict, outcome.type);
  };
}

/** A decision of a person has a cause of its own, so that the log tells of each. */
function causeOf(run: Run, effect: Effect, outcome: Outcome, code: string | undefined): string {
  const own = (decisionOf(run, effect)?.by ?? null) !== null;
  return `${own ? `${run.key} ${effectKey(effect)}` : effect.type} ${outcome.type} ${code ?? ""}`;
}

function decisionOf(run: Run, effect: Effect) {
  const state = effect.type === "send-decision" ? findApproval(run, effect.approval)?.state : null;
  return state?.type === "decided" ? state.decision : null;
}

function approvalOf(effect: Effect): string | null {
  if ("approval" in effect) return effect.approval;
  if (!("slot" in effect)) return null;
  return /^card (.+)$/s.exec(effect.slot)?.[1] ?? null;
}
