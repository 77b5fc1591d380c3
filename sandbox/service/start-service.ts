// The reference agent-run service, whole: a real HTTP server with a memory, a recorder and a hand behind it.

import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { agentRoutes, createAgentApi } from "./agent-api.ts";
import { bearerOf, sameKey } from "./api-keys.ts";
import { createSystemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { createControl } from "./control.ts";
import type { Control } from "./control.ts";
import { createExchange } from "./exchange.ts";
import { createFaults } from "./request-faults.ts";
import { startListenerFor } from "./listener.ts";
import { openMemory } from "./service-memory.ts";
import type { Profile } from "./profile.ts";
import { createRecorder } from "./recorder.ts";
import type { KeyShown, Requests } from "./recorder.ts";
import { createWorld } from "./service-world.ts";
import type { Runs } from "./service-world.ts";

export type ServiceOptions = {
  readonly host?: string;
  /** 0: any free one. */
  readonly port?: number;
  /** Minted when left out. */
  readonly apiKey?: string;
  /** Without one, all is forgotten at the end. */
  readonly statePath?: string | null;
  readonly clock?: Clock;
  /** Factor on all durations; with 0 everything that needs no person happens at the next turn of the clock. */
  readonly tempo?: number;
  readonly profile?: Partial<Profile>;
};

export type Service = {
  readonly url: string;
  /** The one that is right now: it can be rotated. */
  readonly apiKey: string;
  readonly runs: Runs;
  readonly requests: Requests;
  readonly control: Control;
  readonly stop: () => Promise<void>;
};

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { host = "127.0.0.1", port = 0, statePath = null, clock = createSystemClock(), tempo = 1 } = options;
  const { apiKey, profile = {} } = options;
  const memory = await openMemory({ statePath, apiKey, profile });
  const { settings } = memory;
  const newId = (kind: "run" | "apr") => idOf(kind, settings.profile.idStyle);
  const world = createWorld({ clock, tempo, memory, newId });
  const faults = createFaults();
  const recorder = createRecorder(clock.now);
  const exchange = createExchange({
    routes: agentRoutes,
    recorder,
    faults,
    clock,
    handle: createAgentApi({ world, memory }),
    bodyLimit: () => settings.profile.bodyLimit,
    keyShown: (headers) => keyShown(headers, settings.key),
  });
  const letGo = async (): Promise<void> => {
    world.stop();
    await memory.close();
  };
  const listener = await startListenerFor(letGo, { host, port }, exchange);

  return {
    url: listener.url,
    get apiKey() {
      return settings.key;
    },
    runs: world,
    requests: recorder.requests,
    control: createControl({ world, faults, listener, clock, memory }),
    async stop() {
      await listener.down();
      await letGo();
    },
  };
}

function keyShown(headers: IncomingHttpHeaders, key: string): KeyShown {
  if (headers.authorization === undefined) return "none";
  const shown = bearerOf(headers);
  return shown !== null && sameKey(shown, key) ? "right" : "wrong";
}

function idOf(kind: "run" | "apr", style: Profile["idStyle"]): string {
  const random = randomBytes(9).toString("hex");
  return style === "plain" ? `${kind}_${random}` : `${kind}/../é %2F?&#:${random}`;
}
