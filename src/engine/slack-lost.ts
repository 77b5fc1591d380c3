// Says since when Slack has kept people from acting on the requests of this replica.
//
// Slack gives a click to any replica that is connected, which records it for the replica that holds the run. So a connected replica
// writes a heartbeat into a document that all of them share, and a replica without a connection counts as cut off only without a heartbeat.

import type { Json } from "../domain/json.ts";
import type { SlackHealth } from "../ports/monitoring.ts";
import type { DocumentStore } from "../ports/store.ts";
import type { Clock } from "./clock.ts";

/** Outages shorter than this (ms) do not stop the clocks. */
export const GRACE_MS = 60_000;
/** The time between two heartbeats of a connected replica (ms), so that a few may fail within `GRACE_MS`. */
const HEARTBEAT_EVERY_MS = 15_000;
const CONNECTED = "slack connected at";

export type SlackLostDeps = {
  readonly store: DocumentStore;
  readonly slackHealth: Pick<SlackHealth, "connection" | "tokenRefusal" | "unanswered">;
  /** False once another process has shared the runs. */
  readonly isAlone: () => boolean;
  readonly clock: Clock;
};

/** Since when a system has been lost (monotonic ms), as far as this process knows, or null if it is not lost. */
export type Lost = number | null | "unknown";

/** Rejects if the store fails. */
export function createSlackLost(deps: SlackLostDeps): () => Promise<Lost> {
  const { clock, slackHealth } = deps;
  // While a process is "starting", no click reaches it, but it already follows its runs.
  const disconnectedSince = createSince(clock, () => slackHealth.connection() !== "connected");
  const refusedSince = createSince(clock, () => slackHealth.tokenRefusal() !== null);
  const heartbeat = createHeartbeat(deps);
  return async () => {
    if (slackHealth.connection() === "stopping") return "unknown";
    // This replica looks approvers up again before it sends, so connections of other replicas do not help if its own calls fail.
    const callsFailSince = earlier(refusedSince(), silentSince(slackHealth));
    const since = disconnectedSince();
    if (since === null) {
      if (callsFailSince === null) await heartbeat.beat();
      return callsFailSince;
    }
    const lastBeatAt = await heartbeat.lastBeatAt();
    const isConnected = clock.monotonic() - lastBeatAt < GRACE_MS;
    return earlier(isConnected ? null : Math.max(since, lastBeatAt), callsFailSince);
  };
}

function createSince(clock: Clock, isLost: () => boolean): () => number | null {
  let since: number | null = null;
  return () => {
    since = isLost() ? (since ?? clock.monotonic()) : null;
    return since;
  };
}

/**
 * Without Slack's Web API, no one can be verified. The newest failure must be a minute after the first one: a single failed call proves no
 * outage, and the next call may come only a minute later (health.ts).
 */
function silentSince({ unanswered }: SlackLostDeps["slackHealth"]): number | null {
  const calls = unanswered();
  return calls !== null && calls.newest - calls.first >= GRACE_MS ? calls.first : null;
}

const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** The shared heartbeat of the replicas that are connected. */
function createHeartbeat({ store, isAlone, clock }: SlackLostDeps) {
  let sentAt = Number.NEGATIVE_INFINITY;
  /** Undefined before the first look. */
  let newest: Json | undefined;
  let changedAt = Number.NEGATIVE_INFINITY;
  return {
    async beat(): Promise<void> {
      const at = clock.monotonic();
      if (isAlone() || at - sentAt < HEARTBEAT_EVERY_MS) return;
      await store.putDocument(CONNECTED, at);
      sentAt = at;
    },
    /** Only a change counts, at the time of this process: the first look may find an old heartbeat, and clocks may differ. */
    async lastBeatAt(): Promise<number> {
      const found = await store.document(CONNECTED);
      if (newest !== undefined && found !== newest) changedAt = clock.monotonic();
      newest = found;
      return changedAt;
    },
  };
}
