// A complete world on one machine: a strict local Slack with its page, the reference service and gateway, and the real bot between them.

import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { createSandboxClock, type SandboxClock } from "../base/sandbox-clock.ts";
import { freePort } from "../bot/free-port.ts";
import { createPolicySwitch } from "../bot/policy-switch.ts";
import { type Bot, createBot, createBalancer } from "../bot/replicas.ts";
import type { Scenes } from "../scenes/engine.ts";
import { startGateway } from "../service/start-gateway.ts";
import { startService } from "../service/start-service.ts";
import { type Handler, type Slack, type SlackOptions, startSlack } from "../slack/start-slack.ts";
import { SEED } from "./seed.ts";
import type { KeptBot, Mounted } from "./mounted.ts";
import { logRequests } from "./service-traffic.ts";

export type World = {
  readonly slack: Slack;
  readonly service: Awaited<ReturnType<typeof startService>>;
  readonly gateway: Awaited<ReturnType<typeof startGateway>>;
  /** The clock of Slack and the service. */
  readonly clock: SandboxClock;
  /** Null if the world was started without a bot. */
  readonly bot: Bot | null;
  readonly scenes: Scenes | null;
  /** The environment for a bot of this world. The bot that the world runs gets the current key at each start. */
  readonly env: { readonly [name: string]: string };
  stop(): Promise<void>;
};

type Environment = { readonly [name: string]: string };

export type WorldOptions = {
  /** The port of the page. 0 means any free port. */
  readonly port?: number;
  /** Scales the duration of runs. 1 is a good pace to watch; 0 does not wait at all. */
  readonly tempo?: number;
  readonly databaseUrl: string;
  readonly entrance?: "socket" | "http";
  readonly slack?: Pick<SlackOptions, "timing" | "rateLimits" | "now" | "publicUrl">;
  readonly service?: Partial<Parameters<typeof startService>[0]>;
  /** Runs the real bot in a separate process, started as early as possible. Without this, the caller starts a bot. */
  readonly bot?: {
    /** Additional variables, or a function that changes the bot's environment. */
    readonly env?: Environment | ((environment: Environment) => Environment);
    /** The policy to start with. The default is the bot's built-in policy. */
    readonly policyFile?: string | null;
    /** How many processes share the work (default: 1). Several processes need PostgreSQL. */
    readonly replicas?: number;
    readonly echo?: (text: string) => void;
    readonly say?: (words: string) => void;
  };
  /** How long a caption of a scene is shown (ms). */
  readonly paceMs?: (words: string) => number;
};

export const MANIFEST = fileURLToPath(new URL("../../manifest.yml", import.meta.url));

/** Starts everything, including the bot if `bot` is set. All servers listen on loopback, and every token is new. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { port = 0, tempo = 1, entrance = "socket" } = options;
  const clock = createSandboxClock();
  const ports = await freePorts(options.bot?.replicas ?? 1);
  const nextReplica = createBalancer(() => kept?.bot.replicas ?? []);
  const requestUrl = (): string => `http://127.0.0.1:${nextReplica()?.port ?? ports[0]}/slack/events`;
  const delivery =
    entrance === "socket" ? { mode: "socket" as const } : { mode: "http" as const, requestUrl };
  const [slack, service, gateway] = await allOrNone([
    startSlack({ port, manifestPath: MANIFEST, seed: SEED, delivery, now: clock.now, ...options.slack }),
    startService({ tempo, clock, ...options.service }),
    startGateway({ clock }),
  ]);
  const log = { traffic: slack.traffic, now: clock.now };
  logRequests(log, service.requests);
  logRequests(log, gateway.requests, "gateway ");
  const env = (port: number) => environment({ slack, service, gateway, entrance }, options.databaseUrl, port);
  const first = env(ports[0]);
  const kept = options.bot === undefined ? null : keptBot(options.bot, { ports, env }, clock);
  const parts = { slack, service, gateway, clock, kept, manifestPath: MANIFEST, entrance };
  const { scenes } = await mount(slack, async () => {
    // These modules load while the bot starts.
    const { createMounted } = await import("./mounted.ts");
    return createMounted({ ...parts, paceMs: options.paceMs ?? captionMs });
  });
  const bot = kept?.bot ?? null;
  return {
    slack,
    service,
    gateway,
    clock,
    bot,
    scenes,
    env: first,
    stop: async () => {
      await scenes?.stop();
      await bot?.stop();
      await Promise.all([slack.stop(), service.stop(), gateway.stop()]);
    },
  };
}

/** Returns at least one port. All are different. */
async function freePorts(count: number): Promise<[number, ...number[]]> {
  const ports: [number, ...number[]] = [await freePort()];
  while (ports.length < count) {
    const port = await freePort();
    if (!ports.includes(port)) ports.push(port);
  }
  return ports;
}

type Stoppable = { stop(): Promise<unknown> };

/** If one server does not start, stops the others and rejects, because an open server would keep the process alive. */
async function allOrNone<T extends readonly Promise<Stoppable>[]>(
  starting: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(starting);
  if (settled.some(({ status }) => status === "rejected"))
    for (const one of settled) if (one.status === "fulfilled") await one.value.stop();
  return Promise.all(starting);
}

type Started = Pick<World, "slack" | "service" | "gateway"> & { readonly entrance: "socket" | "http" };

/** The environment of a bot, with the key that the service currently accepts. */
function environment(
  { slack, service, gateway, entrance }: Started,
  databaseUrl: string,
  botPort: number,
): World["env"] {
  const door =
    entrance === "socket"
      ? { SLACK_APP_TOKEN: slack.appToken }
      : { SLACK_SIGNING_SECRET: slack.signingSecret };
  return {
    ...door,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_API_URL: slack.apiUrl,
    AGENT_BASE_URL: service.url,
    AGENT_API_KEY: service.apiKey,
    GATEWAY_URL: gateway.url,
    DATABASE_URL: databaseUrl,
    HOST: "127.0.0.1",
    PORT: String(botPort),
  };
}

function keptBot(
  { env = {}, policyFile: own = null, echo, say }: NonNullable<WorldOptions["bot"]>,
  { ports, env: worlds }: { readonly ports: readonly number[]; readonly env: (port: number) => World["env"] },
  { now, aheadMs, onChange }: SandboxClock,
): KeptBot {
  const kept = createPolicySwitch({
    own,
    now,
    keep: (policy) =>
      createBot({
        ports,
        env: (port) => ({
          ...(typeof env === "function" ? env(worlds(port)) : { ...worlds(port), ...env }),
          ...policy(),
        }),
        ...(echo && { echo }),
        ...(say && { say }),
      }),
  });
  onChange(() => kept.bot.setAhead(aheadMs()));
  // Callers that wait for the bot get the failure from `ready`.
  kept.bot.start().catch(() => undefined);
  return kept;
}

/** How long a caption takes to read (ms): 40 ms per character, but at least 2 s and at most 5 s. */
const captionMs = (words: string): number => Math.min(Math.max(2_000, words.length * 40), 5_000);

/** Mounts the handlers. Requests wait until everything is loaded. */
async function mount(slack: Slack, load: () => Promise<Mounted>): Promise<Mounted> {
  const loading = load();
  let handlers: readonly Handler[] | null = null;
  const route = (req: IncomingMessage, res: ServerResponse, to: readonly Handler[]): boolean =>
    to.some((handler) => handler(req, res));
  slack.mount((req, res) => {
    if (handlers !== null) return route(req, res, handlers);
    loading.then(
      (mounted) => route(req, res, mounted.handlers) || res.writeHead(404).end(),
      () => res.writeHead(500).end(),
    );
    return true;
  });
  const mounted = await loading;
  handlers = mounted.handlers;
  return mounted;
}
