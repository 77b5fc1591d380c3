// A world whose bot can be killed: Slack, the service and the database stay, the process goes and comes back.

import { auditVerdict, openAuditFile, publicKeysFor } from "#src/cli/audit/inspect.ts";
import type { AuditVerdict } from "#src/domain/audit/verify-chain.ts";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { createDatabase } from "../make/world-database.ts";

export type Lane = {
  readonly world: World;
  /** Resolves when a bot can be reached, now or after the next start. The same promise until it is killed. */
  up(): Promise<void>;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Another process on the same database; resolves when it can be reached. */
  restart(): Promise<void>;
  /** As `npm run audit -- verify` says, whatever the bot does. */
  audit(): Promise<AuditVerdict>;
  /** The kinds of all entries of the audit, in order. */
  entries(): Promise<readonly string[]>;
  /** What the bot found in its database that it had not written. */
  findings(): Promise<readonly string[]>;
  /** Resolves when the bot has asked nothing of Slack for longer than it waits for any lost answer. */
  quiet(): Promise<void>;
  stop(): Promise<void>;
};

/** One process on a file of SQLite, unless the environment of the tests asks for PostgreSQL. */
export type OneProcess = Lane & {
  /** Where the database is. */
  readonly database: string;
  /** The process that runs now. */
  bot(): BotProcess;
};

/**
 * Above POST_LINGER_MS (domain/posted-message.ts) and DECISION_LINGER_MS (domain/apply-snapshot.ts): what was to be done by then is done.
 * Above SUBMIT_AGE_MS (engine/fresh-facts.ts): who submits is looked up again.
 */
const QUIET_MS = 5_500;

/** Several bots start at once, and other people use this machine too (ms). */
const READY_MS = 60_000;

/** Polls as fast as they go, so that a life takes a second or two. */
export const FAST = { POLL_MIN_MS: "40", POLL_MAX_MS: "200", LOG_LEVEL: "warn" };

export type Environment = { readonly [name: string]: string };

/** `env`: more of the bot's variables, or what becomes of those that it gets. */
export async function startLane(
  env: Environment | ((given: Environment) => Environment) = {},
): Promise<OneProcess> {
  const stored = await createDatabase();
  const { place: database, env: keys } = stored;
  const world = await startWorld({ databaseUrl: stored.url, tempo: 0, slack: { rateLimits: false } });
  const given = { ...world.env, ...keys, ...FAST };
  const changed = typeof env === "function" ? env(given) : { ...given, ...env };
  const begin = () => startBot(changed);
  let bot = begin();
  let up = Promise.withResolvers<void>();
  const ready = async (): Promise<void> => {
    await bot.ready(READY_MS);
    up.resolve();
  };
  await ready();
  return {
    world,
    database,
    bot: () => bot,
    up: () => up.promise,
    kill: async () => {
      const before = up;
      up = Promise.withResolvers();
      // Whoever waits for a bot that was killed before it was up waits for the next one.
      before.resolve(up.promise);
      await bot.end("SIGKILL");
    },
    restart: () => {
      bot = begin();
      return ready();
    },
    audit: async () => {
      const audit = await openAuditFile(database);
      try {
        return await auditVerdict(audit, publicKeysFor({ database, key: keys["AUDIT_KEY"] ?? null }, []), []);
      } finally {
        await audit.close();
      }
    },
    entries: async () => {
      const audit = await openAuditFile(database);
      try {
        return (await Array.fromAsync(audit.rows())).map(({ columns }) => columns.what);
      } finally {
        await audit.close();
      }
    },
    findings: async () => {
      const audit = await openAuditFile(database);
      try {
        const rows = await Array.fromAsync(audit.rows());
        return rows.filter(({ columns }) => columns.what === "tampering-found").map(({ text }) => text);
      } finally {
        await audit.close();
      }
    },
    quiet: () => quiet(world),
    stop: async () => {
      await bot.end("SIGKILL");
      await world.stop();
      await stored.remove();
    },
  };
}

export function quiet({ slack }: World): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begin = () => setTimeout(resolve, QUIET_MS);
  let timer = begin();
  const stop = slack.traffic.onLine(({ from }) => {
    if (from !== "app") return;
    clearTimeout(timer);
    timer = begin();
  });
  return promise.finally(stop);
}
