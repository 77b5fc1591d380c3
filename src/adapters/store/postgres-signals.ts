// Tells the other replicas that a run waits for the one that holds its shard: NOTIFY, on a connection that only listens. It is a hint.
// Each replica looks every second anyway, so nothing is lost where it does not work: behind PgBouncer in transaction mode, which hands
// no notification on, and on CockroachDB, which has none.

import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { Trx } from "./database.ts";
import { connectionOf } from "./postgres.ts";

export type Signals = {
  /** Goes out with the commit. */
  readonly tell: (trx: Trx) => Promise<void>;
  /** One listener; it hears the others and this process. */
  readonly onTold: (listener: () => void) => void;
  readonly close: () => Promise<void>;
};

/** Where one process has the database for itself. */
export const NO_SIGNALS: Signals = {
  tell: () => Promise.resolve(),
  onTold: () => undefined,
  close: () => Promise.resolve(),
};

const CHANNEL = "countersign";
/** How long to wait for a connection (ms). */
const CONNECT_MS = 5_000;
/** The waits before another try to listen (ms). */
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [1_000, 30_000];

export function listenTo(url: string): Signals {
  const closing = new AbortController();
  const { signal } = closing;
  let listener = (): void => undefined;
  /** The server knows NOTIFY. A statement that it does not know would end the transaction that it is in. */
  let works = false;
  const listening = keepListening(url, signal, {
    listens: () => {
      works = true;
      // What was told while no connection listened.
      listener();
    },
    told: () => listener(),
  });
  return {
    tell: async (trx) => {
      if (works) await sql`select pg_notify(${CHANNEL}, '')`.execute(trx);
    },
    onTold: (next) => void (listener = next),
    close: async () => {
      closing.abort();
      await listening;
    },
  };
}

type Hears = { readonly listens: () => void; readonly told: () => void };

async function keepListening(url: string, signal: AbortSignal, hears: Hears): Promise<void> {
  let wait = FIRST_WAIT_MS;
  while (!signal.aborted) {
    const since = performance.now();
    await listen(url, signal, hears).catch(() => undefined);
    wait = performance.now() - since > LONGEST_WAIT_MS ? FIRST_WAIT_MS : Math.min(2 * wait, LONGEST_WAIT_MS);
    await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Resolves or rejects when the connection has ended. */
async function listen(url: string, signal: AbortSignal, { listens, told }: Hears): Promise<void> {
  const { Client } = await import("pg");
  if (signal.aborted) return;
  const client = new Client({
    ...connectionOf(url),
    keepAlive: true,
    // Otherwise a server that swallows everything would keep `close` waiting.
    connectionTimeoutMillis: CONNECT_MS,
    application_name: "countersign signals",
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  for (const event of ["error", "end"] as const) client.on(event, () => end());
  client.on("notification", told);
  signal.addEventListener("abort", () => end(), { once: true });
  try {
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
    listens();
    await ended;
  } finally {
    await client.end().catch(() => undefined);
  }
}
