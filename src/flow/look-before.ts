import type { Effect, Outcome } from "../core/effect.ts";
import { findApproval, type Run, runId } from "../core/run.ts";
import { type Look, PortError } from "./ports.ts";
import { takeIn } from "./take-in.ts";
import type { CarryDeps, Way } from "./way.ts";

/**
 * The request is read and compared once more just before a decision goes out. Null: it may go, if it is still wanted after
 * what was learnt. Otherwise why it does not go now; reading applies nothing, so the decision has surely not left.
 */
export async function lookBefore(
  deps: CarryDeps,
  run: Run,
  effect: Extract<Effect, { do: "send-decision" }>,
  way: Way,
): Promise<Outcome | null> {
  const id = runId(run);
  if (id === null) return { is: "later", afterMs: null, why: "the run has no id yet" };
  try {
    const look = await deps.agents.look(id);
    const newest = await way.change(run.key, (before) => takeIn(before, look, deps.context()));
    return newest === null ? null : unfit(newest, effect, look);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { is: "later", afterMs: error.retryAfterMs, why: error.message };
  }
}

/** A decision whose answer was lost before goes again only to an approval that is seen to be pending. */
function unfit(run: Run, effect: Extract<Effect, { do: "send-decision" }>, look: Look): Outcome | null {
  if (look.is === "missing")
    return { is: "later", afterMs: null, why: "the service does not know the run just now" };
  const state = findApproval(run, effect.approval)?.state;
  const { pending, unreadable } = look.snapshot;
  const listed = pending?.some(({ id }) => id === effect.approval) ?? false;
  if (unreadable.length > 0 && !listed)
    return { is: "later", afterMs: null, why: "the service lists an approval that cannot be read" };
  const lost = state?.is === "decided" && state.delivery.is === "retry" && state.delivery.lost;
  if (!lost || pending !== null) return null;
  return {
    is: "later",
    afterMs: null,
    why: "the service does not say whether the approval is still pending",
  };
}
