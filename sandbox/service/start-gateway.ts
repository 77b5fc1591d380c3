// Starts the complete reference token gateway on its own address.

import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { approvalOfRequest, sameKey } from "./api-keys.ts";
import { createSystemClock } from "../base/sandbox-clock.ts";
import type { Clock } from "../base/sandbox-clock.ts";
import { createExchange } from "./exchange.ts";
import { createFaults } from "./request-faults.ts";
import type { FaultHandle, Faults } from "./request-faults.ts";
import { createGatewayApi, gatewayRoutes } from "./gateway-api.ts";
import type { GatewayStatus } from "./gateway-api.ts";
import { openGatewayMemory } from "./gateway-memory.ts";
import { startListenerFor } from "./listener.ts";
import type { Listener } from "./listener.ts";
import { createRateLimit } from "./rate-limit.ts";
import { createRecorder } from "./recorder.ts";
import type { KeyShown, Requests } from "./recorder.ts";
import type { UsageRow } from "./usage.ts";

export type GatewayOptions = {
  readonly host?: string;
  readonly port?: number;
  /** The default is one random key, which is stored with the state. */
  readonly keys?: readonly string[];
  readonly clock?: Clock;
  /** Without a path, the usage is lost at the end. */
  readonly statePath?: string | null;
  /** The pause between two tokens of a stream (ms). */
  readonly tokenMs?: number;
  /** The limit for each key. Null for no limit. */
  readonly requestsPerMinute?: number | null;
  /** The size limit of a request body (bytes). */
  readonly bodyLimit?: number;
};

type GatewayControl = {
  readonly fault: Faults["add"];
  readonly faults: Faults["list"];
  readonly clearFaults: () => void;
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
  /** Delays every answer until the handle is cleared. */
  readonly slow: (ms: number) => FaultHandle;
  /** Returns what /healthz answers, after an optional change. `ok` is the healthy status. */
  readonly status: (change?: GatewayStatus) => GatewayStatus;
};

export type Gateway = {
  readonly url: string;
  readonly keys: readonly string[];
  readonly requests: Requests;
  /** What each key has used, by the hour. Keys appear by name only. */
  readonly usage: () => readonly Readonly<UsageRow>[];
  readonly control: GatewayControl;
  readonly stop: () => Promise<void>;
};

export const HEALTHY: GatewayStatus = {
  status: "ok",
  message: "Token gateway of the sandbox, with a small local model.",
};

export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { host = "127.0.0.1", port = 0, clock = createSystemClock(), tokenMs = 0 } = options;
  const { bodyLimit = 4 * 1024 * 1024, requestsPerMinute = null } = options;
  const memory = await openGatewayMemory(options.statePath ?? null, clock.now, options.keys ?? null);
  let status = HEALTHY;
  const faults = createFaults();
  const recorder = createRecorder(clock.now);
  const reader = keyReader(memory.keys);
  const handle = createGatewayApi({
    now: clock.now,
    newId: () => randomBytes(12).toString("hex"),
    status: () => status,
    keyIn: reader.keyIn,
    limit: createRateLimit(clock.now, requestsPerMinute),
    ledger: memory.ledger,
    saved: memory.saved,
    pace: () => rest(clock, tokenMs),
  });
  const exchange = createExchange({
    routes: gatewayRoutes,
    recorder,
    faults,
    clock,
    bodyLimit: () => bodyLimit,
    keyShown: reader.keyShown,
    handle,
  });
  const listener = await startListenerFor(memory.close, { host, port }, exchange);

  return {
    url: listener.url,
    keys: memory.keys,
    requests: recorder.requests,
    usage: memory.ledger.rows,
    control: createControl(faults, listener, (change = status) => (status = change)),
    async stop() {
      await listener.down();
      await memory.close();
    },
  };
}

function createControl(
  faults: Faults,
  { down, up }: Listener,
  status: GatewayControl["status"],
): GatewayControl {
  return {
    fault: faults.add,
    faults: faults.list,
    clearFaults: faults.clear,
    down,
    up,
    slow: (ms) => faults.add({}, { type: "delay", ms }, "all"),
    status,
  };
}

function keyReader(keys: readonly string[]) {
  const keyIn = (headers: IncomingHttpHeaders): string | null => {
    const presented = presentedKey(headers);
    return presented === null ? null : (keys.find((key) => sameKey(presented, key)) ?? null);
  };
  const keyShown = (headers: IncomingHttpHeaders): KeyShown => {
    if (keyIn(headers) !== null) return "right";
    return presentedKey(headers) === null ? "none" : "wrong";
  };
  return { keyIn, keyShown };
}

async function rest(clock: Clock, ms: number): Promise<void> {
  if (ms > 0) await new Promise<void>((resolve) => clock.after(ms, resolve));
}

/** Returns the key that a request presents. Each of the two conventions has its own header. */
function presentedKey(headers: IncomingHttpHeaders): string | null {
  const key = headers["x-api-key"];
  if (typeof key === "string" && key !== "") return key;
  return headers.authorization === undefined ? null : (approvalOfRequest(headers) ?? "");
}
