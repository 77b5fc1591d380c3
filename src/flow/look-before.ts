import type { Outcome } from "../core/effect.ts";
import { type Run, runId } from "../core/run.ts";
import { PortError } from "./ports.ts";
import { takeIn } from "./take-in.ts";
import type { CarryDeps, Way } from "./way.ts";

/**
 * The run is read and compared once more just before a decision goes out. Null: the mark that follows finds out whether it may
 * still go, after what was learnt. Otherwise why it does not go now; reading applies nothing, so it has surely not left.
 */
export async function lookBefore(deps: CarryDeps, run: Run, way: Way): Promise<Outcome | null> {
  const id = runId(run);
  if (id === null) return { is: "later", afterMs: null, why: "the run has no id yet" };
  try {
    const look = await deps.agents.look(id);
    await way.change(run.key, (before) => takeIn(before, look, deps.context()));
    return null;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { is: "later", afterMs: error.retryAfterMs, why: error.message };
  }
}
