// The script of a run: what the run does next when it wakes.

import * as runs from "./service-run.ts";
import type { Ask, Ending, Run } from "./service-run.ts";

export type Step =
  | { readonly type: "work"; readonly ms: number }
  | { readonly type: "work forever" }
  /** `later` happens by itself if no one has decided by then. */
  | { readonly type: "ask"; readonly asks: readonly Ask[]; readonly later?: Later }
  /** `how` returns the ending, or null if the run continues. `what` describes the step. */
  | { readonly type: "end"; readonly what: string; readonly how: (run: Run) => Ending | null };

type Later = {
  readonly ms: number;
  readonly what: "withdraw" | "change";
  readonly to?: Partial<Ask>;
};

export type WakeContext = {
  readonly now: number;
  /** Scales every duration. */
  readonly tempo: number;
  readonly newApprovalId: () => string;
};

/** Returns the run after it wakes up, with at most one visible change, so that a client that polls often sees every state. */
export function wake(run: Run, steps: readonly Step[], context: WakeContext): Run {
  switch (run.phase) {
    case "queued":
      return enter(after(runs.begin(run)), run.step + 1, steps, context);
    case "working":
      return steps[run.step]?.type === "work forever"
        ? runs.sleep(run, null)
        : enter(run, run.step + 1, steps, context);
    case "awaiting_approval":
      return happenLater(run, steps[run.step], context);
    case "succeeded":
    case "failed":
    case "canceled":
      return runs.sleep(run, null);
  }
}

function enter(before: Run, index: number, steps: readonly Step[], context: WakeContext): Run {
  const run = { ...before, step: index };
  const step = steps[index];
  if (step === undefined) return end(run, { type: "succeeded", output: "" }, context);
  switch (step.type) {
    case "work":
      return runs.sleep(run, context.now + step.ms * context.tempo);
    case "work forever":
      return runs.sleep(run, null);
    case "ask": {
      const asks = step.asks.map((one) => ({ ...one, id: context.newApprovalId() }));
      const asking = after(runs.ask(run, asks, context.now));
      return step.later === undefined
        ? asking
        : runs.sleep(asking, context.now + step.later.ms * context.tempo);
    }
    case "end": {
      const ending = step.how(run);
      return ending === null ? enter(run, index + 1, steps, context) : end(run, ending, context);
    }
  }
}

function happenLater(run: Run, step: Step | undefined, { now }: WakeContext): Run {
  const first = runs.pendingOf(run)[0];
  const resting = runs.sleep(run, null);
  if (step?.type !== "ask" || step.later === undefined || first === undefined) return resting;
  return step.later.what === "withdraw"
    ? after(runs.withdraw(resting, first.id, now))
    : after(runs.change(resting, first.id, step.later.to ?? {}));
}

function end(run: Run, ending: Ending, { now }: WakeContext): Run {
  return after(runs.end(run, ending, now));
}

function after(moved: runs.Moved): Run {
  if (!moved.ok) throw new Error(`a script made an impossible move: ${moved.because}`);
  return moved.run;
}
