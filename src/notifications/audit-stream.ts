// Sends the audit's entries, in their order, to where the operator collects such events. A stored cursor says how far they were taken:
// it moves after they were taken, so a crash repeats some and skips none. A sink that fails holds nothing else up.

import { ocsfLine } from "../audit/ocsf.ts";
import { NO_LINK } from "../domain/audit/hash-chain.ts";
import { isRecord, type Json } from "../domain/json.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../engine/background-work.ts";
import { type Clock, endedWithin } from "../engine/clock.ts";
import type { RunEngine } from "../engine/run-engine.ts";
import type { AuditSink, Counters, EventLog } from "../ports.ts";
import type { AuditEvidence, AuditLog, DocumentStore } from "../ports/store.ts";

type StreamDeps = {
  readonly store: AuditLog & AuditEvidence & DocumentStore;
  readonly auditSink: AuditSink;
  readonly engine: Pick<RunEngine, "holdsShard">;
  readonly metrics: Pick<Counters, "auditSinkFailed" | "auditSinkLag">;
  readonly clock: Clock;
  readonly log: EventLog;
};

export type AuditStream = { start(): void; stop(ms: number): Promise<void> };

const ROUND_EVERY_MS = 1_000;
/** The longest wait after failures of the sink or the store (ms). */
const SLOWEST_RETRY_MS = 60_000;
/** Entries in memory at once, and in one request: at most some hundred kilobytes. */
const AT_ONCE = 200;
/** The store's name for the newest entry that the sink took. */
const CURSOR = "audit stream";
/** The replica that holds this shard streams. */
const STREAM_SHARD = 0;

/** `to`: of which sink. `link`: of the entry `seq`, so that another audit in its place is noticed. */
type Cursor = { readonly to: string; readonly seq: number; readonly link: string };

export function createAuditStream(deps: StreamDeps): AuditStream {
  const { engine, metrics, clock } = deps;
  let cursor: Cursor | null = null;

  async function pass(stopping: () => boolean): Promise<void> {
    if (!engine.holdsShard(STREAM_SHARD)) {
      // Another replica moves the stored cursor now.
      cursor = null;
      metrics.auditSinkLag(0);
      return;
    }
    cursor ??= await storedCursor(deps);
    for (let next: Cursor | null = cursor; next !== null; next = await send(deps, cursor)) {
      cursor = next;
      if (stopping() || !engine.holdsShard(STREAM_SHARD)) return;
    }
  }

  const loop: BackgroundLoop = createBackgroundLoop(deps, {
    pass,
    everyMs: ROUND_EVERY_MS,
    retryMs: [ROUND_EVERY_MS, SLOWEST_RETRY_MS],
    failure: "could not send the audit's entries to AUDIT_SINK; they are sent later",
  });
  return { start: () => loop.start(0), stop: (ms) => endedWithin(clock, ms, [loop.stop()]) };
}

/** From the first entry on, where this sink has taken none yet, or the audit is not the one that it has taken. */
async function storedCursor({ store, auditSink, log }: StreamDeps): Promise<Cursor> {
  const first = { to: auditSink.name, seq: 0, link: NO_LINK };
  const kept = cursorIn(await store.document(CURSOR));
  if (kept === null || kept.to !== auditSink.name) return first;
  if (kept.seq === 0 || (await store.auditLink(kept.seq)) === kept.link) return kept;
  log.error(
    { entry: kept.seq },
    "the audit differs from what AUDIT_SINK has taken; it is sent again from its beginning",
  );
  return first;
}

function cursorIn(kept: Json): Cursor | null {
  if (!isRecord(kept)) return null;
  const { to, seq, link } = kept;
  return typeof to === "string" && typeof seq === "number" && typeof link === "string"
    ? { to, seq, link }
    : null;
}

/** Null: there is nothing more. Rejects if the sink did not take the entries. */
async function send(deps: StreamDeps, { to, seq, link }: Cursor): Promise<Cursor | null> {
  const { store, auditSink, metrics } = deps;
  const head = (await store.auditHead())?.seq ?? 0;
  metrics.auditSinkLag(Math.max(head - seq, 0));
  const rows = await store.auditRows(seq, AT_ONCE);
  const last = rows.at(-1);
  if (last === undefined) return null;
  // The first entries may be archived.
  const before = rows[0]?.seq === seq + 1 ? link : ((await store.auditLink((rows[0]?.seq ?? 1) - 1)) ?? link);
  const lines = rows.map((row, at) => ocsfLine(row, rows[at - 1]?.link ?? before));
  try {
    await auditSink.write(lines);
  } catch (error) {
    metrics.auditSinkFailed();
    throw error;
  }
  await store.putDocument(CURSOR, { to, seq: last.seq, link: last.link });
  metrics.auditSinkLag(Math.max(head - last.seq, 0));
  return { to, seq: last.seq, link: last.link };
}
