// Notifies the other replicas (NOTIFY) that a run waits for the holder of its shard. A separate connection listens. The notification is only
// a hint: each replica looks regularly anyway. So nothing is lost where it does not work: PgBouncer in transaction mode does not forward
// notifications, and CockroachDB has none.

import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { Trx } from "./database.ts";
import { connectionOf } from "./postgres.ts";

export type Signals = {
  /** The server sends the notification when the transaction commits. */
  readonly notify: (trx: Trx) => Promise<void>;
  /** Sets the only listener. It receives the notifications of all processes, including this one. */
  readonly onNotified: (listener: () => void) => void;
  readonly close: () => Promise<void>;
};

/** For a database that only one process uses. */
export const NO_SIGNALS: Signals = {
  notify: () => Promise.resolve(),
  onNotified: () => undefined,
  close: () => Promise.resolve(),
};

const CHANNEL = "countersign";
/** How long to wait for a connection (ms). */
const CONNECT_MS = 5_000;
/** The first and the longest wait before the next try to listen (ms). */
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [1_000, 30_000];

export function listenTo(url: string): Signals {
  const closing = new AbortController();
  const { signal } = closing;
  let listener = (): void => undefined;
  /** Whether the server supports NOTIFY. An unknown statement would abort the transaction. */
  let isSupported = false;
  const listening = keepListening(url, signal, {
    onListening: () => {
      isSupported = true;
      // There may have been notifications while no connection listened.
      listener();
    },
    onNotification: () => listener(),
  });
  return {
    notify: async (trx) => {
      if (isSupported) await sql`select pg_notify(${CHANNEL}, '')`.execute(trx);
    },
    onNotified: (next) => void (listener = next),
    close: async () => {
      closing.abort();
      await listening;
    },
  };
}

type Handlers = { readonly onListening: () => void; readonly onNotification: () => void };

async function keepListening(url: string, signal: AbortSignal, handlers: Handlers): Promise<void> {
  let wait = FIRST_WAIT_MS;
  while (!signal.aborted) {
    const since = performance.now();
    await listen(url, signal, handlers).catch(() => undefined);
    if (performance.now() - since > LONGEST_WAIT_MS) wait = FIRST_WAIT_MS;
    await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }
}

/** Resolves or rejects when the connection has ended. */
async function listen(url: string, signal: AbortSignal, handlers: Handlers): Promise<void> {
  const { Client } = await import("pg");
  if (signal.aborted) return;
  const client = new Client({
    ...connectionOf(url),
    keepAlive: true,
    // Without a limit, a server that never answers would keep `close` waiting.
    connectionTimeoutMillis: CONNECT_MS,
    application_name: "countersign signals",
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  for (const event of ["error", "end"] as const) client.on(event, () => end());
  client.on("notification", handlers.onNotification);
  const onAbort = (): void => end();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
    handlers.onListening();
    await ended;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await client.end().catch(() => undefined);
  }
}
