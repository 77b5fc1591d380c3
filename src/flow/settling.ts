import pRetry from "p-retry";
import { type Effect, effectKey, type Outcome } from "../core/effect.ts";
import type { RunKey } from "../core/ids.ts";
import { settle } from "../core/settle.ts";
import { PortError } from "./ports.ts";
import { freeId } from "./reused-run.ts";
import type { CarryDeps, Way } from "./way.ts";

/** A lapsed lease is taken up again by this process within a minute; if another one has it, that one settles by its own look. */
const LEASE_PATIENCE_MS = 90_000;

export type Settling = {
  /** One attempt. Resolves to when to look after the run again (ms). Rejects when the store fails. */
  once(outcome: Outcome): Promise<number>;
  /** What happened must reach the store: until it does, a restart would have to call it unsure. */
  untilSaved(outcome: Outcome): Promise<number>;
};

export function createSettling(deps: CarryDeps, key: RunKey, effect: Effect, way: Way): Settling {
  const { clock, log } = deps;
  let lostSince: number | null = null;

  async function once(outcome: Outcome): Promise<number> {
    try {
      await save(outcome);
    } catch (error) {
      if (!(error instanceof PortError) || error.code !== "run_id_taken" || outcome.is !== "created")
        throw error;
      const { id } = outcome.snapshot;
      await save((await freeId(deps, way.change, id)) ? outcome : { is: "taken", id });
    }
    return 0;
  }

  async function save(outcome: Outcome): Promise<void> {
    const saved = await way.change(key, (run) => settle(run, effect, outcome, deps.context()));
    if (saved !== null) return;
    throw new PortError("the run is not held", { applied: "no", retry: "later", code: "lease_lost" });
  }

  function worthIt(error: Error): boolean {
    if (!(error instanceof PortError) || error.retry === "never" || way.stopping()) return false;
    lostSince = error.code === "lease_lost" ? (lostSince ?? clock.monotonic()) : null;
    return lostSince === null || clock.monotonic() - lostSince < LEASE_PATIENCE_MS;
  }

  async function untilSaved(outcome: Outcome): Promise<number> {
    return pRetry(() => once(outcome), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 200,
      maxTimeout: 5_000,
      shouldRetry: ({ error }) => worthIt(error),
      onFailedAttempt: ({ error }) =>
        log.error({ run: key, effect: effectKey(effect), error }, "not saved yet"),
    });
  }

  return { once, untilSaved };
}
