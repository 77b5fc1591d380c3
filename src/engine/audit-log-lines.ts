// Each step of a decision is logged once its audit entry is stored, so the log shows no step that did not happen. All lines carry the
// approval's id. The texts of the entries (requests, reasons, tasks) are never logged.

import type { AuditEntry } from "../audit/entry.ts";
import type { EventLog } from "../ports.ts";
import type { FormTicket, Store } from "../ports/store.ts";

const LINES: Partial<Record<AuditEntry["what"], string>> = {
  opened: "a decision form was opened",
  voted: "a vote is recorded",
  decided: "a decision is recorded",
  refused: "an attempt was refused",
  sent: "a decision is about to be sent",
  settled: "a decision is settled",
  closed: "an approval closed without a decision here",
  reopened: "a closed approval opened again",
  reminded: "people were reminded of a request",
  escalated: "a request was escalated",
  claimed: "a person claimed a request",
  "handed-over": "a person handed a request over",
  asked: "a question was asked about a request",
  answered: "a question about a request was answered",
  extended: "the time to decide a request was extended",
  disputed: "a decision is disputed",
  started: "a run was started",
  watched: "a run is watched",
  unwatched: "a run is not watched any more",
  stopped: "a run was stopped",
  "stop-lifted": "the stop of a run was lifted",
};

/** Returns a store that logs the audit entries it has written. */
export function logAudit(store: Store, log: Pick<EventLog, "info">): Store {
  const logEntries = (entries: readonly AuditEntry[] = []): void => {
    for (const entry of entries) {
      const line = LINES[entry.what];
      if (line !== undefined) log.info(fieldsOf(entry), line);
    }
  };
  return {
    ...store,
    ...logRuns(store, logEntries),
    async saveForm(ticket, audit) {
      await store.saveForm(ticket, audit);
      if (ticket.reading === true) log.info(readingFields(ticket), "a request was opened to be read");
      logEntries(audit);
    },
    async saveForms(tickets, audit) {
      await store.saveForms(tickets, audit);
      logEntries(audit);
    },
    async audit(entries) {
      await store.audit(entries);
      logEntries(entries);
    },
    async dispute(id, entry) {
      const result = await store.dispute(id, entry);
      if (result === "disputed") logEntries([entry]);
      return result;
    },
  };
}

function logRuns(
  store: Store,
  logEntries: (entries: readonly AuditEntry[] | undefined) => void,
): Pick<Store, "insert" | "save"> {
  return {
    async insert(run, sideWrites) {
      const result = await store.insert(run, sideWrites);
      if (result === "stored" || result === "passed-on") logEntries(sideWrites.audit);
      return result;
    },
    async save(stored, next, sideWrites) {
      const result = await store.save(stored, next, sideWrites);
      if (result === "saved" || result === "passed-on") logEntries(sideWrites?.audit);
      return result;
    },
  };
}

/** The kinds of entries whose outcome is one of our own words. */
const OWN_OUTCOMES: readonly AuditEntry["what"][] = [
  "sent",
  "settled",
  "closed",
  "reopened",
  "reminded",
  "escalated",
];

function fieldsOf(entry: AuditEntry): object {
  const { what, approval, run, runId, by, verdict, step, refusal, outcome } = entry;
  const fields = {
    event: what,
    approval,
    run,
    // In a refused attempt without an approval, the id may be any text that a person typed.
    runId: what === "refused" && approval === null ? null : runId,
    by: by?.user ?? null,
    verdict,
    step,
    refusal,
    outcome: OWN_OUTCOMES.includes(what) ? outcome : undefined,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null));
}

const readingFields = ({ approval, run, user, verdict }: FormTicket): object => ({
  event: "reading",
  approval,
  run,
  by: user,
  verdict,
});
