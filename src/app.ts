// The composition root: builds every part once, in order, and closes them in the opposite order.

import { createHash, randomBytes } from "node:crypto";
import type { RequestListener } from "node:http";
import { hostname } from "node:os";
import timers from "node:timers/promises";
import { createAgentService } from "./adapters/agents/agent-service.ts";
import { createGateway } from "./adapters/agents/health.ts";
import {
  createMetrics,
  createRejectedRequests,
  type Metrics,
  type RejectedRequests,
} from "./adapters/http/metrics.ts";
import { openSink } from "./adapters/audit-sink/open-sink.ts";
import { readinessOf, startHttp } from "./adapters/http/server.ts";
import { createPolicyFollower } from "./adapters/policy-file/follow-policy.ts";
import { createPolicyHolder, type PolicyHolder } from "./adapters/policy-file/policy-holder.ts";
import type { SlackApp } from "./adapters/slack/bolt-app.ts";
import { EVENTS_PATH } from "./adapters/slack/request-verifier.ts";
import { createSlack, type SlackAdapter } from "./adapters/slack/slack-adapter.ts";
import { type AuditKeyNews, openStore } from "./adapters/store/open.ts";
import { policyLoadedEntry, type Program, programStartedEntry } from "./audit/entry.ts";
import { type Bot, createBot } from "./bot.ts";
import { type Config, programVersion, secretsOf } from "./config.ts";
import type { Context } from "./domain/context.ts";
import { ChannelId, GroupId, Nonce, type TeamId, UserId } from "./domain/ids.ts";
import { builtInFor, type Rule } from "./domain/policy/policy.ts";
import { keepSecrets } from "./domain/text/own-secrets.ts";
import { createFreezes, type Freezes } from "./engine/freezes.ts";
import { type Clock, createClock, type MachineClock } from "./engine/clock.ts";
import { logAudit } from "./engine/audit-lines.ts";
import { partsBeforeSlack } from "./engine/health.ts";
import { ALONE, SHARED } from "./engine/lease-keeper.ts";
import { slowestProbeMs } from "./engine/service-breaker.ts";
import { hearStoreFaults } from "./engine/store-faults.ts";
import { type Log, slackLogger } from "./log.ts";
import { createOpen, openSlack } from "./outbound.ts";
import type { AuditReaders, AuditSink } from "./ports.ts";
import type { Health, SlackHealth } from "./ports/monitoring.ts";
import type { Store } from "./ports/store.ts";
import { type ApiKey, createApiKey, createReloading, type Reloading } from "./reload.ts";

export type App = {
  /** Where health and metrics are served. */
  readonly url: string;
  /** Reads the policy and the service's key again, where they are files. Logs faults and keeps what was in force. Never rejects. */
  reload(): Promise<void>;
  /** Accepts no more work, finishes or hands back work in progress, closes. May be called twice. */
  stop(): Promise<void>;
};

/** The maximum number of polls in progress. */
const MAX_POLLS_IN_FLIGHT = 128;
/** How long a balancer has, in HTTP mode, to see at /readyz that we stop, while we still take its requests (ms). */
const LAST_REQUESTS_MS = 2_000;
/** How long listeners, and then effects, have to finish at a stop (ms). The whole stop stays below 10 s. */
const LISTENERS_GRACE_MS = 2_000;
const EFFECTS_GRACE_MS = 5_000;
/** How long a poll in progress has at a stop (ms). */
const CALLS_GRACE_MS = 500;
const digest = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
const nonce = (): Nonce => Nonce(randomBytes(16).toString("base64url"));
const thisProcess = randomBytes(16).toString("base64url");
const newKey = (): string => randomBytes(10).toString("hex");

/** Rejects with one line for people when a part is unusable: a refused token, an unusable database, a port in use. */
export async function startApp(config: Config, log: Log): Promise<App> {
  keepSecrets(secretsOf(config));
  const closers: Closers = [];
  const stop = async (): Promise<void> => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
      await close().catch((error: unknown) => log.error({ error }, "could not close a part cleanly"));
    }
  };
  try {
    const { url, reload } = await build(config, log, closers);
    return { url, reload, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Closers = (() => Promise<void>)[];
/** What exists only once Slack was reached: health answers earlier. */
type Current = { app: SlackApp | null; health: Health | null };

function turningAway(metrics: Metrics, log: Log, { monotonic }: Clock): RejectedRequests {
  return createRejectedRequests({
    count: (reason) => metrics.rejectedRequests(reason),
    log,
    monotonic,
  });
}

function tellAuditKey(log: Log, news: AuditKeyNews): void {
  log.warn({ file: news.file }, "created a key that signs the audit; keep a copy of it");
}

function auditReaders({ audit }: Config, team: TeamId): AuditReaders {
  const channel = audit.channel === null ? null : ChannelId(audit.channel);
  return { team, channel, admins: audit.admins.map(UserId) };
}

function mentioned({ approvers }: Config): Rule["mention"] {
  return { users: approvers.users.map(UserId), groups: approvers.groups.map(GroupId) };
}

function openOurStore(config: Config, clock: MachineClock, log: Log): Promise<Store> {
  const { database } = config;
  const alone = database.engine === "sqlite";
  return openStore({
    url: database.engine === "sqlite" ? `sqlite:${database.path}` : database.url,
    owner: `${hostname()} ${process.pid}`,
    now: clock.monotonic,
    onNewestTime: alone ? clock.continueAfter : clock.beginAt,
    leaseMs: alone ? ALONE.leaseMs : SHARED.leaseMs,
    auditKey: config.audit.key,
    onAuditKey: (news) => tellAuditKey(log, news),
    onCorrupt: (run, error) => log.error({ run, error }, "cannot read a stored run; skipping it"),
  });
}

type Watching = { readonly clock: Clock; readonly metrics: Metrics; readonly log: Log };

/** The store, whose faults and audit entries are told. */
function watched(opened: Store, { clock, metrics, log }: Watching) {
  const { store, faults } = hearStoreFaults(opened, { clock, metrics });
  return { store: logAudit(store, log), storeFaults: faults };
}

async function build(config: Config, log: Log, closers: Closers): Promise<Omit<App, "stop">> {
  const policy = await createPolicyHolder(config.policyFile, log, builtInFor(mentioned(config)));
  const current: Current = { app: null, health: null };
  const metrics = createMetrics();
  const clock = createClock();
  const opened = await openOurStore(config, clock, log);
  closers.push(() => opened.close());
  const { store, storeFaults } = watched(opened, { clock, metrics, log });
  await store.audit([programStartedEntry(program(config), now()), policyLoadedEntry(policy.loaded(), now())]);
  const rejectedRequests = turningAway(metrics, log, clock);
  const url = await startDoors({ config, metrics, store, current, rejectedRequests }, closers);
  const key = createApiKey(config.agents, log);
  const doors = await openDoors({ config, key, store, rejectedRequests, log, clock, metrics }, closers);
  const freezes = createFreezes(store);
  const context = contextOf({ config, clock, policy, freezes });
  const audit = auditReaders(config, doors.slack.self.team);
  const health = { storeFaults, slackHealth: slackHealthOf(doors.slack, current), version: programVersion() };
  const ports = { ...doors, ...doors.slack, ...health, store, freezes, audit, clock, context };
  const sharing = {
    auditSink: openAuditSink(config, closers),
    keepFinishedMs: config.keepFinishedMs,
    leaseTimes: config.database.engine === "sqlite" ? ALONE : SHARED,
    followPolicy: createPolicyFollower(policy, store, log),
  };
  const flow = createBot(
    { ...ports, ...sharing, newKey, random: Math.random, log, metrics },
    { ...config.poll, maxInFlight: MAX_POLLS_IN_FLIGHT },
  );
  const runs = await startWork({ flow, app: doors.slack.app(flow), current }, closers);
  const { team } = doors.slack.self;
  const facts = { team, mode: config.slack.mode, policy: policy.now().version };
  log.info({ url, ...facts, runs }, "Countersign is ready");
  const reload = startReloading({ config, policy, key, store, flow, clock, log, stamp: now }, closers);
  return { url, reload };
}

type Work = { readonly flow: Bot; readonly app: SlackApp; readonly current: Current };

/** Resolves to how many runs are followed, once Slack's payloads reach us. */
async function startWork({ flow, app, current }: Work, closers: Closers): Promise<number> {
  closers.push(() => flow.stop(EFFECTS_GRACE_MS));
  const runs = await flow.start();
  current.health = flow.health;
  await app.start();
  current.app = app;
  flow.health.start();
  closers.push(() => app.stop(LISTENERS_GRACE_MS, LAST_REQUESTS_MS));
  return runs;
}

function startReloading(parts: Reloading, closers: Closers): App["reload"] {
  const reloading = createReloading(parts);
  reloading.start();
  closers.push(() => reloading.stop());
  return () => reloading.reload();
}

function slackHealthOf({ token }: Pick<SlackAdapter, "token">, current: Current): SlackHealth {
  return { ...token, connection: () => current.app?.connection() ?? "starting" };
}

function openAuditSink({ audit, proxies }: Config, closers: Closers): AuditSink | null {
  if (audit.sink === null) return null;
  const sink = openSink(audit.sink, { open: createOpen(proxies) });
  closers.push(() => sink.close());
  return sink;
}

const now = () => ({ now: Date.now(), digest });

type Deciding = {
  readonly config: Config;
  readonly clock: Clock;
  readonly policy: PolicyHolder;
  readonly freezes: Freezes;
};

const contextOf =
  ({ config, clock, policy, freezes }: Deciding) =>
  (): Context => ({
    now: clock.now(),
    monotonic: clock.monotonic(),
    process: thisProcess,
    digest,
    nonce,
    slowestRetryMs: slowestProbeMs(config.poll.maxMs),
    policy: policy.now(),
    freezes: freezes.now(),
  });

const program = (config: Config): Program => ({
  version: programVersion(),
  node: process.versions.node,
  config: config.recorded,
});

type Outside = {
  readonly config: Config;
  readonly key: ApiKey;
  readonly store: Store;
  readonly rejectedRequests: RejectedRequests;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Metrics;
};

async function openDoors(
  { config, key, store, rejectedRequests, log, clock, metrics }: Outside,
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
  closers.push(async () => through?.dispatcher.destroy());
  const { botToken, apiUrl, command, appId } = config.slack;
  const deployment = { name: config.slack.deployment, runUrl: config.runUrl };
  const names = { transport: { ...config.slack, seen: store }, botToken, apiUrl, command, deployment, appId };
  const slack = await createSlack({
    ...names,
    through,
    rejectedRequests,
    logger: slackLogger(log),
    log,
    clock,
    metrics,
    digest,
    nonce,
  });
  return { agents, gateway, slack };
}

type Served = {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly current: Current;
  readonly rejectedRequests: RejectedRequests;
};

async function startDoors(served: Served, closers: Closers): Promise<string> {
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
