// After an older copy of the database was restored: records this in the log and in the audit, asks people again about the decisions and
// starts that the copy still intends to send, and closes the messages that were posted after the copy was made and that the store does not
// know. A copy made by `npm run backup` carries a mark. Any other copy is noticed only when a person presses a button of such a message.
// Every step here can be repeated, so the mark stays until all steps are done.

import { auditEntry } from "../audit/entry.ts";
import { afterRestore } from "../domain/after-restore.ts";
import type { Context } from "../domain/context.ts";
import type { ChannelId, MessageTs } from "../domain/ids.ts";
import { type Judged, judgeMessage, type OwnMessage, slotsOf } from "../domain/orphan.ts";
import { type Chat, type EventLog, type OwnMessages, type PacedEffect, PortError } from "../ports.ts";
import { BACKUP_MARK, type DocumentStore, EARLIER_MARK, type RunStore } from "../ports/store.ts";
import type { AuditLog } from "../ports/audit-store.ts";
import { changeUnfinished } from "./change-runs.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import type { RunEngine } from "./run-engine.ts";

export type CloseOrphans = {
  /** Detects a restored copy, before its runs are claimed, and begins to close the unknown messages. Rejects if the store fails. */
  start(): Promise<void>;
  /** Called when a person pressed a button of this message that the store does not know. Never rejects. */
  pressed(channel: ChannelId, ts: MessageTs): Promise<void>;
  stop(): Promise<void>;
};

type Deps = {
  readonly store: Pick<RunStore, "load" | "channelsInUse" | "eachRun"> &
    Pick<AuditLog, "audit" | "auditAfter" | "auditOfRun"> &
    DocumentStore;
  readonly ownMessages: OwnMessages;
  readonly chat: Pick<Chat, "waitForTurn">;
  readonly engine: Pick<RunEngine, "changeAnywhere">;
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: EventLog;
};

/** The wait before a message is judged again if its run may still post another message in its place (ms). */
const AGAIN_MS = 3_000;
/** How long a card waits for its successor before it is closed without a link (ms). The service may be unreachable. */
const PATIENCE_MS = 5 * 60_000;
const RETRY_MS = [5_000, 60_000] as const;
const MAX_RESTORES = 1_000;

/** The work that is left after a restore. */
type Work = {
  /** When the copy was made (ms since 1970). */
  readonly copiedAt: number;
  /** Messages posted since then (ms since 1970) may be unknown. Earlier than `copiedAt` if the work of an earlier restore is unfinished. */
  readonly postedSince: number;
  /** When the work began (monotonic ms). */
  readonly began: number;
  /** The channels to read. Null if they are not known yet. */
  channels: Set<ChannelId> | null;
  readonly found: Set<OwnMessage>;
  closed: number;
};

export function createCloseOrphans(deps: Deps): CloseOrphans {
  const { store, clock, log } = deps;
  let work: Work | null = null;
  const loop = createBackgroundLoop(deps, {
    pass: async (isStopping) => {
      if (work === null) return;
      if (!(await pass(deps, work, isStopping))) return loop.wake(AGAIN_MS);
      log.info({ closed: work.closed }, "the messages that the restored copy does not know are closed");
      work = null;
    },
    everyMs: null,
    retryMs: RETRY_MS,
    failure: "could not close the messages that the restored copy does not know; trying again",
  });

  async function closePressed(channel: ChannelId, ts: MessageTs): Promise<void> {
    await waitForTurn(deps, channel, { kind: "read", urgency: 1 });
    const message = await deps.ownMessages.at(channel, ts);
    if (message === null || !message.isLive) return;
    await close(deps, message, { copiedAt: work?.copiedAt ?? null, fetchSince: null, urgency: 1 });
  }

  return {
    async start() {
      const copiedAt = await timeIn(store, BACKUP_MARK);
      if (copiedAt === null) return;
      const postedSince = Math.min(copiedAt, (await timeIn(store, EARLIER_MARK)) ?? copiedAt);
      const restored = await recordRestore(deps, copiedAt);
      await changeUnfinished(deps, (run) => afterRestore(run, restored, deps.context()));
      const began = clock.monotonic();
      work = { copiedAt, postedSince, began, channels: null, found: new Set(), closed: 0 };
      loop.start(0);
    },
    async pressed(channel, ts) {
      await closePressed(channel, ts).catch((error: unknown) =>
        log.warn(logFields(error), "could not close a message that the store does not know"),
      );
    },
    stop: loop.stop,
  };
}

const logFields = (error: unknown): object => (error instanceof PortError ? { code: error.code } : { error });

/** Resolves to null if the database is not a copy made by `npm run backup`, or if all work after its restore is done. */
async function timeIn(store: DocumentStore, name: string): Promise<number | null> {
  const mark = await store.document(name);
  return typeof mark === "number" ? mark : null;
}

/**
 * Writes the audit entry for each restore, and resolves to its number. A fresh copy cannot contain an entry about its own restore. If several
 * replicas start at once, each may write one, and the first counts for all.
 */
async function recordRestore({ store, log, context }: Deps, since: number): Promise<number> {
  const copied = new Date(since).toISOString();
  log.warn(
    { copied },
    "this database was restored from a back-up; what was recorded after it is lost, and messages posted after it are being closed",
  );
  const recorded = async (): Promise<number | undefined> => {
    const restores = await store.auditAfter(0, ["restored"], MAX_RESTORES);
    return restores.find(({ entry }) => entry.since === since)?.seq;
  };
  const before = await recorded();
  if (before !== undefined) return before;
  const outcome = `restored from the back-up of ${copied}`;
  await store.audit([auditEntry(null, { at: context().now, what: "restored", outcome, since })]);
  // Without a number, everything counts as copied, so that people are asked again.
  return (await recorded()) ?? Infinity;
}

/** Resolves to whether all work is done. Tries everything, and then rejects with the first failure, if there was one. */
async function pass(deps: Deps, work: Work, isStopping: () => boolean): Promise<boolean> {
  work.channels ??= await channelsToRead(deps);
  const failures: PortError[] = [];
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    if (isStopping()) return;
    await act().catch((error: unknown) => {
      if (!(error instanceof PortError)) throw error;
      failures.push(error);
    });
  };
  const channels = work.channels;
  for (const channel of channels)
    await attempt(async () => {
      await readChannel(deps, work, channel);
      channels.delete(channel);
    });
  for (const message of work.found) await attempt(() => settle(deps, work, message));
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  if (isStopping() || channels.size + work.found.size > 0) return false;
  for (const name of [EARLIER_MARK, BACKUP_MARK]) await deps.store.putDocument(name, null);
  return true;
}

async function settle(deps: Deps, work: Work, message: OwnMessage): Promise<void> {
  const isPatient = deps.clock.monotonic() < work.began + PATIENCE_MS;
  const fetchSince = isPatient ? work.began : null;
  const result = await close(deps, message, { copiedAt: work.copiedAt, fetchSince, urgency: 3 });
  if (result === "later") return;
  work.found.delete(message);
  if (result === "closed") work.closed += 1;
}

async function channelsToRead({ ownMessages, store }: Deps): Promise<Set<ChannelId>> {
  const channels = new Set(await store.channelsInUse());
  for (let cursor = ""; ;) {
    const page = await ownMessages.channels(cursor);
    for (const channel of page.channels) channels.add(channel);
    cursor = page.next;
    if (cursor === "") return channels;
  }
}

async function readChannel(deps: Deps, work: Work, channel: ChannelId): Promise<void> {
  try {
    for (let cursor = ""; ;) {
      await waitForTurn(deps, channel, { kind: "sweep", urgency: 2 });
      const { messages, next } = await deps.ownMessages.since(channel, work.postedSince, cursor);
      for (const message of messages) if (message.isLive) work.found.add(message);
      cursor = next;
      if (cursor === "") return;
    }
  } catch (error) {
    if (!(error instanceof PortError) || error.retry === "later") throw error;
    // For example, the app was removed from the channel. Its cards there are closed when a person presses a button.
    deps.log.warn({ channel, code: error.code }, "could not read a channel after the restore");
  }
}

type Pace = Pick<PacedEffect, "kind" | "urgency" | "message">;
const waitForTurn = ({ chat }: Deps, channel: ChannelId, pace: Pace) =>
  chat.waitForTurn({ channel, ...pace });

type Terms = {
  readonly copiedAt: number | null;
  /** A fetch since this time (monotonic ms) must show whether another message replaces this one. Null: close it without waiting. */
  readonly fetchSince: number | null;
  readonly urgency: PacedEffect["urgency"];
};

async function close(deps: Deps, message: OwnMessage, terms: Terms): Promise<"closed" | "kept" | "later"> {
  const { channel, ts, runId, kind, about } = message;
  const first = await judge(deps, message, terms);
  if (first === "undecided") return "later";
  if (first === "known") return "kept";
  await waitForTurn(deps, channel, { kind: "update", urgency: terms.urgency, message: ts });
  // The run may have changed during the wait.
  const judged = await judge(deps, message, terms);
  if (typeof judged === "string") return judged === "known" ? "kept" : "later";
  const { current, isFollowed } = judged;
  try {
    const result = await deps.ownMessages.close(message, {
      kind,
      about,
      runId,
      isFollowed,
      current,
      copiedAt: terms.copiedAt,
    });
    if (result === "unchangeable")
      deps.log.warn(
        { channel, ts },
        "Slack refuses to change a message whose buttons no longer decide anything",
      );
    return "closed";
  } catch (error) {
    if (!(error instanceof PortError) || error.retry === "later") throw error;
    deps.log.warn(
      { channel, ts, code: error.code },
      "could not close a message whose buttons no longer decide anything",
    );
    return "kept";
  }
}

type Judgement =
  | Extract<Judged, string>
  | { readonly current: MessageTs | null; readonly isFollowed: boolean };

/** A run that is in the audit but not in the store was deleted after it had finished. Its messages are not orphans. */
async function judge(
  { store, ownMessages }: Deps,
  message: OwnMessage,
  { fetchSince }: Terms,
): Promise<Judgement> {
  const run = (await store.load(message.run))?.run ?? null;
  if (run === null) {
    const entries = await store.auditOfRun(message.run);
    return entries.length > 0 ? "known" : { current: null, isFollowed: false };
  }
  const slot = ownMessages.slotOf(message, run, slotsOf(run));
  const judged = judgeMessage(message, run, slot, fetchSince === null ? null : { fetchSince });
  return typeof judged === "string" ? judged : { ...judged, isFollowed: true };
}
