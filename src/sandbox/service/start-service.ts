// The reference agent-run service, whole: a real HTTP server with a memory, a recorder and a hand behind it.

import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { agentRoutes, createAgentApi } from "./agent-api.ts";
import { bearerOf, mintKey, sameKey } from "./api-keys.ts";
import { createSystemClock } from "./clock.ts";
import type { Clock } from "./clock.ts";
import { createControl } from "./control.ts";
import type { Control } from "./control.ts";
import { createExchange } from "./exchange.ts";
import { createFaults } from "./faults.ts";
import { startListener } from "./listener.ts";
import { plainProfile } from "./profile.ts";
import type { Profile } from "./profile.ts";
import { createRecorder } from "./recorder.ts";
import type { KeyShown, Requests } from "./recorder.ts";
import { loadState } from "./state-file.ts";
import { createWorld } from "./world.ts";
import type { Runs } from "./world.ts";

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
  const settings = { key: options.apiKey ?? mintKey(), profile: { ...plainProfile, ...options.profile } };
  const profile = () => settings.profile;
  const state = statePath === null ? null : await loadState(statePath);
  const world = createWorld({
    clock,
    tempo,
    state,
    statePath,
    newId: (kind) => newId(kind, profile().idStyle),
  });
  // A place that cannot be written to shows itself here, not at the first run.
  await world.saved();
  const vanished = new Set<string>();
  const faults = createFaults();
  const recorder = createRecorder(clock.now);
  const exchange = createExchange({
    routes: agentRoutes,
    recorder,
    faults,
    clock,
    handle: createAgentApi({ world, profile, vanished }),
    bodyLimit: () => profile().bodyLimit,
    keyShown: (headers) => keyShown(headers, settings.key),
  });
  const listener = await startListener({ host, port }, exchange);

  return {
    url: listener.url,
    get apiKey() {
      return settings.key;
    },
    runs: world,
    requests: recorder.requests,
    control: createControl({ world, faults, listener, clock, vanished, settings }),
    async stop() {
      await listener.down();
      await world.stop();
    },
  };
}

function keyShown(headers: IncomingHttpHeaders, key: string): KeyShown {
  if (headers.authorization === undefined) return "none";
  const shown = bearerOf(headers);
  return shown !== null && sameKey(shown, key) ? "right" : "wrong";
}

function newId(kind: "run" | "apr", style: Profile["idStyle"]): string {
  const random = randomBytes(9).toString("hex");
  return style === "plain" ? `${kind}_${random}` : `${kind}/../é %2F?&#:${random}`;
}
