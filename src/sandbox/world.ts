// A whole world on one machine: a strict local Slack with its page, the reference service and gateway, and between them the real bot.

import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { createPage } from "./page/page.ts";
import { startGateway } from "./service/start-gateway.ts";
import { startService } from "./service/start-service.ts";
import { readManifest } from "./slack/manifest.ts";
import { type Slack, type SlackOptions, startSlack } from "./slack/server.ts";

export type World = {
  readonly slack: Slack;
  readonly service: Awaited<ReturnType<typeof startService>>;
  readonly gateway: Awaited<ReturnType<typeof startGateway>>;
  /** The environment that a bot of this world is started with. */
  readonly env: { readonly [name: string]: string };
  stop(): Promise<void>;
};

export type WorldOptions = {
  /** The page's port; 0: any free one. */
  readonly port?: number;
  /** How fast runs go: 1 as a person likes to watch, 0 without waiting. */
  readonly tempo?: number;
  readonly databaseUrl: string;
  readonly entrance?: "socket" | "http";
  readonly slack?: Pick<SlackOptions, "timing" | "rateLimits" | "now">;
  readonly service?: Partial<Parameters<typeof startService>[0]>;
};

export const MANIFEST = fileURLToPath(new URL("../../manifest.yml", import.meta.url));

const EXAMPLES = [
  "/agent run deploy billing-api to production",
  "/agent run two approvals for the release",
  "/agent pending",
  "/agent health",
];

/** Everything but the bot. Bound to loopback only; every token is minted afresh. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { port = 0, tempo = 1, entrance = "socket" } = options;
  const botPort = await freePort();
  const requestUrl = `http://127.0.0.1:${botPort}/slack/events`;
  const delivery =
    entrance === "socket" ? { mode: "socket" as const } : { mode: "http" as const, requestUrl };
  const [slack, service, gateway] = await Promise.all([
    startSlack({ port, manifestPath: MANIFEST, delivery, ...options.slack }),
    startService({ tempo, ...options.service }),
    startGateway({}),
  ]);
  mountPage(slack, () => entrance === "http" || slack.sockets.connections() > 0);
  service.requests.subscribe(createReporter(slack, service));
  const door =
    entrance === "socket"
      ? { SLACK_APP_TOKEN: slack.appToken }
      : { SLACK_SIGNING_SECRET: slack.signingSecret };
  const env = {
    ...door,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_API_URL: slack.apiUrl,
    AGENT_BASE_URL: service.url,
    AGENT_API_KEY: service.apiKey,
    GATEWAY_URL: gateway.url,
    DATABASE_URL: options.databaseUrl,
    HOST: "127.0.0.1",
    PORT: String(botPort),
  };
  return {
    slack,
    service,
    gateway,
    env,
    stop: async () => void (await Promise.all([slack.stop(), service.stop(), gateway.stop()])),
  };
}

function mountPage(slack: Slack, connected: () => boolean): void {
  const manifest = readManifest(MANIFEST);
  const commands = [...manifest.commands].map(([command, { description, usageHint }]) => ({
    command,
    description,
    usage_hint: usageHint,
  }));
  const { workspace, acts, traffic } = slack;
  const openHome = manifest.homeTab ? slack.openHome : null;
  slack.mount(
    createPage({ workspace, acts, traffic, connected, openHome, commands, examples: EXAMPLES, board: null }),
  );
}

/** What the service was asked goes into the Traffic panel, each request once, when it is answered. Quiet looks would drown the rest. */
function createReporter(slack: Slack, service: World["service"]): () => void {
  let reported = 0;
  return () => {
    for (const entry of service.requests.all().filter(({ number, done }) => done && number > reported)) {
      reported = Math.max(reported, entry.number);
      if (entry.route === "read-run" && entry.status === 200) continue;
      const { method, path, status, key, body, fault } = entry;
      const failed = status === null || status >= 400 ? `HTTP ${status ?? "none"}` : null;
      slack.traffic.add(
        "service",
        `${method} ${path} → ${status ?? "no answer"}`,
        { key, body, fault },
        failed,
      );
    }
  };
}

/** Below the range that systems hand out by themselves, so that nobody else is given the port before the bot takes it. */
const PORTS = { from: 12_000, to: 32_000 };
const PORT_TRIES = 50;

/** A port that is free, for the bot: it is told it before it starts. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES; tries += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (await isFree(port)) return port;
  }
  throw new Error("this machine gives no free port");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (free) await new Promise((resolve) => void server.close(resolve));
  return free;
}
