// Sends the audit's entries, in order, to the system in which the operator collects such events. A stored cursor says how far the sink has
// taken them. The cursor moves only after that, so a crash repeats some entries and skips none. A failing sink delays nothing else.

import { ocsfLine } from "../audit/ocsf.ts";
import { SINK_CURSORS, type SinkCursor, sinkCursorsIn, sinkDocument } from "../audit/sink-cursors.ts";
import { BEGINNING } from "../domain/audit/verify-chain.ts";
import { NO_LINK } from "../domain/audit/hash-chain.ts";
import { isInAudit } from "../engine/audit-positions.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../engine/background-work.ts";
import { type Clock, endedWithin } from "../engine/clock.ts";
import type { Integrity } from "../engine/integrity.ts";
import type { RunEngine } from "../engine/run-engine.ts";
import { type AuditSink, type Counters, type EventLog, PortError } from "../ports.ts";
import type { DocumentStore } from "../ports/store.ts";
import type { AuditEvidence, AuditLog } from "../ports/audit-store.ts";

import { nullIfNeverReadable } from "./never-readable.ts";

type StreamDeps = {
  readonly store: AuditLog & AuditEvidence & DocumentStore;
  readonly auditSink: AuditSink;
  readonly engine: Pick<RunEngine, "holdsShard">;
  readonly integrity: Pick<Integrity, "found">;
  readonly metrics: Pick<Counters, "auditSinkFailed" | "auditSinkLag">;
  readonly clock: Clock;
  readonly log: EventLog;
};

export type AuditStream = { start(): void; stop(ms: number): Promise<void> };

const ROUND_EVERY_MS = 1_000;
/** The longest wait after failures of the sink or the store (ms). */
const SLOWEST_RETRY_MS = 60_000;
/** After this time (ms) a write counts as failed. A call to an address ends by itself before that, and says why. */
const HANGS_AFTER_MS = 15_000;
/** The number of entries in memory at a time, and in one request: at most some hundred kilobytes. */
const BATCH = 200;
/** The replica that holds this shard streams. */
const STREAM_SHARD = 0;

export function createAuditStream(given: StreamDeps): AuditStream {
  const deps = { ...given, auditSink: withTimeLimit(given) };
  const { store, engine, metrics, clock } = deps;
  let cursor: SinkCursor | null = null;

  async function pass(stopping: () => boolean): Promise<void> {
    if (!engine.holdsShard(STREAM_SHARD)) {
      // Another replica moves the stored cursor from now on.
      cursor = null;
      metrics.auditSinkLag(0);
      return;
    }
    if (cursor === null) {
      // Until the cursor is read, all entries count as waiting. Otherwise no alert would fire while it cannot be read.
      metrics.auditSinkLag((await store.auditHead())?.seq ?? 0);
      cursor = await storedCursor(deps);
    }
    for (let next: SinkCursor | null = cursor; next !== null; next = await send(deps, cursor)) {
      cursor = next;
      if (stopping() || !engine.holdsShard(STREAM_SHARD)) return;
    }
  }

  const loop: BackgroundLoop = createBackgroundLoop(deps, {
    pass: async (stopping) => {
      try {
        await pass(stopping);
      } catch (error) {
        metrics.auditSinkFailed();
        throw error;
      }
    },
    everyMs: ROUND_EVERY_MS,
    retryMs: [ROUND_EVERY_MS, SLOWEST_RETRY_MS],
    failure: "could not send the audit's entries to AUDIT_SINK; they are sent later",
  });
  return { start: () => loop.start(0), stop: (ms) => endedWithin(clock, ms, [loop.stop()]) };
}

/**
 * A write to a full pipe or to a network mount may neither succeed nor fail. No second write begins while one hangs. Once it ends, its
 * entries are written again.
 */
function withTimeLimit({ auditSink, clock }: StreamDeps): AuditSink {
  let isWriting = false;
  const end = (): void => void (isWriting = false);
  return {
    ...auditSink,
    async write(lines) {
      if (isWriting) throw hangs();
      isWriting = true;
      const written = auditSink.write(lines);
      await endedWithin(clock, HANGS_AFTER_MS, [written.then(end, end)]);
      if (isWriting) throw hangs();
      await written;
    },
  };
}

const hangs = (): PortError =>
  new PortError("AUDIT_SINK: a write of the audit's entries has neither ended nor failed", {
    applied: "maybe",
    retry: "later",
    code: "hangs",
  });

/** Begins with the first entry if this sink has taken none yet, or if the audit is not the one that it has taken. */
async function storedCursor(deps: StreamDeps): Promise<SinkCursor> {
  const { store, auditSink, log } = deps;
  const cursors = await storedCursors(deps);
  const stored = cursors.find(({ to }) => to === auditSink.name);
  if (stored === undefined) return newCursor(deps);
  if (await isInAudit(store, (await store.auditHead()) ?? BEGINNING, stored)) return stored;
  log.error(
    { entry: stored.seq },
    "the audit differs from what AUDIT_SINK has taken; it is sent again from its beginning",
  );
  return newCursor(deps);
}

/**
 * The document is not sealed. One that holds no cursor is a finding, and must not keep entries from the sink. Accepted: it is replaced before
 * the finding is in the audit, so after a crash in between only the log has the finding.
 */
async function storedCursors({ store, integrity }: StreamDeps): Promise<readonly SinkCursor[]> {
  const stored = await store
    .document(SINK_CURSORS)
    .catch((error: unknown) => nullIfNeverReadable(error) ?? "{");
  const cursors = sinkCursorsIn(stored);
  if (stored !== null && cursors.length === 0) {
    // An acknowledged finding is not found again, so each needs an id of its own.
    const head = (await store.auditHead())?.seq ?? 0;
    integrity.found({ id: `sink cursors after ${head}`, words: NO_CURSOR, run: null });
  }
  return cursors;
}

const NO_CURSOR =
  "AUDIT_SINK: the stored record of how far it has taken the audit cannot be read. The record begins again. A sink that was replaced may lack entries: compare its copy with verify --against before you archive.";

/** Stores that the sink has taken nothing yet. Without a cursor, an archive would remove entries that it has not taken. */
async function newCursor(deps: StreamDeps): Promise<SinkCursor> {
  const { store } = deps;
  const to = deps.auditSink.name;
  const [oldest] = await store.auditRows(0, 1);
  const archived = (oldest?.seq ?? 1) - 1;
  const link = await store.auditLink(archived);
  return putCursor(deps, link === null ? { to, seq: 0, link: NO_LINK } : { to, seq: archived, link });
}

/** Keeps the cursors of other sinks. */
async function putCursor(deps: StreamDeps, cursor: SinkCursor): Promise<SinkCursor> {
  const cursors = await storedCursors(deps);
  const others = cursors.filter(({ to }) => to !== cursor.to);
  await deps.store.putDocument(SINK_CURSORS, sinkDocument([cursor, ...others]));
  return cursor;
}

/** Sends the next batch. Resolves to null if there are no more entries. Rejects if the sink did not take them. */
async function send(deps: StreamDeps, cursor: SinkCursor): Promise<SinkCursor | null> {
  const { store, auditSink, metrics, log } = deps;
  const { to, seq, link } = cursor;
  const head = (await store.auditHead()) ?? BEGINNING;
  if (!(await isInAudit(store, head, cursor))) {
    log.error(
      { entry: seq },
      "the newest entries of the audit are gone; AUDIT_SINK has taken entries that it lacks",
    );
    return storedCursor(deps);
  }
  metrics.auditSinkLag(Math.max(head.seq - seq, 0));
  const rows = await store.auditRows(seq, BATCH);
  const last = rows.at(-1);
  if (last === undefined) return null;
  // The first entries may be archived.
  const before = rows[0]?.seq === seq + 1 ? link : ((await store.auditLink((rows[0]?.seq ?? 1) - 1)) ?? link);
  const lines = rows.map((row, at) => ocsfLine(row, rows[at - 1]?.link ?? before));
  await auditSink.write(lines);
  const next = await putCursor(deps, { to, seq: last.seq, link: last.link });
  metrics.auditSinkLag(Math.max(head.seq - last.seq, 0));
  return next;
}
