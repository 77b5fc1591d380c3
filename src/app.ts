// The composition root: builds every part once, in order, and closes them in the opposite order.

import { randomBytes } from "node:crypto";
import { createMetrics, type Metrics } from "./adapters/http/metrics.ts";
import {
  createPolicyFollower,
  createPolicyHolder,
  type PolicyHolder,
} from "./adapters/policy-file/policy-holder.ts";
import type { SlackApp } from "./adapters/slack/bolt-app.ts";
import { policyLoadedEntry, type Program, programStartedEntry } from "./audit/entry.ts";
import { type Bot, createBot } from "./bot.ts";
import { type Config, secretsOf } from "./config.ts";
import type { Context } from "./domain/context.ts";
import { ChannelId, GroupId, type TeamId, UserId } from "./domain/ids.ts";
import { builtInFor, type Rule } from "./domain/policy/policy.ts";
import { keepSecrets } from "./domain/text/own-secrets.ts";
import { type Clock, createClock } from "./engine/clock.ts";
import { createFreezes, type Freezes } from "./engine/shared-news.ts";
import { ALONE, SHARED } from "./engine/lease-keeper.ts";
import { slowestProbeMs } from "./engine/service-breaker.ts";
import { listenTo } from "./engine/listened-store.ts";
import type { Log } from "./log.ts";
import {
  type Closers,
  type Current,
  digest,
  homeOf,
  MAX_POLLS_IN_FLIGHT,
  nonce,
  openAuditSink,
  openConfiguredStore,
  openOutside,
  rejecting,
  startPort,
} from "./open-ports.ts";
import type { AuditReaders } from "./ports/notification.ts";
import { createApiKey, createReloading, type Reloading } from "./reload.ts";
import { programVersion } from "./version.ts";

export type App = {
  /** Where health and metrics are served. */
  readonly url: string;
  /** Reads the policy and the service's key again, where they are files. Logs faults and keeps what was in force. Never rejects. */
  reload(): Promise<void>;
  /** Accepts no more work, finishes or hands back work in progress, closes. May be called twice. */
  stop(): Promise<void>;
};

/** How long a balancer has, in HTTP mode, to see at /readyz that we stop, while we still take its requests (ms). */
const LAST_REQUESTS_MS = 2_000;
/** How long listeners, and then effects, have to finish at a stop (ms). The whole stop stays below 10 s. */
const LISTENERS_GRACE_MS = 2_000;
const EFFECTS_GRACE_MS = 5_000;
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

function auditReaders({ audit }: Config, team: TeamId): AuditReaders {
  const channel = audit.channel === null ? null : ChannelId(audit.channel);
  return { team, channel, admins: audit.admins.map(UserId) };
}

function mentioned({ approvers }: Config): Rule["mention"] {
  return { users: approvers.users.map(UserId), groups: approvers.groups.map(GroupId) };
}

async function build(config: Config, log: Log, closers: Closers): Promise<Omit<App, "stop">> {
  const policy = await createPolicyHolder(config.policyFile, log, builtInFor(mentioned(config)));
  const current: Current = { app: null, health: null };
  const metrics = createMetrics({ version: programVersion(), node: process.versions.node, at: Date.now() });
  const clock = createClock();
  const opened = await openConfiguredStore(config, { clock, log, metrics });
  closers.push(() => opened.close());
  const { store, storeFaults } = listenTo(opened, { clock, metrics, log });
  await store.audit([programStartedEntry(program(config), now()), policyLoadedEntry(policy.loaded(), now())]);
  const rejectedRequests = rejecting(metrics, log, clock);
  const url = await startPort({ config, metrics, store, current, rejectedRequests }, closers);
  const key = createApiKey(config.agents, log);
  const home = await homeOf(store, log);
  const asked = { config, key, store, home, rejectedRequests, log, clock, metrics };
  const outside = await openOutside(asked, closers);
  const freezes = createFreezes(store);
  const audit = auditReaders(config, outside.slack.self.team);
  const health = {
    storeFaults,
    slackHealth: outside.slack.health(() => current.app),
    version: programVersion(),
  };
  const deciding = { freezes, audit, clock, context: contextOf({ config, clock, policy, freezes }) };
  const ports = { ...outside, ...outside.slack, ...health, ...deciding, store };
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
  const runs = await startWork({ flow, app: outside.slack.app(flow), current, metrics }, closers);
  tellReady(log, { url, runs, config, policy, team: audit.team });
  const onPolicy = (ok: boolean, at: number): void => metrics.policyReload(ok, at);
  const parts = { config, policy, key, store, flow, clock, log, onPolicy, stamp: now };
  return { url, reload: startReloading(parts, closers) };
}

type Started = {
  readonly url: string;
  readonly runs: number;
  readonly config: Config;
  readonly policy: PolicyHolder;
  readonly team: TeamId;
};

function tellReady(log: Log, { url, runs, config, policy, team }: Started): void {
  const facts = { version: programVersion(), url, team, mode: config.slack.mode, runs };
  log.info({ ...facts, policy: policy.now().version }, "Countersign is ready");
}

type Work = {
  readonly flow: Bot;
  readonly app: SlackApp;
  readonly current: Current;
  readonly metrics: Metrics;
};

/** Resolves to how many runs are followed, once Slack's payloads reach us. */
async function startWork({ flow, app, current, metrics }: Work, closers: Closers): Promise<number> {
  closers.push(() => flow.stop(EFFECTS_GRACE_MS));
  const runs = await flow.start();
  current.health = flow.health;
  metrics.readFrom(() => flow.readings());
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
