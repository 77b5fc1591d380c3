// Opens what the bot talks to: the store, the agent service, the gateway, Slack, the sink of the audit, and its own port.

import { createHash, randomBytes } from "node:crypto";
import type { RequestListener } from "node:http";
import { hostname } from "node:os";
import timers from "node:timers/promises";
import { createDrawLookBack } from "./adapters/chart/draw-look-back.ts";
import { createAgentService } from "./adapters/agents/agent-service.ts";
import { createGateway } from "./adapters/agents/health-endpoints.ts";
import { openSink } from "./adapters/audit-sink/open-sink.ts";
import { createRejectedRequests, type Metrics, type RejectedRequests } from "./adapters/http/metrics.ts";
import { readinessOf, startHttp } from "./adapters/http/server.ts";
import type { SlackApp } from "./adapters/slack/bolt-app.ts";
import { EVENTS_PATH } from "./adapters/slack/request-verifier.ts";
import { createSlack } from "./adapters/slack/slack-adapter.ts";
import { type AuditKeyNews, openStore } from "./adapters/store/open.ts";
import type { Config } from "./config.ts";
import { Nonce } from "./domain/ids.ts";
import type { Clock, MachineClock } from "./engine/clock.ts";
import { partsBeforeSlack } from "./engine/health.ts";
import { ALONE, SHARED } from "./engine/lease-keeper.ts";
import { type Log, slackLogger } from "./log.ts";
import { createOpen, openSlack } from "./outbound.ts";
import type { AuditSink } from "./ports.ts";
import type { Health } from "./ports/monitoring.ts";
import type { Store } from "./ports/store.ts";
import type { ApiKey } from "./reload.ts";
import { programVersion } from "./version.ts";
/** The maximum number of polls in progress. */
export const MAX_POLLS_IN_FLIGHT = 128;
/** How long a poll in progress has at a stop (ms). */
const CALLS_GRACE_MS = 500;
export const digest = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
export const nonce = (): Nonce => Nonce(randomBytes(16).toString("base64url"));

export type Closers = (() => Promise<void>)[];
/** What exists only once Slack was reached: health answers earlier. */
export type Current = { app: SlackApp | null; health: Health | null };

export function rejecting(metrics: Metrics, log: Log, { monotonic }: Clock): RejectedRequests {
  return createRejectedRequests({
    count: (reason) => metrics.rejectedRequests(reason),
    log,
    monotonic,
  });
}

function tellAuditKey(log: Log, news: AuditKeyNews): void {
  log.warn({ file: news.file }, "created a key that signs the audit; keep a copy of it");
}

export function openConfiguredStore(
  config: Config,
  { clock, log, metrics }: { readonly clock: MachineClock; readonly log: Log; readonly metrics: Metrics },
): Promise<Store> {
  const { database } = config;
  const alone = database.engine === "sqlite";
  return openStore({
    url: database.engine === "sqlite" ? `sqlite:${database.path}` : database.url,
    owner: `${hostname()} ${process.pid}`,
    now: clock.monotonic,
    onNewestTime: alone ? clock.continueAfter : clock.beginAt,
    leaseMs: alone ? ALONE.leaseMs : SHARED.leaseMs,
    auditKey: config.audit.key,
    onCommit: (seconds) => metrics.committed(seconds),
    onAuditKey: (news) => tellAuditKey(log, news),
    onCorrupt: (run, error) => log.error({ run, error }, "cannot read a stored run; skipping it"),
  });
}

export function openAuditSink({ audit, proxies }: Config, closers: Closers): AuditSink | null {
  if (audit.sink === null) return null;
  const sink = openSink(audit.sink, { open: createOpen(proxies) });
  closers.push(() => sink.close());
  return sink;
}

type Outside = {
  readonly config: Config;
  readonly key: ApiKey;
  readonly store: Store;
  /** Names this installation in the marks of its messages. */
  readonly home: string;
  readonly rejectedRequests: RejectedRequests;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Metrics;
};

const HOME = "home";
const HOME_CHARS = 16;

/** A name of this installation that its copies keep: from the first link of its audit, so that all replicas find the same. */
export async function homeOf(store: Store, log: Log): Promise<string> {
  const known = await store.document(HOME);
  if (typeof known === "string") return known;
  const first = await store.auditEntry(1).catch((error: unknown) => {
    // The check of the audit says what is wrong with it.
    log.warn({ error }, UNNAMED);
    return null;
  });
  const home = first?.link.slice(0, HOME_CHARS) ?? "";
  if (home !== "") await store.putDocument(HOME, home);
  return home;
}

const UNNAMED = "messages do not name this installation: the first entry of the audit cannot be read";

export async function openOutside(
  { config, key, store, home, rejectedRequests, log, clock, metrics }: Outside,
  closers: Closers,
) {
  const open = createOpen(config.proxies);
  const agents = createAgentService({
    ...config.agents,
    ...clock,
    apiKey: key.now,
    open,
    connections: MAX_POLLS_IN_FLIGHT,
  });
  closers.push(() =>
    Promise.race([agents.close(), timers.setTimeout(CALLS_GRACE_MS, undefined, { ref: false })]),
  );
  const gateway = createGateway({ baseUrl: config.gatewayUrl, open, monotonic: clock.monotonic });
  closers.push(() => gateway.close());
  const through = openSlack(config.proxies);
  closers.push(async () => through.dispatcher.destroy());
  const { botToken, apiUrl, command, appId } = config.slack;
  const deployment = { name: config.slack.deployment, runUrl: config.runUrl };
  const names = { transport: { ...config.slack, seen: store }, botToken, apiUrl, command, deployment, appId };
  const slack = await createSlack({
    ...names,
    home,
    through,
    alone: config.database.engine === "sqlite",
    rejectedRequests,
    logger: slackLogger(log),
    log,
    clock,
    metrics,
    digest,
    nonce,
  });
  return { agents, gateway, slack, drawLookBack: createDrawLookBack() };
}

type Served = {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly current: Current;
  readonly rejectedRequests: RejectedRequests;
};

export async function startPort(served: Served, closers: Closers): Promise<string> {
  const { config, metrics, store, current, rejectedRequests } = served;
  const version = programVersion();
  const listener: RequestListener = (request, response) => {
    if (current.app?.listener) current.app.listener(request, response);
    else response.writeHead(503).end();
  };
  const slack = config.slack.mode === "http" ? { slack: { path: EVENTS_PATH, listener } } : {};
  const http = await startHttp({
    ...config.http,
    live: () => current.health?.live() ?? true,
    ready: async () => readinessOf(await (current.health?.parts() ?? partsBeforeSlack(store)), version),
    metrics: () => metrics.expose(),
    rejectedRequests,
    ...slack,
  });
  closers.push(() => http.close());
  return http.url;
}
