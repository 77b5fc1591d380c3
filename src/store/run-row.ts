// A run and a modal's ticket as rows, and back.

import type { RunKey } from "../core/ids.ts";
import { isRecord, type Json, parseJson } from "../core/json.ts";
import { type Run, runId, unreadableNow } from "../core/run.ts";
import { type ModalTicket, PortError, type Stored } from "../flow/ports.ts";
import type { RunRow, Tables } from "./tables.ts";

/** Raised when the shape of a released run or ticket changes; older versions are then read here too. */
export const DOC_VERSION = 1;

/** The columns that follow from the run itself. */
export type DerivedRow = Pick<
  RunRow,
  "service_run_id" | "team" | "channel" | "requester" | "pending" | "doc_version" | "doc"
>;

export function toRow(run: Run): DerivedRow {
  return {
    service_run_id: runId(run),
    team: run.team,
    channel: run.channel,
    requester: run.requester,
    pending:
      run.approvals.filter(({ state }) => state.is === "pending").length + (unreadableNow(run)?.count ?? 0),
    doc_version: DOC_VERSION,
    doc: JSON.stringify(run),
  };
}

/** Throws a PortError for a row that cannot be understood; all other rows are good none the less. */
export function fromRow(row: Pick<RunRow, "key" | "revision" | "doc_version" | "doc">): Stored {
  const what = `run ${row.key}`;
  const doc = understood(what, row);
  if (doc["key"] !== row.key) throw unreadable(what, "it names another run");
  return { run: doc as unknown as Run, revision: row.revision };
}

export function ticketRow(ticket: ModalTicket): Tables["modals"] {
  const { nonce, run, at } = ticket;
  return { nonce, run, opened_at: at, doc_version: DOC_VERSION, doc: JSON.stringify(ticket) };
}

export function fromTicketRow(row: Tables["modals"]): ModalTicket {
  return understood(`form ${row.nonce}`, row) as unknown as ModalTicket;
}

function understood(
  what: string,
  row: { doc_version: number; doc: string },
): { readonly [key: string]: Json } {
  if (row.doc_version !== DOC_VERSION) {
    throw unreadable(what, `it is written in version ${row.doc_version}, this program reads ${DOC_VERSION}`);
  }
  const doc = parsedJson(what, row.doc);
  if (!isRecord(doc)) throw unreadable(what, "it is no record");
  return doc;
}

export function parsedJson(what: string, text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw unreadable(what, "it is not JSON", error);
  }
}

function unreadable(what: string, words: string, cause?: unknown): PortError {
  const facts = { applied: "no", retry: "never", code: "row_unreadable", cause } as const;
  return new PortError(`the stored ${what} cannot be read: ${words}`, facts);
}

/** Reads what can be read and reports the rest. */
export function readable<Row extends Parameters<typeof fromRow>[0]>(
  rows: readonly Row[],
  onCorrupt: (key: RunKey, error: PortError) => void,
): Stored[] {
  return rows.flatMap((row) => {
    try {
      return [fromRow(row)];
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      onCorrupt(row.key, error);
      return [];
    }
  });
}
