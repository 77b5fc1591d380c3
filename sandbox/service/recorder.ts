// Records every request that reached a server, and what happened to its answer, independently of the client.

import type { IncomingHttpHeaders } from "node:http";
import { createChanges } from "../base/changes.ts";
import type { Wait } from "../base/changes.ts";

export type KeyShown = "right" | "wrong" | "none";

export type Recorded = {
  readonly number: number;
  readonly at: number;
  readonly method: string;
  /** The path as sent, including the query. */
  readonly path: string;
  /** The name of the endpoint. Null if there is none. */
  readonly route: string | null;
  /** The headers, without the values of `authorization` and `x-api-key`. `key` says whether the key was valid. */
  readonly headers: Readonly<Record<string, string>>;
  readonly key: KeyShown;
  /** Null until the body has arrived in full. */
  readonly body: string | null;
  readonly fault: string | null;
  /** Null until the answer has started. */
  readonly status: number | null;
  /** Whether the answer has no body. False until the answer has started. */
  readonly empty: boolean;
  /** Whether the connection ended before the whole answer was written to it. */
  readonly lost: boolean;
  readonly done: boolean;
};

export type RequestMatch = { readonly method?: string; readonly route?: string };

export type Requests = {
  readonly all: (match?: RequestMatch) => readonly Recorded[];
  /** Returns the requests with a higher number, in the order in which they started. */
  readonly after: (number: number) => readonly Recorded[];
  readonly until: (
    predicate: (requests: readonly Recorded[]) => boolean,
    wait?: Wait,
  ) => Promise<readonly Recorded[]>;
  readonly subscribe: (listener: () => void) => () => void;
  readonly clear: () => void;
  /** How many requests were dropped because the recorder keeps only so many. 0 means that the record is complete. */
  readonly forgotten: () => number;
};

type Arrival = Pick<Recorded, "method" | "path" | "route" | "key">;
type Update = (
  change: Partial<Pick<Recorded, "body" | "fault" | "status" | "empty" | "lost" | "done">>,
) => void;
export type Recorder = {
  readonly requests: Requests;
  readonly begin: (arrival: Arrival, headers: IncomingHttpHeaders) => Update;
};

const fresh = { body: null, fault: null, status: null, empty: false, lost: false, done: false };
const secretHeaders = new Set(["authorization", "x-api-key"]);

export function createRecorder(now: () => number, keep = 100_000): Recorder {
  const changes = createChanges();
  let entries: Recorded[] = [];
  let begun = 0;
  let forgotten = 0;

  return {
    requests: {
      all: (match = {}) => entries.filter((entry) => matches(entry, match)),
      after: (number) => entries.slice(Math.max(0, number + 1 - (entries[0]?.number ?? 0))),
      until: (predicate, wait) =>
        changes.until(
          () => (predicate(entries) ? [...entries] : undefined),
          (ms) => `not within ${ms} ms; ${summaryOf(entries)}`,
          wait,
        ),
      subscribe: changes.subscribe,
      clear: () => void (entries = []),
      forgotten: () => forgotten,
    },
    begin(arrival, headers) {
      const entry = {
        number: ++begun,
        at: now(),
        ...arrival,
        headers: shown(headers),
        ...fresh,
      };
      entries.push(entry);
      // Drop a tenth at a time, so that the list is not copied for every request.
      if (entries.length > keep * 1.1) {
        forgotten += entries.length - keep;
        entries = entries.slice(-keep);
      }
      changes.changed();
      return (change) => {
        Object.assign(entry, change);
        changes.changed();
      };
    },
  };
}

export function matches(request: Pick<Recorded, "method" | "route">, match: RequestMatch): boolean {
  return (
    (match.method === undefined || match.method === request.method) &&
    (match.route === undefined || match.route === request.route)
  );
}

function shown(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) kept[name] = secretHeaders.has(name) ? "(not kept)" : String(value);
  }
  return kept;
}

function summaryOf(entries: readonly Recorded[]): string {
  const last = entries.slice(-20).map((entry) => `${entry.method} ${entry.path} → ${entry.status ?? "…"}`);
  return `${entries.length} requests so far: ${last.join("; ")}`;
}
