// Reports the state of each part, for /livez and /readyz, `/agent health` and the metrics.
//
// Only three things make a process unready: it cannot write to its store, it has not reached Slack since its start, or it is stopping.
// All other faults are only reported: they affect all replicas alike, or taking this replica out of service would not help.

import { type EventLog, PortError } from "../ports.ts";
import type { Health, PartHealth, PartName, RunFigures, SlackHealth } from "../ports/monitoring.ts";
import type { Store } from "../ports/store.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import { isDown, type ServiceBreaker } from "./service-breaker.ts";
import type { ServiceKey } from "./service-answers.ts";
import type { StoreFaults } from "./store-faults.ts";
import { STUCK_AFTER_MS, type Watchdog } from "./watchdog.ts";

/** The time between two checks of the token and the key while no other call uses them (ms). */
const CHECK_EVERY_MS = 60_000;
/** The answer to any call counts as a check if it is not older than this (ms). */
const CHECKED_AGE_MS = 30_000;
/** Callers within this time share one write (ms). */
const PROBE_AGE_MS = 1_000;
/** The time limit of a write (ms). Shorter than the five seconds that the probes of a supervisor wait. */
export const PROBE_MS = 3_000;
/** How long a fault of the store is reported (ms). */
const RECENT_MS = 60_000;

type Deps = {
  readonly store: Pick<Store, "ping">;
  readonly storeFaults: StoreFaults;
  readonly slackHealth: SlackHealth;
  readonly key: Pick<ServiceKey, "isRefused" | "check">;
  /** Whether the file of the key has changed, and holds no key that can be used. Left out if the key is not read again. */
  readonly isKeyFileUnusable?: () => boolean;
  readonly breaker: Pick<ServiceBreaker, "state">;
  readonly figures: () => RunFigures;
  readonly watchdog: Pick<Watchdog, "stuckMs">;
  readonly clock: Clock;
  readonly log: EventLog;
};

export type HealthMonitor = Health & {
  /** Begins to check the token and the key while no other call uses them. */
  start(): void;
  stop(): Promise<void>;
};

export function createHealth(deps: Deps): HealthMonitor {
  const { slackHealth, key, watchdog } = deps;
  const probe = createProbe(deps);
  const loop = createBackgroundLoop(deps, {
    pass: async () =>
      void (await Promise.all([slackHealth.checkToken(CHECKED_AGE_MS), key.check(CHECKED_AGE_MS)])),
    everyMs: CHECK_EVERY_MS,
    retryMs: [CHECK_EVERY_MS, CHECK_EVERY_MS],
    failure: "could not check the token and the key",
  });
  return {
    live: () => watchdog.stuckMs() < STUCK_AFTER_MS,
    async parts() {
      const storeFault = await probe();
      return [
        { part: "store", fault: storeFault, unready: storeFault !== null },
        partOf("store_calls", storeCallsFault(deps)),
        slackPart(deps),
        partOf("slack_token", tokenFault(slackHealth.tokenRefusal())),
        partOf("service", serviceFault(deps)),
        partOf("service_key", key.isRefused() === true ? KEY_REFUSED : null),
        partOf("key_file", deps.isKeyFileUnusable?.() === true ? KEY_FILE_UNUSABLE : null),
        partOf("decisions", decisionsFault(deps.figures())),
        partOf("watching", watchingFault(watchdog.stuckMs())),
      ];
    },
    start: () => loop.start(CHECK_EVERY_MS),
    stop: loop.stop,
  };
}

const partOf = (part: PartName, fault: string | null): PartHealth => ({ part, fault, unready: false });

/** The function writes to the store and resolves to its fault, or to null. Callers within a second share one write. Never rejects. */
function createProbe({ store, clock }: Pick<Deps, "store" | "clock">): () => Promise<string | null> {
  let last: { readonly at: number; readonly fault: Promise<string | null> } | null = null;
  return () => {
    if (last === null || clock.monotonic() - last.at >= PROBE_AGE_MS)
      last = { at: clock.monotonic(), fault: probeStore(store, clock) };
    return last.fault;
  };
}

async function probeStore(store: Pick<Store, "ping">, clock: Clock): Promise<string | null> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const cancel = clock.after(PROBE_MS, () =>
    resolve(`the database did not answer within ${PROBE_MS / 1_000} s`),
  );
  try {
    return await Promise.race([store.ping().then(() => null, storeFaultWords), late]);
  } finally {
    cancel();
  }
}

/** The state of the parts while the app still waits for Slack's first answer. */
export function createPartsBeforeSlack(deps: Pick<Deps, "store" | "clock">): Health["parts"] {
  const probe = createProbe(deps);
  return async () => {
    const fault = await probe();
    return [{ part: "store", fault, unready: fault !== null }, NOT_REACHED];
  };
}

const NOT_REACHED: PartHealth = { part: "slack", fault: "not reached yet", unready: true, untried: true };

/** An unknown fault is described in our own words, because its message may contain addresses. */
export function storeFaultWords(error: unknown): string {
  if (!(error instanceof PortError)) return "the database does not answer";
  return error.code === "store_failed" ? "the database failed; the log says more" : error.message;
}

function storeCallsFault({ storeFaults, clock }: Deps): string | null {
  const { count, code } = storeFaults.since(clock.monotonic() - RECENT_MS);
  if (count === 0) return null;
  const calls = count === 1 ? "one call of the database" : `${count} calls of the database`;
  return `${calls} failed within the last minute, the last with ${code}`;
}

function slackPart({ slackHealth }: Deps): PartHealth {
  switch (slackHealth.connection()) {
    case "connected":
      return partOf("slack", null);
    case "starting":
      return NOT_REACHED;
    case "stopping":
      // Unready, so that a balancer sends no more requests to this process.
      return { part: "slack", fault: "Countersign is stopping", unready: true };
    case "lost":
      return partOf("slack", "the connection to Slack is lost; Countersign connects again by itself");
    case "refused":
      return partOf("slack", APP_TOKEN_REFUSED);
  }
}

const APP_TOKEN_REFUSED =
  "Slack refuses SLACK_APP_TOKEN: no click arrives. Countersign asks again by itself. If this stays, set a token that Slack accepts, and restart Countersign";

const MISSING_SCOPE =
  "the Slack app lacks a scope (missing_scope): no one can be verified, or nothing is posted. Update the app from the manifest, and install it again; `npm run doctor` says which scope it is";

function tokenFault(code: string | null): string | null {
  if (code === null) return null;
  return code === "missing_scope"
    ? MISSING_SCOPE
    : `Slack refuses SLACK_BOT_TOKEN (${code}): nothing is posted. Set a token that Slack accepts, and restart Countersign`;
}

const KEY_REFUSED =
  "the agent service refuses AGENT_API_KEY (HTTP 401 or 403): no decision arrives. Set a key that it takes. Countersign reads the file of AGENT_API_KEY_FILE again by itself. If the key is in the environment, or comes from systemd's LoadCredential (which copies the file at the start), restart Countersign";

const KEY_FILE_UNUSABLE =
  "the file of AGENT_API_KEY_FILE holds no key that Countersign can use, so the old key stays in use: once the service revokes it, no decision arrives. Correct the file, its owner or its mode: the log says what is wrong";

function serviceFault({ breaker, clock }: Deps): string | null {
  const state = breaker.state();
  if (!isDown(state)) return null;
  const code = state.code === undefined ? "" : ` (${state.code})`;
  return `the agent service has given no usable answer for ${inWords(clock.monotonic() - state.since)}${code}`;
}

function decisionsFault({ undelivered: { late, oldestMs } }: RunFigures): string | null {
  if (late === 0) return null;
  const what = late === 1 ? "1 decision is" : `${late} decisions are`;
  return `${what} recorded and not confirmed by the service, the oldest for ${inWords(oldestMs)}`;
}

/** Reported after half the time that makes /livez fail. */
function watchingFault(stuckMs: number): string | null {
  return stuckMs < STUCK_AFTER_MS / 2 ? null : `the watching of runs has been stuck for ${inWords(stuckMs)}`;
}

function inWords(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}
