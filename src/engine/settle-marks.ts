// Settles marks that nothing else will settle: the store says that an effect is under way, and this process, which holds the run, is not
// executing it. A process died, the answer to the commit of the mark was lost, or that answer came too late.

import { recover, settleMarks } from "../domain/apply-outcome.ts";
import type { Context } from "../domain/context.ts";
import { type Effect, markedEffects } from "../domain/effect.ts";
import type { RunKey } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import type { Applied } from "./change-runs.ts";
import type { EffectExecutor } from "./effect-executor.ts";

/** `mustHold`: as in `ChangeOptions`. */
export type SaveRequest<Value> = {
  readonly apply: (run: Run) => Applied<Value>;
  readonly mustHold: boolean;
};

export type MarkSettling = {
  /** Returns whether the run has a mark that the next change should settle. */
  readonly hasStray: (run: Run) => boolean;
  /**
   * For a run that another process may have followed until now: its next saved change recovers it. Returns false if there is nothing to
   * recover.
   */
  readonly recoverFirst: (run: Run) => boolean;
  readonly forget: (key: RunKey) => void;
  /**
   * Calls `save` with the change, preceded by the settling of the marks if the change must hold the run. Without that, another process may
   * be executing the effects.
   */
  readonly saveSettled: <Value, Result>(
    key: RunKey,
    request: SaveRequest<Value>,
    save: (request: SaveRequest<Value>) => Promise<Result | null>,
  ) => Promise<Result | null>;
};

export function createMarkSettling(
  executor: Pick<EffectExecutor, "isUnderWay">,
  context: () => Context,
): MarkSettling {
  const unrecovered = new Set<RunKey>();
  return {
    recoverFirst(run) {
      if (recover(run, context()) === run) return false;
      unrecovered.add(run.key);
      return true;
    },
    forget: (key) => void unrecovered.delete(key),
    hasStray: (run) => markedEffects(run).some((effect) => !executor.isUnderWay(run.key, effect)),
    async saveSettled(key, { apply, mustHold }, save) {
      if (!mustHold) return save({ apply, mustHold });
      const isUnderWay = (effect: Effect): boolean => executor.isUnderWay(key, effect);
      let recovers = false;
      const applySettled: typeof apply = (run) => {
        // Read here, because a save may wait for others of the same run.
        recovers = unrecovered.has(key);
        return apply((recovers ? recover : settleMarks)(run, context(), isUnderWay));
      };
      const result = await save({ apply: applySettled, mustHold });
      if (result !== null && recovers) unrecovered.delete(key);
      return result;
    },
  };
}
