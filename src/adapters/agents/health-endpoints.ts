// Asks the service and the gateway for their health, without the key. `/agent health` and the doctor use it.

import type { Agent, Dispatcher } from "undici";
import { isRecord, type Json } from "../../domain/json.ts";
import { type Gateway, type HealthReport, PortError } from "../../ports.ts";
import { type Answer, answerInWords, clean, createHttpClient, type HttpClient } from "./http-client.ts";
import { readJson } from "./json-body.ts";

/** The time limit (ms). Shorter than the 10 s of other calls, because a person waits for the answer. */
export const HEALTH_TIMEOUT_MS = 4_000;
/** More than a health record needs (bytes). */
export const MAX_HEALTH_BYTES = 64 * 1024;

const FIELDS = ["status", "version", "service", "message", "endpoints"] as const;

type Question = {
  readonly who: string;
  readonly path: string;
  readonly timeoutMs: number;
  readonly monotonic: () => number;
};

export type GatewayOptions = {
  readonly baseUrl: string;
  readonly monotonic: () => number;
  readonly timeoutMs?: number;
  /** Opens the connections, through a proxy if there is one. The default is direct connections. */
  readonly open?: (options: Agent.Options) => Dispatcher;
  readonly dispatcher?: Dispatcher;
};

export function createGateway(options: GatewayOptions): Gateway & { close(): Promise<void> } {
  const { baseUrl, monotonic, timeoutMs = HEALTH_TIMEOUT_MS, open, dispatcher } = options;
  const who = "The token gateway";
  const line = createHttpClient({
    who,
    baseUrl,
    open,
    dispatcher,
    connections: 1,
    keepAlive: false,
    maxBodyBytes: MAX_HEALTH_BYTES,
  });
  return {
    health: () => askHealth(line, { who, path: "/healthz", timeoutMs, monotonic }),
    close: () => line.close(),
  };
}

export async function askHealth(
  line: HttpClient,
  { who, path, timeoutMs, monotonic }: Question,
): Promise<HealthReport> {
  const askedAt = monotonic();
  const {
    says,
    fault,
    publicFault = fault,
  } = await line.call({ method: "GET", path, timeoutMs }).then(
    (answer): Reading => read(who, answer),
    (error: unknown): Reading => {
      if (error instanceof PortError)
        return { says: {}, fault: error.message, publicFault: error.publicMessage };
      throw error;
    },
  );
  const latencyMs = Math.max(0, monotonic() - askedAt);
  return { ok: fault === null, latencyMs, fault, publicFault, says };
}

/** `publicFault` is left out if `fault` contains no address. */
type Reading = Pick<HealthReport, "says" | "fault"> & Partial<Pick<HealthReport, "publicFault">>;

function read(who: string, answer: Answer): Reading {
  const json = readJson(answer.body);
  const record = json.ok && isRecord(json.value) ? json.value : null;
  const says: { [field: string]: Json } = {};
  for (const field of FIELDS) {
    const value = record?.[field];
    if (value !== undefined) says[field] = value;
  }
  if (answer.status < 200 || answer.status >= 300) return { says, fault: answerInWords(who, answer) };
  if (record === null) return { says, fault: `${who} did not answer with a JSON record.` };
  if (says["status"] === "ok") return { says, fault: null };
  const status = clean(JSON.stringify(says["status"] ?? null), "", 100);
  return { says, fault: `${who} calls its status ${status}, not "ok".` };
}
