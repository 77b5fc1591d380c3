// The composition root: builds every part once, in order, and closes the parts in reverse order.

import { randomBytes } from "node:crypto";
import { createMetrics, type Metrics } from "./adapters/http/metrics.ts";
import {
  createPolicyFollower,
  createPolicyHolder,
  type PolicyHolder,
} from "./adapters/policy-file/policy-holder.ts";
import type { SlackApp } from "./adapters/slack/bolt-app.ts";
import { digestOf } from "./adapters/store/audit-key.ts";
import { policyLoadedEntry, type Program, programStartedEntry } from "./audit/entry.ts";
import { type Bot, createBot } from "./bot.ts";
import { type Config, secretsOf } from "./config.ts";
import type { Context } from "./domain/context.ts";
import { ChannelId, GroupId, type TeamId, UserId } from "./domain/ids.ts";
import { builtInFor, type Rule } from "./domain/policy/policy.ts";
import { keepSecrets } from "./domain/text/own-secrets.ts";
import { logAudit } from "./engine/audit-log-lines.ts";
import { type Clock, createClock } from "./engine/clock.ts";
import { createFreezes, type Freezes } from "./engine/freezes.ts";
import { ALONE, SHARED } from "./engine/lease-keeper.ts";
import { slowestProbeMs } from "./engine/service-breaker.ts";
import { countStoreFaults } from "./engine/store-faults.ts";
import type { Log } from "./log.ts";
import {
  type Closers,
  type Current,
  createRejectionCounter,
  homeOf,
  MAX_POLLS_IN_FLIGHT,
  nonce,
  openAuditSink,
  openConfiguredStore,
  openServices,
  reachConfiguredSlack,
  startHttpPort,
} from "./open-ports.ts";
import type { AuditReaders } from "./ports/notification.ts";
import type { Store } from "./ports/store.ts";
import { createApiKey, createReloading, type Reloading } from "./reload.ts";
import { programVersion } from "./version.ts";

export type App = {
  /** The address that serves health and metrics. */
  readonly url: string;
  /** Reads the policy's file and the service key's file again. Logs faults and keeps what was in force. Never rejects. */
  reload(): Promise<void>;
  /** Accepts no more work, finishes or hands back work in progress, and closes every part. May be called twice. */
  stop(): Promise<void>;
};

/** In HTTP mode, a stopping process accepts requests for this long (ms), so that a balancer can see at /readyz that it is stopping. */
const LAST_REQUESTS_MS = 2_000;
/** At a stop, the listeners get this long to finish, and then the effects (ms). The whole stop stays below 10 s. */
const LISTENERS_GRACE_MS = 2_000;
const EFFECTS_GRACE_MS = 5_000;
const thisProcess = randomBytes(16).toString("base64url");
const newKey = (): string => randomBytes(10).toString("hex");

export type AppListeners = {
  /**
   * Gets what works from the beginning, because the start may wait long for Slack. Until Slack's Web API has answered, there is no bot, so
   * nothing is polled or sent. While only the socket is missing, the bot polls and sends decisions already.
   */
  readonly onBegin: (app: Pick<App, "reload" | "stop">) => void;
  /** Called if the store refuses this process for good. The app must then be stopped. May be called more than once. */
  readonly onRefused: (error: Error) => void;
};

/**
 * Rejects with a one-line message for people if a part is unusable: a refused token, an unusable database, a port in use. After a stop, the
 * start may reject or never end.
 */
export async function startApp(
  config: Config,
  log: Log,
  { onBegin = () => undefined, onRefused = () => undefined }: Partial<AppListeners> = {},
): Promise<App> {
  keepSecrets(secretsOf(config));
  const closers: Closers = [];
  let reload: App["reload"] = () => Promise.resolve();
  /**
   * Closes the newest part first:
   * 1. Slack's listeners, so that no more clicks are taken;
   * 2. the reloading;
   * 3. the bot, which finishes its effects and hands its runs back;
   * 4. the audit sink, the gateway and the agent service, which the bot uses until then;
   * 5. the connections to Slack;
   * 6. the HTTP port, so that until then /readyz says that the process is stopping;
   * 7. the store.
   *
   * The listeners and the bot are pushed before they start, so that they are closed after a failed start as well.
   */
  const stop = async (): Promise<void> => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
      await close().catch((error: unknown) => log.error({ error }, "could not close a part cleanly"));
    }
  };
  onBegin({ reload: () => reload(), stop });
  try {
    const setReload = (ready: App["reload"]): void => void (reload = ready);
    const url = await build(config, log, { closers, setReload, onRefused });
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

function mentionedApprovers({ approvers }: Config): Rule["mention"] {
  return { users: approvers.users.map(UserId), groups: approvers.groups.map(GroupId) };
}

type Building = Pick<AppListeners, "onRefused"> & {
  readonly closers: Closers;
  readonly setReload: (reload: App["reload"]) => void;
};

/** Resolves to the address that serves health and metrics. */
async function build(config: Config, log: Log, { closers, setReload, onRefused }: Building): Promise<string> {
  const policy = await createPolicyHolder(config.policyFile, log, builtInFor(mentionedApprovers(config)));
  const current: Current = { app: null, health: null };
  const metrics = createMetrics({ version: programVersion(), node: process.versions.node, at: Date.now() });
  const clock = createClock();
  const opened = await openConfiguredStore(config, { clock, log, metrics });
  closers.push(() => opened.close());
  const { store, storeFaults } = countStoreFaults(logAudit(opened, log), { clock, metrics, onRefused });
  const rejectedRequests = createRejectionCounter(metrics, log, clock);
  const url = await startHttpPort({ config, metrics, store, clock, current, rejectedRequests }, closers);
  const slack = await reachConfiguredSlack({ config, log, clock, metrics }, closers);
  await recordStart({ config, policy, store });
  const key = createApiKey(config.agents, log);
  const shared = { store, log, clock, metrics, home: await homeOf(store, log) };
  const services = openServices({ ...shared, config, key, slack, rejectedRequests }, closers);
  const freezes = createFreezes(store, log);
  const audit = auditReaders(config, services.slack.self.team);
  const ports = {
    ...services,
    ...services.slack,
    ...shared,
    storeFaults,
    slackHealth: services.slack.health(() => current.app),
    freezes,
    audit,
    context: contextOf({ config, clock, policy, freezes }),
    ...fixedDeps(config),
    auditSink: openAuditSink(config, closers),
    followPolicy: createPolicyFollower(policy, store, log),
    isKeyFileUnusable: key.isFileUnusable,
    policyReading: () => policy.lastReload().outcome,
  };
  const bot = createBot(ports, { ...config.poll, maxInFlight: MAX_POLLS_IN_FLIGHT });
  const onPolicy = (ok: boolean, at: number): void => metrics.policyReload(ok, at);
  const reloading = { config, policy, key, store, bot, clock, log, onPolicy, auditStamp };
  const onFollowing = (): void => setReload(startReloading(reloading, closers));
  const runs = await startWork({ bot, app: services.slack.app(bot), current, metrics, onFollowing }, closers);
  logReady(log, { url, runs, config, policy, team: audit.team });
  return url;
}

type StartFacts = { readonly config: Config; readonly policy: PolicyHolder; readonly store: Store };

/**
 * Puts this process's policy into force in all replicas. A start that fails must change nothing, so this comes after the port is open and
 * Slack has accepted the tokens. The policy file may have changed during a long wait for Slack.
 */
async function recordStart({ config, policy, store }: StartFacts): Promise<void> {
  if (await policy.isOutdated()) await policy.reload();
  await store.audit([
    programStartedEntry(program(config), auditStamp()),
    policyLoadedEntry(policy.loaded(), auditStamp()),
  ]);
}

const fixedDeps = ({ keepFinishedMs, database }: Config) => ({
  keepFinishedMs,
  leaseTimes: database.engine === "sqlite" ? ALONE : SHARED,
  version: programVersion(),
  newKey,
  random: Math.random,
});

type Started = {
  readonly url: string;
  readonly runs: number;
  readonly config: Config;
  readonly policy: PolicyHolder;
  readonly team: TeamId;
};

function logReady(log: Log, { url, runs, config, policy, team }: Started): void {
  const facts = { version: programVersion(), url, team, mode: config.slack.mode, runs };
  log.info({ ...facts, policy: policy.now().version }, "Countersign is ready");
}

type Work = {
  readonly bot: Bot;
  readonly app: SlackApp;
  readonly current: Current;
  readonly metrics: Metrics;
  /** Called once the bot follows its runs. Waiting for Slack comes after that. */
  readonly onFollowing: () => void;
};

/** Resolves to the number of runs that this process follows, once it receives payloads from Slack. */
async function startWork(
  { bot, app, current, metrics, onFollowing }: Work,
  closers: Closers,
): Promise<number> {
  closers.push(() => bot.stop(EFFECTS_GRACE_MS));
  const runs = await bot.start();
  onFollowing();
  current.health = bot.health;
  metrics.readFrom(() => bot.readings());
  closers.push(() => app.stop(LISTENERS_GRACE_MS, LAST_REQUESTS_MS));
  await app.start();
  current.app = app;
  bot.health.start();
  return runs;
}

function startReloading(parts: Reloading, closers: Closers): App["reload"] {
  const reloading = createReloading(parts);
  reloading.start();
  closers.push(() => reloading.stop());
  return () => reloading.reload();
}

const auditStamp = () => ({ now: Date.now(), digest: digestOf });

type ContextParts = {
  readonly config: Config;
  readonly clock: Clock;
  readonly policy: PolicyHolder;
  readonly freezes: Freezes;
};

const contextOf =
  ({ config, clock, policy, freezes }: ContextParts) =>
  (): Context => ({
    now: clock.now(),
    monotonic: clock.monotonic(),
    process: thisProcess,
    digest: digestOf,
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
