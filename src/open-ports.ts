// Opens everything that the bot talks to: the store, the agent service, the gateway, Slack and the audit sink. Also opens the bot's own
// HTTP port.

import { randomBytes } from "node:crypto";
import type { RequestListener } from "node:http";
import { hostname } from "node:os";
import timers from "node:timers/promises";
import { createDrawLookBack } from "./adapters/chart/draw-look-back.ts";
import { createAgentService } from "./adapters/agents/agent-service.ts";
import { createGateway } from "./adapters/agents/health-endpoints.ts";
import { openSink } from "./adapters/audit-sink/open-sink.ts";
import type { Metrics } from "./adapters/http/metrics.ts";
import { readinessOf, startHttp } from "./adapters/http/server.ts";
import type { SlackApp } from "./adapters/slack/bolt-app.ts";
import { EVENTS_PATH } from "./adapters/slack/request-verifier.ts";
import { reachSlack } from "./adapters/slack/reach-slack.ts";
import { createSlack } from "./adapters/slack/slack-adapter.ts";
import { digestOf } from "./adapters/store/audit-key.ts";
import { type AuditKeyNews, openStore, type StoreOptions } from "./adapters/store/open.ts";
import { nameOf } from "./adapters/store/postgres.ts";
import type { Config } from "./config.ts";
import { Nonce } from "./domain/ids.ts";
import type { Clock, MachineClock } from "./engine/clock.ts";
import { createMissedTime } from "./engine/missed-time.ts";
import { createPartsBeforeSlack } from "./engine/health.ts";
import { ALONE, SHARED } from "./engine/lease-keeper.ts";
import { createQuietWarnings } from "./engine/logging.ts";
import { type Log, slackLogger } from "./log.ts";
import { createOpen, openSlack } from "./outbound.ts";
import type { AuditSink } from "./ports.ts";
import type { Health } from "./ports/monitoring.ts";
import type { Store } from "./ports/store.ts";
import type { ApiKey } from "./reload.ts";
import { programVersion } from "./version.ts";
/** The maximum number of polls in progress. */
export const MAX_POLLS_IN_FLIGHT = 128;
/** At a stop, polls in progress get this long to finish (ms). */
const CALLS_GRACE_MS = 500;
export const nonce = (): Nonce => Nonce(randomBytes(16).toString("base64url"));

export type Closers = (() => Promise<void>)[];
/** The parts that exist only once Slack has been reached. The HTTP port is open before that. */
export type Current = { app: SlackApp | null; health: Health | null };

/** `reason` is one of our own words. Nothing that a stranger sent reaches the log. */
type RejectedRequests = (reason: string) => void;

/** Counts every rejected request. Logs each reason at most once a minute, at any level, so that a stranger cannot fill the log. */
export function createRejectionCounter(
  metrics: Pick<Metrics, "rejectedRequests">,
  log: Pick<Log, "warn">,
  clock: Pick<Clock, "monotonic">,
): RejectedRequests {
  const warn = createQuietWarnings({
    log: { warn: (fields, message) => log.warn(fields, message), debug: () => undefined },
    clock,
  });
  return (reason) => {
    metrics.rejectedRequests(reason);
    warn(reason, { reason }, "rejected a request");
  };
}

function logNewAuditKey(log: Log, { file }: AuditKeyNews): void {
  log.warn({ file }, "created a key that signs the audit; keep a copy of it");
}

/** With a given key, a start cannot tell a new installation from a lost database. */
function warnOfNewTables(log: Log, { database, audit }: Config): void {
  if (audit.key === null) return;
  const name = database.engine === "sqlite" ? database.path : nameOf(database.url);
  log.warn({ database: name }, FIRST_START);
}

const FIRST_START =
  "this is the first start on this database, which was empty. For a new installation, that is right. If Countersign ran before with this AUDIT_KEY, this is not its database: the freezes, stops, watched runs and unsent decisions are missing, and a second audit begins. Then stop it, and correct DATABASE_URL or restore a backup (docs/backup.md)";

/** Returns what to do with each time of the database: the clock catches up with the time that passed while this machine was suspended. */
function catchingUp(clock: MachineClock, log: Pick<Log, "warn">): NonNullable<StoreOptions["onTime"]> {
  const missedTime = createMissedTime();
  return ({ at: database, tookMs }) => {
    const monotonic = clock.monotonic();
    const suspendedMs = missedTime({ monotonic, wall: clock.now(), database, tookMs });
    if (suspendedMs === 0) return;
    clock.continueAfter(monotonic + suspendedMs);
    log.warn({ suspendedMs }, "this machine was suspended; the clock for waits and holds has caught up");
  };
}

export function openConfiguredStore(
  config: Config,
  { clock, log, metrics }: { readonly clock: MachineClock; readonly log: Log; readonly metrics: Metrics },
): Promise<Store> {
  const { database } = config;
  const isAlone = database.engine === "sqlite";
  return openStore({
    url: database.engine === "sqlite" ? `sqlite:${database.path}` : database.url,
    owner: `${hostname()} ${process.pid}`,
    now: clock.monotonic,
    onNewestTime: isAlone ? clock.continueAfter : clock.beginAt,
    // A single process has its own clock only, and a suspension counts as a pause of the requests.
    ...(isAlone ? {} : { onTime: catchingUp(clock, log) }),
    leaseMs: isAlone ? ALONE.leaseMs : SHARED.leaseMs,
    auditKey: config.audit.key,
    onCommit: (seconds) => metrics.committed(seconds),
    onNewTables: () => warnOfNewTables(log, config),
    onAuditKey: (news) => logNewAuditKey(log, news),
    onCorrupt: (run, error) => log.error({ run, error }, "cannot read a stored run; skipping it"),
  });
}

export function openAuditSink({ audit, proxies }: Config, closers: Closers): AuditSink | null {
  if (audit.sink === null) return null;
  const sink = openSink(audit.sink, { open: createOpen(proxies) });
  closers.push(() => sink.close());
  return sink;
}

type SlackDeps = {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Metrics;
};

/** Resolves once Slack has accepted the tokens, however long that takes. Rejects with a one-line message if Slack refuses one. */
export async function reachConfiguredSlack({ config, log, ...deps }: SlackDeps, closers: Closers) {
  const through = openSlack(config.proxies);
  closers.push(async () => through.dispatcher.destroy());
  const reached = await reachSlack({ ...config.slack, ...deps, through, logger: slackLogger(log), log });
  return { reached, through };
}

type ServiceDeps = {
  readonly config: Config;
  readonly key: ApiKey;
  readonly store: Store;
  readonly slack: Awaited<ReturnType<typeof reachConfiguredSlack>>;
  /** The name of this installation, which Slack messages carry in their metadata. */
  readonly home: string;
  readonly rejectedRequests: RejectedRequests;
  readonly log: Log;
  readonly clock: Clock;
};

const HOME = "home";
const HOME_CHARS = 16;

/**
 * Resolves to this installation's name, which a copy of the database keeps. It is derived from the link of the first audit entry, so all
 * replicas get the same name.
 */
export async function homeOf(store: Store, log: Log): Promise<string> {
  const storedName = await store.document(HOME);
  if (typeof storedName === "string") return storedName;
  const first = await store.auditEntry(1).catch((error: unknown) => {
    // The integrity check reports what is wrong with the audit.
    log.warn({ error }, UNNAMED);
    return null;
  });
  const home = first?.link.slice(0, HOME_CHARS) ?? "";
  if (home !== "") await store.putDocument(HOME, home);
  return home;
}

const UNNAMED = "messages do not name this installation: the first entry of the audit cannot be read";

export function openServices(
  { config, key, store, slack: { reached, through }, home, rejectedRequests, log, clock }: ServiceDeps,
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
  const { botToken, apiUrl, command, quickMs } = config.slack;
  const deployment = { name: config.slack.deployment, runUrl: config.runUrl, command };
  const names = { transport: { ...config.slack, seen: store }, botToken, apiUrl, command, deployment };
  const slack = createSlack(reached, {
    ...names,
    home,
    documents: store,
    auditLog: store,
    through,
    quickMs,
    alone: config.database.engine === "sqlite",
    rejectedRequests,
    logger: slackLogger(log),
    log,
    clock,
    digest: digestOf,
    nonce,
    macOf: (words) => store.macOf(words),
  });
  return { agents, gateway, slack, drawLookBack: createDrawLookBack() };
}

type PortDeps = {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly clock: Clock;
  readonly current: Current;
  readonly rejectedRequests: RejectedRequests;
};

/** Resolves to the URL of the port. */
export async function startHttpPort(
  { config, metrics, store, clock, current, rejectedRequests }: PortDeps,
  closers: Closers,
): Promise<string> {
  const version = programVersion();
  const partsBeforeSlack = createPartsBeforeSlack({ store, clock });
  const listener: RequestListener = (request, response) => {
    if (current.app?.listener) current.app.listener(request, response);
    else response.writeHead(503).end();
  };
  const slack = config.slack.mode === "http" ? { slack: { path: EVENTS_PATH, listener } } : {};
  const http = await startHttp({
    ...config.http,
    live: () => current.health?.live() ?? true,
    ready: async () => readinessOf(await (current.health?.parts() ?? partsBeforeSlack()), version),
    metrics: () => metrics.expose(),
    rejectedRequests,
    ...slack,
  });
  closers.push(() => http.close());
  return http.url;
}
