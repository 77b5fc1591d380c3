// Joins the use cases and the engine. The ports are passed in, so nothing here knows the adapters.

import type { Context } from "./domain/context.ts";
import type { Run } from "./domain/run.ts";
import { type CardSweep, createCardSweep } from "./engine/card-sweep.ts";
import {
  applyBrakeToRuns,
  applyPolicyToWaiting,
  createRetention,
  releaseHeldBack,
} from "./engine/change-runs.ts";
import { type CloseOrphans, createCloseOrphans } from "./engine/close-orphans.ts";
import { type Clock, endedWithin } from "./engine/clock.ts";
import type { ExecutorDeps } from "./engine/check-before-sending.ts";
import { createEffectExecutor } from "./engine/effect-executor.ts";
import { createSharedNews, type Freezes, type SharedNews } from "./engine/shared-news.ts";
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
import { createRunEngine, type RunEngine } from "./engine/run-engine.ts";
import { createServiceBreaker, type ServiceBreaker } from "./engine/service-breaker.ts";
import { createServiceKey, createServicePause } from "./engine/service-answers.ts";
import { createStormNotices } from "./engine/storm-notices.ts";
import type { StoreFaults } from "./engine/listened-store.ts";
import { createUnreadableRuns } from "./engine/unreadable-runs.ts";
import { createWatchdog, type Watchdog } from "./engine/watchdog.ts";
import { createAuditStream } from "./notifications/audit-stream.ts";
import { createNotificationOutbox } from "./notifications/outbox.ts";
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
import type { Readings, SlackHealth } from "./ports/monitoring.ts";
import type { Store } from "./ports/store.ts";
import { type AskRequester, createAskRequester } from "./usecases/ask-requester.ts";
import {
  type Acknowledge,
  createAcknowledge,
  createExportEvidence,
  type ExportEvidence,
} from "./usecases/audit-commands.ts";
import { type AdoptRun, createAdoptRun } from "./usecases/adopt-run.ts";
import { type ClaimRequest, createClaimRequest } from "./usecases/claim-request.ts";
import { type CloseDispute, createCloseDispute, createDispute, type Dispute } from "./usecases/dispute.ts";
import { createOpenForm, type OpenForm } from "./usecases/open-form.ts";
import { createFreeze, createStopRun, type StopRun, type UseFreeze } from "./usecases/stop-and-freeze.ts";
import { createOpenStorm, type OpenStorm } from "./usecases/read-queue.ts";
import { createQueries, createReportWeek, type Queries, type ReportWeek } from "./usecases/queries.ts";
import { createNoteRefusal, type NoteRefusal } from "./usecases/refusals.ts";
import { createReview, type Review } from "./usecases/review.ts";
import { createStartRun, type StartRun } from "./usecases/start-run.ts";
import {
  createSubmitDecision,
  createUndoDecision,
  type SubmitDecision,
  type UndoDecision,
} from "./usecases/submit-decision.ts";
import { createSubmitReview, type SubmitReview } from "./usecases/submit-review.ts";

export type Bot = {
  readonly startRun: StartRun;
  readonly adoptRun: AdoptRun;
  readonly openForm: OpenForm;
  readonly submitDecision: SubmitDecision;
  readonly undoDecision: UndoDecision;
  readonly stopRun: StopRun;
  readonly claimRequest: ClaimRequest;
  readonly askRequester: AskRequester;
  readonly freeze: UseFreeze;
  readonly openStorm: OpenStorm;
  readonly review: Review;
  readonly submitReview: SubmitReview;
  readonly queries: Queries;
  readonly noteRefusal: NoteRefusal;
  readonly exportEvidence: ExportEvidence;
  readonly reportWeek: ReportWeek;
  readonly dispute: Dispute;
  readonly closeDispute: CloseDispute;
  readonly cards: Pick<CardSweep, "deleted" | "letIn" | "lookNow">;
  readonly orphans: Pick<CloseOrphans, "pressed">;
  readonly acknowledge: Acknowledge;
  readonly health: Pick<HealthMonitor, "live" | "parts" | "start">;
  /** Never rejects. */
  readings(): Promise<Readings>;
  /** Calls the listener with every run that is looked at again, changed or not. */
  onRun(listener: (run: Run) => void): void;
  /** Calls the listener now and then while other processes may change runs, too. */
  onElsewhere(listener: () => void): void;
  /** Claims all unfinished runs; resolves to how many. Rejects when the store cannot be read. */
  start(): Promise<number>;
  /** Applies the current policy to pending approvals. Rejects when the store fails. */
  policyChanged(): Promise<void>;
  /** Stops polling, waits for work in progress (ms at most), and releases the runs. */
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
  /** Null: the entries are sent nowhere. */
  readonly auditSink: AuditSink | null;
  readonly people: People;
  readonly clock: Clock;
  readonly context: () => Context;
  readonly leaseTimes: LeaseTimes;
  /** Takes over the policy that another replica has put into force. Resolves to whether it is another one. */
  readonly followPolicy: () => Promise<boolean>;
  /** How long a finished run is kept (ms). */
  readonly keepFinishedMs: number;
  readonly newKey: () => string;
  readonly random: () => number;
  readonly log: EventLog;
  readonly metrics: Counters;
  /** Of this program. */
  readonly version: string;
};

const OUTAGE_CHECK_MS = 5_000;
/** A stop waits so long for an extension of the lease that is under way (ms). */
const LET_GO_MS = 500;

export function createBot(ports: BotDeps, limits: PollLimits): Bot {
  const { key, guard } = createServiceGuard(ports, limits);
  const watchdog = createWatchdog(ports.clock);
  const deps = { ...ports, agents: key.agents, watchdog };
  const integrity = createIntegrity(deps);
  const elsewhere: (() => void)[] = [];
  const onLook = (): void => elsewhere.forEach((hear) => hear());
  const news = createSharedNews({ ...deps, integrity, onLook, engine: () => engine });
  const checks = { integrity, catchUp: () => news.catchUp(), holds: () => hold.holds() };
  const engine: RunEngine = createEngine({ ...deps, ...checks });
  const unreadable = createUnreadableRuns({ ...deps, engine });
  const watch = createPoller({ ...deps, engine, guard, unreadable }, limits);
  const hold = createHold(deps, engine, news);
  const { figures } = createRunFigures({ ...deps, engine });
  const health = createHealth({ ...deps, guard, key, figures });
  const use = { ...deps, engine, integrity, change: engine.change };
  const loops = createLoops({ ...use, guard });
  const messages = createMessageCare(use);
  return {
    ...createUseCases(use),
    ...messages,
    health,
    readings: () => readingsOf({ ...deps, figures, health, watch, guard }),
    onRun: (listener) => engine.onPlan((run) => listener(run)),
    onElsewhere: (listener) => void elsewhere.push(listener),
    queries: createQueries({ ...deps, watch, guard, unreadable, integrity, health, key }),
    start: async () => {
      watchdog.start();
      // The audit is checked first, so that no decision leaves before.
      for (const part of [integrity, messages.orphans]) await part.start();
      await loops.pauses.begin();
      for (const loop of loops.all) loop.start();
      return claimRuns({ ...deps, engine }, hold);
    },
    policyChanged: () => applyPolicyToWaiting({ ...deps, engine }),
    stop: async (ms) => {
      for (const part of [watch, messages.cards, watchdog]) part.stop();
      await stopInOrder([...loops.all, messages.orphans, health, news, hold, engine], { ...use, hold }, ms);
    },
  };
}

function createEngine(deps: BotDeps & Pick<ExecutorDeps, "integrity" | "holds" | "catchUp">): RunEngine {
  const perform = createPerform(deps);
  const executor = createEffectExecutor({
    ...deps,
    perform,
    logEffect: createEffectLog(deps),
    freezesKnownTo: () => deps.freezes.knownTo(),
  });
  return createRunEngine({ ...deps, executor });
}

/** What stands between Countersign and a service that fails, asks us to wait, or refuses our key. */
function createServiceGuard({ agents, clock, newKey }: BotDeps, { maxMs }: PollLimits) {
  const pause = createServicePause(agents, clock);
  const key = createServiceKey(pause.agents, clock, newKey);
  return { key, guard: createServiceBreaker(clock, maxMs, pause.leftMs) };
}

/** What happens without a person doing anything. */
function createLoops(use: UseDeps & { readonly guard: ServiceBreaker }) {
  const { engine, store, clock, log, auditSink, keepFinishedMs } = use;
  const storms = createStormNotices(use);
  const calls = createGatherCalls(use);
  const pauses = createPauseClocks(use);
  for (const { heard } of [storms, calls, pauses]) engine.onPlan((run) => heard(run));
  for (const { dropped } of [storms, calls]) engine.onDrop((key) => dropped(key));
  const outage = createOutageAnnouncer(use, OUTAGE_CHECK_MS);
  const stream = auditSink === null ? [] : [createAuditStream({ ...use, auditSink })];
  const retention = createRetention(store, clock, log, keepFinishedMs);
  const outbox = createNotificationOutbox({ ...use, warnQuietly: createQuietWarnings(use) });
  return { pauses, all: [pauses, retention, outbox, outage, storms, calls, ...stream] };
}

/** Keeps the messages in Slack as they should be, where others change or delete them. */
const createMessageCare = (use: UseDeps) => ({
  cards: createCardSweep({ ...use, team: use.audit.team }),
  orphans: createCloseOrphans(use),
});

function createHold(
  deps: BotDeps & { readonly watchdog: Watchdog },
  engine: RunEngine,
  news: SharedNews,
): LeaseKeeper {
  const onReplicas = (replicas: number): void => {
    deps.chat.shareLimits(replicas);
    deps.people.shareLimits(replicas);
    if (replicas > 1) news.start();
  };
  const hold = createLeaseKeeper({ ...deps, engine, onReplicas }, deps.leaseTimes);
  deps.store.onPassedOn(() => hold.lookNow());
  return hold;
}

type UseDeps = BotDeps & {
  readonly engine: RunEngine;
  readonly integrity: Integrity;
  readonly change: RunEngine["change"];
};

/** What people do. */
function createUseCases(use: UseDeps) {
  const release = (): Promise<void> => releaseHeldBack(use);
  return {
    startRun: createStartRun(use),
    adoptRun: createAdoptRun(use),
    openForm: createOpenForm(use),
    submitDecision: createSubmitDecision(use),
    undoDecision: createUndoDecision(use),
    claimRequest: createClaimRequest(use),
    askRequester: createAskRequester(use),
    openStorm: createOpenStorm(use),
    review: createReview(use),
    submitReview: createSubmitReview(use),
    stopRun: createStopRun(use),
    freeze: createFreeze(use),
    noteRefusal: createNoteRefusal(use),
    exportEvidence: createExportEvidence(use),
    reportWeek: createReportWeek(use),
    dispute: createDispute(use),
    closeDispute: createCloseDispute(use),
    acknowledge: createAcknowledge({ ...use, release }),
  };
}

/** Under the freezes of the audit. A crash may have kept one from reaching every run. */
async function claimRuns(
  deps: Pick<BotDeps, "freezes" | "store" | "context" | "log"> & { readonly engine: RunEngine },
  hold: { start(): Promise<number> },
): Promise<number> {
  await deps.freezes.refresh();
  const runs = await hold.start();
  if (deps.freezes.now().length > 0) await applyBrakeToRuns(deps);
  return runs;
}

/** Waits for work in progress, at most `ms`. Once the leases are handed back, nothing may claim a run. */
async function stopInOrder(
  parts: readonly { readonly stop: (ms: number) => Promise<void> }[],
  { clock, store, integrity, hold }: UseDeps & { readonly hold: LeaseKeeper },
  ms: number,
): Promise<void> {
  const work = parts.map((part) => part.stop(ms));
  await endedWithin(clock, ms, work);
  await endedWithin(clock, LET_GO_MS, [hold.letGo()]);
  await integrity.stop();
  await store.release();
}
