// The use cases and the machinery behind them, joined once. Ports come in; nothing here knows what stands behind them.

import type { Context } from "../core/context.ts";
import { type Acknowledge, createAcknowledge } from "./acknowledge.ts";
import { type AdoptRun, createAdoptRun } from "./adopt-run.ts";
import { createCarry } from "./carry-out.ts";
import type { Clock } from "./clock.ts";
import { createDispute, type Dispute } from "./dispute.ts";
import { createGiveAudit, type GiveAudit } from "./give-audit.ts";
import type { AuditReaders, Mail } from "./letter.ts";
import { createPostOffice } from "./post-office.ts";
import type { FlowLog, FlowMetrics } from "./flow-log.ts";
import { createHold } from "./hold-runs.ts";
import { createKeepCards, type KeepCards } from "./keep-cards.ts";
import { createIntegrity } from "./integrity.ts";
import { createOpenModal, type OpenModal } from "./open-modal.ts";
import { createOutageWatch } from "./outage.ts";
import { createPerform } from "./perform.ts";
import { bringUnderPolicy } from "./policy-changed.ts";
import type { AgentService, Chat, Gateway, Store } from "./ports.ts";
import type { People } from "./people.ts";
import { createQuestions, type Questions } from "./questions.ts";
import { createRecordDecision, type RecordDecision } from "./record-decision.ts";
import { createNoteRefusal, type NoteRefusal } from "./refuse.ts";
import { createRetention } from "./retention.ts";
import { createRounds } from "./rounds.ts";
import { createServiceGuard } from "./service-guard.ts";
import { createServicePause } from "./service-pause.ts";
import { createStartRun, type StartRun } from "./start-run.ts";
import { createUndoDecision, type UndoDecision } from "./undo-decision.ts";
import { createUnreadableRuns } from "./unreadable-runs.ts";
import { createWatch, type WatchLimits } from "./watch.ts";

export type Flow = {
  readonly startRun: StartRun;
  readonly adoptRun: AdoptRun;
  readonly openModal: OpenModal;
  readonly recordDecision: RecordDecision;
  readonly undoDecision: UndoDecision;
  readonly questions: Questions;
  readonly noteRefusal: NoteRefusal;
  readonly giveAudit: GiveAudit;
  readonly dispute: Dispute;
  readonly cards: Pick<KeepCards, "deleted" | "letIn" | "lookNow">;
  readonly acknowledge: Acknowledge;
  /** Takes up all unfinished runs; resolves to how many. Rejects when the store can't be read. */
  start(): Promise<number>;
  /** Brings what waits for a decision under the policy that is in force now. Rejects when the store fails. */
  policyChanged(): Promise<void>;
  /** Watches nothing more, waits for what is under way (ms at most), and hands the runs back. */
  stop(ms: number): Promise<void>;
};

export type FlowDeps = {
  readonly store: Store;
  readonly agents: AgentService;
  readonly gateway: Gateway;
  readonly chat: Chat;
  readonly mail: Mail;
  readonly audit: AuditReaders;
  readonly people: People;
  readonly clock: Clock;
  readonly context: () => Context;
  readonly newKey: () => string;
  readonly random: () => number;
  readonly log: FlowLog;
  readonly metrics: FlowMetrics;
};

const OUTAGE_CHECK_MS = 5_000;

export function createFlow(ports: FlowDeps, limits: WatchLimits): Flow {
  const { clock, log, store } = ports;
  const { agents, leftMs } = createServicePause(ports.agents, clock);
  const deps = { ...ports, agents };
  const integrity = createIntegrity(deps);
  const carry = createCarry({ ...deps, integrity, perform: createPerform(deps) });
  const rounds = createRounds({ ...deps, carry });
  const guard = createServiceGuard(clock, limits.maxMs, leftMs);
  const unreadable = createUnreadableRuns({ ...deps, rounds });
  const watch = createWatch({ ...deps, rounds, guard, unreadable }, limits);
  const hold = createHold({ store, rounds, clock, log });
  const outage = createOutageWatch({ ...deps, guard, change: rounds.change }, OUTAGE_CHECK_MS);
  const retention = createRetention(store, clock, log);
  const office = createPostOffice(deps);
  const cards = createKeepCards({ ...deps, rounds });
  const use = { ...deps, rounds };
  return {
    startRun: createStartRun(use),
    adoptRun: createAdoptRun(use),
    openModal: createOpenModal(use),
    recordDecision: createRecordDecision(use),
    undoDecision: createUndoDecision(use),
    noteRefusal: createNoteRefusal(use),
    giveAudit: createGiveAudit({ ...use, integrity }),
    dispute: createDispute(deps),
    acknowledge: createAcknowledge({ ...use, integrity }),
    cards,
    questions: createQuestions({ ...deps, watch, guard, unreadable, integrity }),
    start: async () => {
      // First: no decision leaves before the audit was looked at.
      await integrity.start();
      for (const part of [outage, retention, office]) part.start();
      return hold.start();
    },
    policyChanged: () => bringUnderPolicy(store, rounds.change, deps.context),
    stop: async (ms) => {
      for (const part of [hold, watch, outage, retention, cards]) part.stop();
      await finish([rounds, office], ms, [() => integrity.stop(), () => store.release()]);
    },
  };
}

/** Waits for what is under way, at most `ms`, then does the rest in order. */
async function finish(
  parts: readonly { stop(ms: number): Promise<void> }[],
  ms: number,
  rest: readonly (() => Promise<void>)[],
): Promise<void> {
  await Promise.all(parts.map((part) => part.stop(ms)));
  for (const act of rest) await act();
}
