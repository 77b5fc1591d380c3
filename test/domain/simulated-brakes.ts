// People who stop the run and freeze everything, in a simulated world. Right before an effect begins, it is checked
// that no brake holds.

import { applyBrake, liftStop, stopRun } from "#src/domain/brake.ts";
import type { Context } from "#src/domain/context.ts";
import { type Effect, effectKey } from "#src/domain/effect.ts";
import { type Freeze, freezeIn } from "#src/domain/freeze.ts";
import type { UserId } from "#src/domain/ids.ts";
import { findApproval, isStoppable, isStopped, type Run } from "#src/domain/run.ts";
import { REQUESTER } from "../make/run.ts";

type World = { readonly run: Run; readonly ctx: Context; keep(next: Run): void };

export class SimulatedBrakes {
  freezes: readonly Freeze[] = [];
  /** Everyone who has ever stopped the run. */
  readonly stoppers = new Set<UserId>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  stop(by: UserId): void {
    const { run, ctx } = this.#world;
    if (!isStoppable(run)) return;
    this.stoppers.add(by);
    this.#world.keep(stopRun(run, by, ctx));
  }

  lift(by: UserId): void {
    this.#world.keep(liftStop(this.#world.run, by, this.#world.ctx));
  }

  /** Takes effect at once. The run learns of it with its next change. */
  freeze(): void {
    this.freezes = [{ entry: 1, channel: null, by: REQUESTER, at: this.#world.ctx.now, why: "" }];
  }

  unfreeze(): void {
    this.freezes = [];
    this.#world.keep(this.#world.run);
  }

  /** Applies the freeze, as the engine does at every save and before a mark. */
  apply(run: Run): Run {
    return applyBrake(run, this.#world.ctx);
  }

  mustNotHold(effect: Effect): void {
    if (effect.type !== "send-decision" && effect.type !== "create-run") return;
    const { run, ctx } = this.#world;
    const holds = isStopped(run) || freezeIn(ctx.freezes, run.channel) !== null;
    const state = effect.type === "create-run" ? null : findApproval(run, effect.approval)?.state;
    const denies = state?.type === "decided" && state.decision.verdict === "deny";
    if (holds && !denies) throw new Error(`braked: ${effectKey(effect)} begins`);
  }
}
