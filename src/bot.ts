// Connects the use cases and the engine. The ports are passed in, so nothing here depends on the adapters.

import type { Context } from "./domain/context.ts";
import type { Run } from "./domain/run.ts";
import { type CardChecks, createCardChecks } from "./engine/card-check.ts";
import { applyPolicyToWaiting, releaseHeldBack } from "./engine/change-runs.ts";
import { type CloseOrphans, createCloseOrphans } from "./engine/close-orphans.ts";
import { type Clock, type CountedTime, endedWithin } from "./engine/clock.ts";
import { createEffectExecutor } from "./engine/effect-executor.ts";
import type { ExecutorDeps } from "./engine/execution.ts";
import { createSharedNews, type SharedNews } from "./engine/shared-news.ts";
import { followRuns } from "./engine/follow-runs.ts";
import type { Freezes } from "./engine/freezes.ts";
import { createGatherCalls } from "./engine/gather-calls.ts";
import { createHealth, type HealthMonitor } from "./engine/health.ts";
import { createIntegrity, type Integrity } from "./engine/integrity.ts";
import { createLeaseKeeper, type LeaseKeeper, type LeaseTimes } from "./engine/lease-keeper.ts";
import { createEffectLog, createQuietWarnings } from "./engine/logging.ts";
import { createOutageAnnouncer } from "./engine/outage.ts";
import { createPauseClocks } from "./engine/pause-clocks.ts";
import { createPerform } from "./engine/perform-effect.ts";
import { createPoller, type PollLimits } from "./engine/poller.ts";
import { createRunFigures, readingsOf } from "./engine/readings.ts";
import { createRetention } from "./engine/retention.ts";
import { createRunEngine, type RunEngine } from "./engine/run-engine.ts";
import { createServiceBreaker, type ServiceBreaker } from "./engine/service-breaker.ts";
import { createServiceKey, createServicePause } from "./engine/service-answers.ts";
import { createStormNotices } from "./engine/storm-notices.ts";
import type { StoreFaults } from "./engine/store-faults.ts";
import { createUnreadableRuns } from "./engine/unreadable-runs.ts";
import { createWatchdog, type Watchdog } from "./engine/watchdog.ts";
import { createAuditStream } from "./notifications/audit-stream.ts";
import { createNotificationOutbox } from "./notifications/outbox.ts";
import { createOutcomes } from "./notifications/outcomes.ts";
import type {
  AgentService,
  AuditSink,
  Chat,
  Counters,
  EventLog,
  Gateway,
  OwnMessages,
  People,
} from "./ports.ts";
import type { AuditReaders, DrawLookBack, NotificationSender } from "./ports/notification.ts";
import type { PolicyReading, Readings, SlackHealth } from "./ports/monitoring.ts";
import type { Store } from "./ports/store.ts";
import { createAskRequester } from "./usecases/ask-requester.ts";
import { createAcknowledge, createExportEvidence } from "./usecases/audit-commands.ts";
import { createAdoptRun } from "./usecases/adopt-run.ts";
import { createClaimRequest } from "./usecases/claim-request.ts";
import { createCloseDispute } from "./usecases/close-dispute.ts";
import { createDispute } from "./usecases/dispute-decision.ts";
import { createOpenForm } from "./usecases/open-form.ts";
import { createFreeze, createStopRun } from "./usecases/stop-and-freeze.ts";
import { createQueries, createReportWeek, type Queries } from "./usecases/queries.ts";
import { createNoteRefusal } from "./usecases/refusals.ts";
import { createCheckReviewPress } from "./usecases/review-press.ts";
import { createReview } from "./usecases/review.ts";
import { createStartRun } from "./usecases/start-run.ts";
import { createSubmitDecision } from "./usecases/submit-decision.ts";
import { createSubmitReview } from "./usecases/submit-review.ts";
import { createUndoDecision } from "./usecases/undo-decision.ts";

export type UseCases = ReturnType<typeof createUseCases>;

export type Bot = UseCases & {
  readonly queries: Queries;
  readonly cards: Pick<CardChecks, "deleted" | "appJoined" | "lookNow">;
  readonly orphans: Pick<CloseOrphans, "pressed">;
  readonly health: Pick<HealthMonitor, "live" | "parts" | "start">;
  /** Never rejects. */
  readings(): Promise<Readings>;
  /** Calls the listener with every run that this process reconciles, whether the run has changed or not. */
  onRun(listener: (run: Run) => void): void;
  /** Calls the listener when the freezes in force may have changed. */
  onFreezes(listener: () => void): void;
  /** Calls the listener regularly while other processes may change runs as well. */
  onChangeByOtherReplica(listener: () => void): void;
  /** Returns whether this process holds the shard (domain/ids.ts). */
  holdsShard(shard: number): boolean;
  /** Claims all unfinished runs of this process's share and resolves to their number. Rejects if the store cannot be read. */
  start(): Promise<number>;
  /** Applies the current policy to pending approvals. Rejects if the store fails. */
  policyChanged(): Promise<void>;
  /** Stops polling, waits at most `ms` for work in progress, and releases the runs. */
  stop(ms: number): Promise<void>;
};

export type BotDeps = {
  readonly store: Store;
  readonly storeFaults: StoreFaults;
  readonly slackHealth: SlackHealth;
  readonly freezes: Freezes;
  readonly agents: AgentService;
  readonly gateway: Gateway;
  readonly chat: Chat;
  readonly notificationSender: NotificationSender;
  readonly drawLookBack: DrawLookBack;
  readonly ownMessages: OwnMessages;
  readonly audit: AuditReaders;
  /** Null if no sink is configured. */
  readonly auditSink: AuditSink | null;
  readonly people: People;
  readonly clock: Clock;
  readonly context: () => Context;
  readonly leaseTimes: LeaseTimes;
  /** Adopts the policy that another replica has put into force. Resolves to true if the policy has changed. */
  readonly followPolicy: () => Promise<boolean>;
  readonly policyReading: () => PolicyReading;
  readonly isKeyFileUnusable?: () => boolean;
  /** How long a finished run is kept (ms). */
  readonly keepFinishedMs: number;
  readonly newKey: () => string;
  readonly random: () => number;
  readonly log: EventLog;
  readonly metrics: Counters;
  /** The version of this program. */
  readonly version: string;
};

const OUTAGE_CHECK_MS = 5_000;
/** At a stop, an extension of the lease that is in progress gets this long to finish (ms). */
const LEASE_RELEASE_MS = 500;

export function createBot(ports: BotDeps, limits: PollLimits): Bot {
  const { key, breaker } = createServiceGuard(ports, limits);
  const deps = { ...ports, agents: key.agents, watchdog: createWatchdog(ports.clock) };
  const integrity = createIntegrity(deps);
  const sharedNews = createSharedNews({ ...deps, integrity, engine: () => engine });
  const time = timeOf({ pauses: () => loops.pauses, leaseKeeper: () => leaseKeeper, store: deps.store });
  const checks = { catchUp: () => sharedNews.catchUp(), holdsLease: () => leaseKeeper.holdsLease(), time };
  const engine: RunEngine = createEngine({ ...deps, integrity, ...checks });
  const unreadable = createUnreadableRuns({ ...deps, engine });
  const poller = createPoller({ ...deps, engine, breaker, unreadable }, limits);
  const leaseKeeper = createRunLeaseKeeper(deps, engine, sharedNews);
  const { figures } = createRunFigures({ ...deps, engine });
  const health = createHealth({ ...deps, breaker, key, figures });
  const engineDeps = { ...deps, engine, integrity, time };
  const loops = createLoops({ ...engineDeps, breaker, isAlone: sharedNews.isAlone });
  const messages = createMessageRepair(engineDeps);
  return {
    ...createUseCases(engineDeps),
    ...messages,
    health,
    readings: () => readingsOf({ ...deps, figures, health, poller, breaker }),
    onRun: (listener) => engine.onPlan((run) => listener(run)),
    onFreezes: (listener) => deps.freezes.onChange(listener),
    onChangeByOtherReplica: (listener) => sharedNews.onPass(listener),
    holdsShard: engine.holdsShard,
    queries: createQueries({ ...deps, poller, breaker, unreadable, integrity, health, key, figures }),
    start: async () => {
      deps.watchdog.start();
      const { pauses, all } = loops;
      return followRuns({ ...engineDeps, orphans: messages.orphans, pauses, loops: all, leaseKeeper });
    },
    policyChanged: () => applyPolicyToWaiting({ ...deps, engine }),
    stop: async (ms) => {
      for (const part of [poller, messages.cards, deps.watchdog]) part.stop();
      const parts = [...loops.all, messages.orphans, health, sharedNews, engine];
      await stopAllThenRelease(parts, { ...engineDeps, leaseKeeper }, ms);
    },
  };
}

type TimeParts = {
  readonly pauses: () => CountedTime;
  readonly leaseKeeper: () => Pick<LeaseKeeper, "mayBeBehind">;
  readonly store: Pick<Store, "askTime">;
};

function timeOf({ pauses, leaseKeeper, store }: TimeParts): CountedTime {
  /** Many runs may be due at once, and one answer is enough for all. */
  let asking: Promise<void> | null = null;
  return {
    isCounted: (at) => pauses().isCounted(at),
    async makeUp() {
      // A click may arrive before the next extension of the lease. Judged by a clock that is behind, it would get a hold that ends early.
      if (leaseKeeper().mayBeBehind()) await (asking ??= store.askTime().finally(() => void (asking = null)));
      await pauses().makeUp();
    },
  };
}

type EngineChecks = Pick<ExecutorDeps, "integrity" | "holdsLease" | "catchUp"> & {
  readonly time: CountedTime;
};

function createEngine(deps: BotDeps & EngineChecks): RunEngine {
  const logEffect = createEffectLog(deps);
  const executor = createEffectExecutor({
    ...deps,
    perform: createPerform(deps),
    logEffect,
  });
  return createRunEngine({ ...deps, executor, logEffect });
}

/** Guards the calls to the agent service while it fails, asks us to wait, or refuses our key. */
function createServiceGuard({ agents, clock, newKey }: BotDeps, { maxMs }: PollLimits) {
  const pause = createServicePause(agents, clock);
  const key = createServiceKey(pause.agents, clock, newKey);
  return { key, breaker: createServiceBreaker(clock, maxMs, pause.leftMs) };
}

/** The background work, which happens without any action of a person. */
function createLoops(
  deps: EngineDeps & { readonly breaker: ServiceBreaker; readonly isAlone: SharedNews["isAlone"] },
) {
  const { store, clock, log, auditSink, keepFinishedMs } = deps;
  const storms = createStormNotices(deps);
  const calls = createGatherCalls(deps);
  const pauses = createPauseClocks(deps);
  const outage = createOutageAnnouncer(deps, OUTAGE_CHECK_MS);
  const stream = auditSink === null ? [] : [createAuditStream({ ...deps, auditSink })];
  const retention = createRetention(store, clock, log, keepFinishedMs);
  const sending = { warnQuietly: createQuietWarnings(deps), outcomes: createOutcomes(deps) };
  const outbox = createNotificationOutbox({ ...deps, ...sending });
  return { pauses, all: [pauses, retention, outbox, outage, storms, calls, ...stream] };
}

/** Restores cards that were deleted in Slack, and closes messages that the store does not know. */
const createMessageRepair = (deps: EngineDeps) => ({
  cards: createCardChecks({ ...deps, team: deps.audit.team }),
  orphans: createCloseOrphans(deps),
});

function createRunLeaseKeeper(
  deps: BotDeps & { readonly watchdog: Watchdog },
  engine: RunEngine,
  sharedNews: SharedNews,
): LeaseKeeper {
  const onReplicas = (replicas: number): void => {
    deps.chat.shareLimits(replicas);
    deps.people.shareLimits(replicas);
    if (replicas > 1) sharedNews.start();
  };
  const leaseKeeper = createLeaseKeeper({ ...deps, engine, onReplicas }, deps.leaseTimes);
  deps.store.onPassedOn(() => leaseKeeper.renewNow());
  return leaseKeeper;
}

type EngineDeps = BotDeps & {
  readonly engine: RunEngine;
  readonly time: CountedTime;
  readonly integrity: Integrity;
};

/** The actions of people. */
function createUseCases(deps: EngineDeps) {
  const release = (): Promise<void> => releaseHeldBack(deps);
  return {
    startRun: createStartRun(deps),
    adoptRun: createAdoptRun(deps),
    openForm: createOpenForm(deps),
    submitDecision: createSubmitDecision(deps),
    undoDecision: createUndoDecision(deps),
    claimRequest: createClaimRequest(deps),
    askRequester: createAskRequester(deps),
    checkReviewPress: createCheckReviewPress(deps),
    review: createReview(deps),
    submitReview: createSubmitReview(deps),
    stopRun: createStopRun(deps),
    freeze: createFreeze(deps),
    noteRefusal: createNoteRefusal(deps),
    exportEvidence: createExportEvidence(deps),
    reportWeek: createReportWeek(deps),
    dispute: createDispute(deps),
    closeDispute: createCloseDispute(deps),
    acknowledge: createAcknowledge({ ...deps, release }),
  };
}

/**
 * Stops all parts at once and waits at most `ms` for work in progress. Until then, this process claims its runs: another replica may save a
 * run whose call is still on its way, and the answer is stored only by the holder. Once the leases are handed back, nothing may claim a run.
 */
async function stopAllThenRelease(
  parts: readonly { readonly stop: (ms: number) => Promise<void> }[],
  { clock, store, integrity, leaseKeeper }: EngineDeps & { readonly leaseKeeper: LeaseKeeper },
  ms: number,
): Promise<void> {
  const work = parts.map((part) => part.stop(ms));
  await endedWithin(clock, ms, work);
  await endedWithin(clock, LEASE_RELEASE_MS, [leaseKeeper.stop(), leaseKeeper.release()]);
  await integrity.stop();
  await store.release();
}
