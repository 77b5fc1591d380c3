// After a restore of an older copy: says so in the log and in the audit, asks people again about what the copy still intends, and closes
// the messages that were posted since the copy was made and that the store does not know. A copy of `npm run backup` carries a mark; any
// other copy is noticed only when a person presses such a message's button. Whatever is done here can be done again, so the mark stays
// until all of it is done.

import { auditEntry } from "../audit/entry.ts";
import {
  afterRestore,
  type Judged,
  judgeMessage,
  type OwnMessage,
  slotsOf,
} from "../domain/after-restore.ts";
import type { Context } from "../domain/context.ts";
import type { ChannelId, MessageTs } from "../domain/ids.ts";
import { type Chat, type EventLog, type OwnMessages, type PacedEffect, PortError } from "../ports.ts";
import { type AuditLog, BACKUP_MARK, type DocumentStore, type RunStore } from "../ports/store.ts";
import { type Change, changeUnfinished } from "./change-runs.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";

export type CloseOrphans = {
  /** Notices a restored copy, before its runs are claimed, and begins to close what it does not know. Rejects when the store fails. */
  start(): Promise<void>;
  /** A person pressed a button here that the store does not know. Never rejects. */
  pressed(channel: ChannelId, ts: MessageTs): Promise<void>;
  stop(): Promise<void>;
};

type Deps = {
  readonly store: Pick<RunStore, "load" | "channelsInUse" | "list"> &
    Pick<AuditLog, "audit" | "auditAfter" | "auditOfRun"> &
    DocumentStore;
  readonly ownMessages: OwnMessages;
  readonly chat: Pick<Chat, "waitForTurn">;
  readonly change: Change;
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: EventLog;
};

/** How often a message is looked at again whose run may still post in its place (ms). */
const AGAIN_MS = 3_000;
/** How long a closed card's successor is waited for (ms): the service may be away. After that the message is closed without a link. */
const PATIENCE_MS = 5 * 60_000;
const RETRY_MS = [5_000, 60_000] as const;
const MAX_RESTORES = 1_000;

/** What is left to do. */
type Work = {
  readonly copiedAt: number;
  /** By the monotonic clock. */
  readonly began: number;
  /** Null: they are not known yet. */
  channels: Set<ChannelId> | null;
  readonly found: Set<OwnMessage>;
  closed: number;
};

export function createCloseOrphans(deps: Deps): CloseOrphans {
  const { store, clock, log } = deps;
  let work: Work | null = null;
  const loop = createBackgroundLoop(deps, {
    pass: async (stopping) => {
      if (work === null || !(await pass(deps, work, stopping)))
        return void (work === null || loop.wake(AGAIN_MS));
      log.info({ closed: work.closed }, "the messages that the restored copy does not know are closed");
      work = null;
    },
    everyMs: null,
    retryMs: RETRY_MS,
    failure: "could not close the messages that the restored copy does not know; trying again",
  });

  async function closePressed(channel: ChannelId, ts: MessageTs): Promise<void> {
    await turn(deps, channel, { kind: "read", urgency: 1 });
    const message = await deps.ownMessages.at(channel, ts);
    if (message === null || !message.isLive) return;
    await close(deps, message, { copiedAt: work?.copiedAt ?? null, fetchSince: null, urgency: 1 });
  }

  return {
    async start() {
      const copiedAt = await copyTime(store);
      if (copiedAt === null) return;
      await tell(deps, copiedAt);
      await changeUnfinished(deps, (run) => afterRestore(run, copiedAt, deps.context()));
      work = { copiedAt, began: clock.monotonic(), channels: null, found: new Set(), closed: 0 };
      loop.start(0);
    },
    async pressed(channel, ts) {
      await closePressed(channel, ts).catch((error: unknown) =>
        log.warn(named(error), "could not close a message that the store does not know"),
      );
    },
    stop: loop.stop,
  };
}

const named = (error: unknown): object => (error instanceof PortError ? { code: error.code } : { error });

/** Null: the database is no copy of `npm run backup`, or all is done. */
async function copyTime(store: DocumentStore): Promise<number | null> {
  const mark = await store.document(BACKUP_MARK);
  return typeof mark === "number" ? mark : null;
}

/** The entry is written once for each restore: the copy cannot hold an entry about its own restore. */
async function tell({ store, log, context }: Deps, since: number): Promise<void> {
  const copied = new Date(since).toISOString();
  log.warn(
    { copied },
    "this database was restored from a back-up; what was recorded after it is lost, and messages posted after it are being closed",
  );
  const told = await store.auditAfter(0, ["restored"], MAX_RESTORES);
  if (told.some(({ entry }) => entry.since === since)) return;
  const outcome = `restored from the back-up of ${copied}`;
  await store.audit([auditEntry(null, { at: context().now, what: "restored", outcome, since })]);
}

/** True: all is done. Rejects with the first failure when everything was tried. */
async function pass(deps: Deps, work: Work, stopping: () => boolean): Promise<boolean> {
  work.channels ??= await channelsToRead(deps);
  const failures: PortError[] = [];
  const tried = async (act: () => Promise<void>): Promise<void> => {
    if (stopping()) return;
    await act().catch((error: unknown) => {
      if (!(error instanceof PortError)) throw error;
      failures.push(error);
    });
  };
  const channels = work.channels;
  for (const channel of channels)
    await tried(async () => {
      await readChannel(deps, work, channel);
      channels.delete(channel);
    });
  for (const message of work.found) await tried(() => settle(deps, work, message));
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  if (stopping() || channels.size + work.found.size > 0) return false;
  await deps.store.putDocument(BACKUP_MARK, null);
  return true;
}

async function settle(deps: Deps, work: Work, message: OwnMessage): Promise<void> {
  const isPatient = deps.clock.monotonic() < work.began + PATIENCE_MS;
  const fetchSince = isPatient ? work.began : null;
  const done = await close(deps, message, { copiedAt: work.copiedAt, fetchSince, urgency: 3 });
  if (done === "later") return;
  work.found.delete(message);
  if (done === "closed") work.closed += 1;
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
      await turn(deps, channel, { kind: "sweep", urgency: 2 });
      const { messages, next } = await deps.ownMessages.since(channel, work.copiedAt, cursor);
      for (const message of messages) if (message.isLive) work.found.add(message);
      cursor = next;
      if (cursor === "") return;
    }
  } catch (error) {
    if (!(error instanceof PortError) || error.retry === "later") throw error;
    // The app was removed from the channel, say. Its cards there are closed when a person presses them.
    deps.log.warn({ channel, code: error.code }, "could not read a channel after the restore");
  }
}

const turn = ({ chat }: Deps, channel: ChannelId, how: Pick<PacedEffect, "kind" | "urgency" | "message">) =>
  chat.waitForTurn({ channel, ...how });

type Terms = {
  readonly copiedAt: number | null;
  /** Null: no person waits for what comes in its place. */
  readonly fetchSince: number | null;
  readonly urgency: PacedEffect["urgency"];
};

async function close(deps: Deps, message: OwnMessage, terms: Terms): Promise<"closed" | "kept" | "later"> {
  const { channel, ts, runId, kind, about } = message;
  const first = await judge(deps, message, terms);
  if (first === "undecided") return "later";
  if (first === "known") return "kept";
  await turn(deps, channel, { kind: "update", urgency: terms.urgency, message: ts });
  // Its run may have gone on while this waited.
  const judged = await judge(deps, message, terms);
  if (typeof judged === "string") return judged === "known" ? "kept" : "later";
  const { current, isFollowed } = judged;
  try {
    const done = await deps.ownMessages.close(message, {
      kind,
      about,
      runId,
      isFollowed,
      current,
      copiedAt: terms.copiedAt,
    });
    if (done === "unchangeable")
      deps.log.warn({ channel, ts }, "Slack allows no change of a message that decides nothing any more");
    return "closed";
  } catch (error) {
    if (!(error instanceof PortError) || error.retry === "later") throw error;
    deps.log.warn(
      { channel, ts, code: error.code },
      "could not close a message that decides nothing any more",
    );
    return "kept";
  }
}

type Verdict = Extract<Judged, string> | { readonly current: MessageTs | null; readonly isFollowed: boolean };

/** A run that the audit knows and the store does not was deleted in its time: its messages are no orphans. */
async function judge(
  { store, ownMessages }: Deps,
  message: OwnMessage,
  { fetchSince }: Terms,
): Promise<Verdict> {
  const run = (await store.load(message.run))?.run ?? null;
  if (run === null) {
    const entries = await store.auditOfRun(message.run);
    return entries.length > 0 ? "known" : { current: null, isFollowed: false };
  }
  const slot = ownMessages.slotOf(message, run, slotsOf(run));
  const judged = judgeMessage(message, run, slot, fetchSince === null ? null : { fetchSince });
  return typeof judged === "string" ? judged : { ...judged, isFollowed: true };
}
