// Starts the complete reference agent-run service: an HTTP server with state, a recorder and controls.

import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { agentRoutes, createAgentApi } from "./agent-api.ts";
import { approvalOfRequest, sameKey } from "./api-keys.ts";
import { createSystemClock } from "../base/sandbox-clock.ts";
import type { Clock } from "../base/sandbox-clock.ts";
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
  /** 0 means any free port. */
  readonly port?: number;
  /** The default is a random key. */
  readonly apiKey?: string;
  /** Without a path, the state is lost at the end. */
  readonly statePath?: string | null;
  readonly clock?: Clock;
  /** Scales all durations. With 0, everything that needs no person happens at the next tick of the clock. */
  readonly tempo?: number;
  readonly profile?: Partial<Profile>;
};

export type Service = {
  readonly url: string;
  /** The currently valid key, which changes when it is rotated. */
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
  const release = async (): Promise<void> => {
    world.stop();
    await memory.close();
  };
  const listener = await startListenerFor(release, { host, port }, exchange);

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
      await release();
    },
  };
}

function keyShown(headers: IncomingHttpHeaders, key: string): KeyShown {
  if (headers.authorization === undefined) return "none";
  const presented = approvalOfRequest(headers);
  return presented !== null && sameKey(presented, key) ? "right" : "wrong";
}

function idOf(kind: "run" | "apr", style: Profile["idStyle"]): string {
  const random = randomBytes(9).toString("hex");
  return style === "plain" ? `${kind}_${random}` : `${kind}/../é %2F?&#:${random}`;
}
