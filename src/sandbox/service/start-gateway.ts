// The reference token gateway, whole, on an address of its own.

import type { IncomingHttpHeaders } from "node:http";
import { bearerOf, mintKey, sameKey } from "./api-keys.ts";
import { createSystemClock } from "./clock.ts";
import type { Clock } from "./clock.ts";
import { createExchange } from "./exchange.ts";
import { createFaults } from "./faults.ts";
import type { FaultHandle, Faults } from "./faults.ts";
import { createGatewayApi, gatewayRoutes } from "./gateway-api.ts";
import type { GatewayStatus, Usage } from "./gateway-api.ts";
import { startListener } from "./listener.ts";
import { createRecorder } from "./recorder.ts";
import type { Requests } from "./recorder.ts";

export type GatewayOptions = {
  readonly host?: string;
  readonly port?: number;
  /** One is minted when left out. */
  readonly keys?: readonly string[];
  readonly clock?: Clock;
};

type GatewayControl = {
  readonly fault: Faults["add"];
  readonly faults: Faults["list"];
  readonly clearFaults: () => void;
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
  /** Every answer comes this much later, until the handle is cleared. */
  readonly slow: (ms: number) => FaultHandle;
  /** What /healthz says; `ok` is the healthy status. */
  readonly status: (status: GatewayStatus) => void;
};

export type Gateway = {
  readonly url: string;
  readonly keys: readonly string[];
  readonly requests: Requests;
  readonly usage: (key: string) => Readonly<Usage> | undefined;
  readonly control: GatewayControl;
  readonly stop: () => Promise<void>;
};

/** Bytes of a request's body. */
const bodyLimit = 4 * 1024 * 1024;

export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { host = "127.0.0.1", port = 0, keys = [mintKey()], clock = createSystemClock() } = options;
  let status: GatewayStatus = {
    status: "ok",
    message: "Token gateway of the sandbox, with a small local model.",
  };
  const usage = new Map<string, Usage>();
  const faults = createFaults();
  const recorder = createRecorder(clock.now);
  const keyIn = (headers: IncomingHttpHeaders) => {
    const shown = shownIn(headers);
    return shown === null ? null : (keys.find((key) => sameKey(shown, key)) ?? null);
  };
  const exchange = createExchange({
    routes: gatewayRoutes,
    recorder,
    faults,
    clock,
    bodyLimit: () => bodyLimit,
    keyShown: (headers) => (shownIn(headers) === null ? "none" : keyIn(headers) === null ? "wrong" : "right"),
    handle: createGatewayApi({ now: clock.now, status: () => status, keyIn, usage }),
  });
  const { url, down, up } = await startListener({ host, port }, exchange);
  const slow = (ms: number) => faults.add({}, { kind: "delay", ms }, "all");
  const control = { fault: faults.add, faults: faults.list, clearFaults: faults.clear, down, up, slow };

  return {
    url,
    keys,
    requests: recorder.requests,
    usage: (key) => usage.get(key),
    control: { ...control, status: (next) => void (status = next) },
    stop: down,
  };
}

/** Each of the two conventions has its own header. */
function shownIn(headers: IncomingHttpHeaders): string | null {
  const key = headers["x-api-key"];
  if (typeof key === "string" && key !== "") return key;
  return headers.authorization === undefined ? null : (bearerOf(headers) ?? "");
}
