// Settles marks that nothing else will settle: the store says that an effect is under way, and this process, which holds the run, is not
// executing it. A process died, the answer to the commit of the mark was lost, or that answer came too late.

import { recover, settleMarks } from "../domain/apply-outcome.ts";
import type { Context } from "../domain/context.ts";
import { type Effect, markedEffects } from "../domain/effect.ts";
import type { RunKey } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import { LOST } from "../domain/message-transitions.ts";
import type { Applied } from "./transact.ts";
import type { EffectExecutor } from "./effect-executor.ts";
import type { EffectLog } from "./logging.ts";

type Apply<Value> = (run: Run) => Applied<Value>;

export type MarkSettling = {
  /** Returns whether the run has a mark that the next change should settle. */
  readonly hasLeftMark: (run: Run) => boolean;
  /**
   * For a run that another process may have followed until now: its next saved change recovers it. Returns false if there is nothing to
   * recover.
   */
  readonly recoverFirst: (run: Run) => boolean;
  readonly forget: (key: RunKey) => void;
  /**
   * Calls `save` with the change, preceded by the settling of the marks. Only for a save that must hold the run: otherwise another process
   * may be executing the effects. Logs and counts what was settled.
   */
  readonly saveSettled: <Value, Result>(
    key: RunKey,
    apply: Apply<Value>,
    save: (applySettled: Apply<Value>) => Promise<Result | null>,
  ) => Promise<Result | null>;
};

/** What a save did with the marks of the run as it was stored. */
type Try = { readonly run: Run; readonly left: readonly Effect[]; readonly recovers: boolean };

type Deps = {
  readonly executor: Pick<EffectExecutor, "isUnderWay">;
  readonly context: () => Context;
  readonly logEffect: EffectLog;
};

export function createMarkSettling({ executor, context, logEffect }: Deps): MarkSettling {
  const unrecovered = new Set<RunKey>();
  const marksLeft = (run: Run): Effect[] =>
    markedEffects(run).filter((effect) => !executor.isUnderWay(run.key, effect));
  function recordSettled({ run, left, recovers }: Try): void {
    for (const effect of left) logEffect(run, effect, LOST);
    if (recovers) unrecovered.delete(run.key);
  }
  return {
    recoverFirst(run) {
      if (recover(run, context()) === run) return false;
      unrecovered.add(run.key);
      return true;
    },
    forget: (key) => void unrecovered.delete(key),
    hasLeftMark: (run) => marksLeft(run).length > 0,
    async saveSettled(key, apply, save) {
      const isUnderWay = (effect: Effect): boolean => executor.isUnderWay(key, effect);
      const tries: Try[] = [];
      const applySettled: typeof apply = (run) => {
        // Read here, because a save may wait for others of the same run.
        const recovers = unrecovered.has(key);
        tries.push({ run, left: marksLeft(run), recovers });
        return apply((recovers ? recover : settleMarks)(run, context(), isUnderWay));
      };
      const result = await save(applySettled);
      // The save applies the change once for each try, and the last one is what it saved.
      const last = tries.at(-1);
      if (result !== null && last !== undefined) recordSettled(last);
      return result;
    },
  };
}
