// Handles findings: records in the database that this program did not write. Each finding becomes an audit entry, the admins are notified,
// and no approval leaves until an admin acknowledges the finding. Denials still leave, because they can only stop an agent, and because
// each of them needs a signed entry of its own, like every decision.
//
// Findings and acknowledgements are signed entries. A person who can only write to the database can neither create nor remove one without
// causing another finding. An acknowledgement covers only the findings that it names.

import { auditEntry, type KeptEntry } from "../audit/entry.ts";
import type { Context } from "../domain/context.ts";
import { BEGINNING } from "../domain/audit/verify-chain.ts";
import type { PersonId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Counters, EventLog } from "../ports.ts";
import type { AuditLog, Finding, TamperChecks } from "../ports/audit-store.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import { type ProvenReads, readAfter, type ReadRow } from "./proven-entries.ts";

export type Integrity = {
  /** Reads the earlier findings, and checks again. Rejects if the store fails. */
  start(): Promise<void>;
  /** Reads the findings and acknowledgements of other processes. Rejects if the store fails. */
  catchUp(): Promise<void>;
  /** Takes a new finding. */
  found(finding: Finding): void;
  state(): IntegrityState;
  /** `by` is null for a person at the shell who has the key. Resolves to the number of findings. Rejects with PortError. */
  acknowledge(by: PersonId | null, code: string, reason: string): Promise<Result<number, NotAcknowledged>>;
  /** Resolves once all findings are in the audit, or the store has failed. */
  stop(): Promise<void>;
};

export type IntegrityState = {
  /** The findings that are not acknowledged. */
  readonly open: readonly Finding[];
  /** The code for exactly these findings. Null if there are none. */
  readonly code: string | null;
  /** The number of acknowledged findings. */
  readonly acknowledged: number;
};

export type NotAcknowledged = "nothing-open" | "other-findings" | "no-reason";

type Deps = {
  readonly store: Pick<AuditLog, "audit"> & ProvenReads & Pick<TamperChecks, "onTampering" | "checkAudit">;
  readonly context: () => Pick<Context, "now" | "digest">;
  readonly clock: Clock;
  readonly log: EventLog;
  readonly metrics: Pick<Counters, "tampered">;
};

/** Findings within this time (ms) share one entry and one alert. */
const TOGETHER_MS = 500;
/** The waits after failures of the store (ms): the first and the longest. */
const AGAIN_MS = [2_000, 30_000] as const;
/** The maximum number of findings in one entry. A thousand changed rows must not cause a thousand alerts. */
const FINDINGS_IN_ENTRY = 200;
const CODE_CHARS = 10;
const WORDS_CHARS = 2_000;

const WRITE_FAILED = "could not write a finding to the audit";
const TAMPERED =
  "TAMPERED: the database was changed outside Countersign; no approval leaves until an admin acknowledges it";

function stateOf(book: Book, digest: Context["digest"]): IntegrityState {
  const open = book.open();
  const ids = open.map(({ id }) => id).sort();
  const code = open.length === 0 ? null : digest(ids.join("\n")).slice(0, CODE_CHARS);
  return { open, code, acknowledged: book.acknowledged() };
}

export function createIntegrity(deps: Deps): Integrity {
  const { store, log, metrics } = deps;
  const book = createBook();
  const findingWriter = createFindingWriter(deps);

  const state = (): IntegrityState => stateOf(book, deps.context().digest);

  function found(finding: Finding): void {
    if (!book.add(finding)) return;
    log.error({ finding: finding.id, run: finding.run, words: finding.words }, TAMPERED);
    metrics.tampered(book.open().length);
    findingWriter.add(finding);
  }

  const catchUp = createCatchUp(deps, book, found);

  return {
    found,
    state,
    catchUp,
    async start() {
      await catchUp();
      store.onTampering(found);
      for (const finding of await store.checkAudit()) found(finding);
    },
    async acknowledge(by, code, reason) {
      const { open, code: currentCode } = state();
      if (currentCode === null) return err("nothing-open");
      if (currentCode !== code) return err("other-findings");
      if (reason.trim() === "") return err("no-reason");
      const findings = open.map(({ id }) => id);
      await store.audit([acknowledgedEntry(deps, by, reason, findings)]);
      book.settle(findings);
      metrics.tampered(book.open().length);
      log.warn({ by, findings }, "tampering is acknowledged; approvals leave again");
      return ok(open.length);
    },
    stop: () => findingWriter.stop(),
  };
}

function createCatchUp(
  { store, metrics }: Deps,
  book: Book,
  found: (finding: Finding) => void,
): Integrity["catchUp"] {
  let place = BEGINNING;
  let lastRead: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    const { rows, reached, isAnew } = await readAfter(store, place, BOOK_KINDS);
    place = reached;
    // What is lost from the audit is found again, so that other processes learn of it, too.
    const known = isAnew ? book.clear() : [];
    for (const finding of [...addRows(book, rows), ...known]) found(finding);
    metrics.tampered(book.open().length);
  }

  // One read at a time, so that no older answer replaces a newer one.
  return () => {
    lastRead = lastRead.then(read, read);
    return lastRead;
  };
}

type FindingWriter = { add(finding: Finding): void; stop(): Promise<void> };

/** Writes findings to the audit, in batches. The alerts follow from the entries. */
function createFindingWriter(deps: Deps): FindingWriter {
  const unwritten: Finding[] = [];

  async function write(): Promise<void> {
    const findings = unwritten.slice(0, FINDINGS_IN_ENTRY);
    if (findings.length === 0) return;
    await deps.store.audit([foundEntry(deps, findings)]);
    unwritten.splice(0, findings.length);
    if (unwritten.length > 0) loop.wake(TOGETHER_MS);
  }

  const loop = createBackgroundLoop(deps, {
    pass: write,
    everyMs: null,
    retryMs: AGAIN_MS,
    failure: WRITE_FAILED,
  });

  return {
    add(finding) {
      unwritten.push(finding);
      loop.wake(TOGETHER_MS);
    },
    async stop() {
      await loop.stop();
      try {
        while (unwritten.length > 0) await write();
      } catch (error) {
        deps.log.error({ error }, WRITE_FAILED);
      }
    },
  };
}

/** The findings and acknowledgements that this process knows. */
type Book = {
  /** Returns false if the finding is already known. */
  add(finding: Finding): boolean;
  settle(ids: readonly string[]): void;
  open(): readonly Finding[];
  acknowledged(): number;
  /** Forgets everything. Returns what was open. */
  clear(): readonly Finding[];
};

function createBook(): Book {
  const open = new Map<string, Finding>();
  const acknowledged = new Set<string>();
  return {
    add(finding) {
      if (open.has(finding.id) || acknowledged.has(finding.id)) return false;
      open.set(finding.id, finding);
      return true;
    },
    settle(ids) {
      for (const id of ids) {
        open.delete(id);
        acknowledged.add(id);
      }
    },
    open: () => [...open.values()],
    acknowledged: () => acknowledged.size,
    clear() {
      const findings = [...open.values()];
      open.clear();
      acknowledged.clear();
      return findings;
    },
  };
}

const BOOK_KINDS = ["tampering-found", "tampering-acknowledged"] as const;

/** Adds the findings and acknowledgements to the book. Returns a finding for each row that it cannot believe. */
function addRows(book: Book, rows: readonly ReadRow[]): readonly Finding[] {
  const findings: Finding[] = [];
  for (const row of rows) {
    if (row.type === "proven") addToBook(book, row.kept);
    else if (row.type === "forged") findings.push(row.finding);
    else if (row.what === "tampering-found") findings.push(unreadableFinding(row.seq));
  }
  return findings;
}

/** Approvals must wait for it, although this release cannot say what was found. */
function unreadableFinding(seq: number): Finding {
  const words = `audit entry ${seq}: a newer release of Countersign found tampering, and this release cannot read what it found`;
  return { id: `unreadable ${seq}`, words, run: null };
}

function addToBook(book: Book, { entry }: KeptEntry): void {
  const { what, findings = [], outcome, run } = entry;
  if (what === "tampering-acknowledged") book.settle(findings);
  else for (const id of findings) book.add({ id, words: outcome, run });
}

function foundEntry({ context }: Deps, findings: readonly Finding[]) {
  const [first] = findings;
  const outcome = [...new Set(findings.map(({ words }) => words))].join("; ").slice(0, WORDS_CHARS);
  const run = findings.length === 1 ? (first?.run ?? null) : null;
  const ids = findings.map(({ id }) => id);
  return auditEntry(null, { at: context().now, what: "tampering-found", outcome, run, findings: ids });
}

function acknowledgedEntry(
  { context }: Deps,
  by: PersonId | null,
  reason: string,
  findings: readonly string[],
) {
  const facts = { at: context().now, what: "tampering-acknowledged", outcome: "acknowledged" } as const;
  return auditEntry(null, { ...facts, by, reason, findings });
}
