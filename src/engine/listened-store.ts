// The store as the bot uses it: its faults are heard, and what it writes into the audit is logged.

import type { AuditEntry } from "../audit/entry.ts";
import { type Counters, type EventLog, PortError } from "../ports.ts";
import type { FormTicket, Store } from "../ports/store.ts";
import type { Clock } from "./clock.ts";

type Ears = {
  readonly clock: Pick<Clock, "monotonic">;
  readonly metrics: Pick<Counters, "storeFault">;
  readonly log: Pick<EventLog, "info">;
};

export function listenTo(
  opened: Store,
  { clock, metrics, log }: Ears,
): { readonly store: Store; readonly storeFaults: StoreFaults } {
  const { store, faults } = hearStoreFaults(opened, { clock, metrics });
  return { store: logAudit(store, log), storeFaults: faults };
}

// The store, with an ear on its faults. A fault of any call is told for a minute, because the next write may succeed all the same.

export type StoreFaults = {
  /** Since this moment (monotonic): how many, and the code of the newest. */
  since(at: number): { readonly count: number; readonly code: string };
};

type Hearing = { readonly clock: Pick<Clock, "monotonic">; readonly metrics: Pick<Counters, "storeFault"> };

type Method = (...args: readonly unknown[]) => unknown;

/** More faults than this within a minute are not told apart. */
const MAX_KEPT = 1_000;

function hearStoreFaults(
  store: Store,
  { clock, metrics }: Hearing,
): { readonly store: Store; readonly faults: StoreFaults } {
  const heard: { readonly at: number; readonly code: string }[] = [];
  const hear = (error: unknown): never => {
    if (error instanceof PortError && error.code.startsWith("store_")) {
      metrics.storeFault(error.code);
      heard.push({ at: clock.monotonic(), code: error.code });
      if (heard.length > MAX_KEPT) heard.shift();
    }
    throw error;
  };
  const methods = Object.entries(store as unknown as { readonly [name: string]: Method });
  const listening = methods.map(([name, method]): [string, Method] => [
    name,
    (...args) => {
      const answer = method(...args);
      return answer instanceof Promise ? answer.catch(hear) : answer;
    },
  ]);
  return {
    store: Object.fromEntries(listening) as unknown as Store,
    faults: {
      since: (at) => {
        const recent = heard.filter((each) => each.at >= at);
        return { count: recent.length, code: recent.at(-1)?.code ?? "" };
      },
    },
  };
}

// A line for each step of a decision once its audit entry is stored, so the log tells no step that did not happen. With the approval's id
// one finds them all. The entries' texts (requests, reasons, tasks) are never logged.

const LINES: Partial<Record<AuditEntry["what"], string>> = {
  opened: "a form to decide was opened",
  voted: "a vote is recorded",
  decided: "a decision is recorded",
  refused: "an attempt was refused",
  sent: "a decision is about to be sent",
  settled: "a decision is settled",
  closed: "an approval closed without a decision here",
  reminded: "people were reminded of a request",
  escalated: "a request was escalated",
  claimed: "a person looks at a request",
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

/** The store, which logs what it has written. */
function logAudit(store: Store, log: Pick<EventLog, "info">): Store {
  const tell = (entries: readonly AuditEntry[] = []): void => {
    for (const entry of entries) {
      const line = LINES[entry.what];
      if (line !== undefined) log.info(fieldsOf(entry), line);
    }
  };
  return {
    ...store,
    ...logRuns(store, tell),
    async saveForm(ticket, audit) {
      await store.saveForm(ticket, audit);
      if (ticket.reading === true) log.info(readingFields(ticket), "a request was opened to be read");
      tell(audit);
    },
    async saveForms(tickets, audit) {
      await store.saveForms(tickets, audit);
      tell(audit);
    },
    async audit(entries) {
      await store.audit(entries);
      tell(entries);
    },
    async dispute(id, entry) {
      const done = await store.dispute(id, entry);
      if (done === "disputed") tell([entry]);
      return done;
    },
  };
}

function logRuns(
  store: Store,
  tell: (entries: readonly AuditEntry[] | undefined) => void,
): Pick<Store, "insert" | "save"> {
  return {
    async insert(run, sideWrites) {
      const done = await store.insert(run, sideWrites);
      if (done === "stored" || done === "passed-on") tell(sideWrites.audit);
      return done;
    },
    async save(stored, next, sideWrites) {
      const done = await store.save(stored, next, sideWrites);
      if (done === "saved" || done === "passed-on") tell(sideWrites?.audit);
      return done;
    },
  };
}

/** Where an outcome is one of our own words. */
const OWN_OUTCOMES: readonly AuditEntry["what"][] = ["sent", "settled", "closed", "reminded", "escalated"];

function fieldsOf(entry: AuditEntry): object {
  const { what, approval, run, runId, by, verdict, step, refusal, outcome } = entry;
  const fields = {
    event: what,
    approval,
    run,
    // Of an attempt without an approval, the id may be any text that a person typed.
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
