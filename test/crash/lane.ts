// A world whose bot can be killed and restarted while Slack, the service and the database stay.

import { auditVerdict, openAuditFile, publicKeysFor } from "#src/cli/audit/inspect.ts";
import type { AuditVerdict } from "#src/domain/audit/verify-chain.ts";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { createDatabase } from "../make/world-database.ts";

export type Lane = {
  readonly world: World;
  /** Resolves when a bot can be reached, now or after the next start. Returns the same promise until the bot is killed. */
  up(): Promise<void>;
  /** Kills the process with `kill -9`. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts another process on the same database. Resolves when it can be reached. */
  restart(): Promise<void>;
  /** Verifies the audit as `npm run audit -- verify` does. Works even while the bot runs. */
  audit(): Promise<AuditVerdict>;
  /** Resolves to the kinds of all audit entries, in order. */
  entries(): Promise<readonly string[]>;
  /** Resolves to the bot's findings of tampering. */
  findings(): Promise<readonly string[]>;
  /** Resolves when the bot has called Slack for nothing for longer than it waits after any lost answer. */
  quiet(): Promise<void>;
  stop(): Promise<void>;
};

/** One process on an SQLite file, or on PostgreSQL if the environment of the tests asks for it. */
export type OneProcess = Lane & {
  /** The address of the database. */
  readonly database: string;
  /** Returns the current process. */
  bot(): BotProcess;
};

/**
 * Longer than POST_LINGER_MS (domain/posted-message.ts) and DECISION_LINGER_MS (domain/snapshot.ts), so everything is done by then.
 * Longer than SUBMIT_AGE_MS (engine/fresh-facts.ts), so that the person who submits is looked up again.
 */
const QUIET_MS = 5_500;
const QUIET_STEPS = 11;

/** How long a start may take (ms). Several bots start at once, perhaps on a busy machine. */
const READY_MS = 60_000;

/** Polls as fast as possible, so that a life takes a second or two. */
export const FAST = { POLL_MIN_MS: "40", POLL_MAX_MS: "200", LOG_LEVEL: "warn" };

export type Environment = { readonly [name: string]: string };

/** `env`: further variables of the bot, or a function that changes its variables. */
export async function startLane(
  env: Environment | ((base: Environment) => Environment) = {},
): Promise<OneProcess> {
  const stored = await createDatabase();
  const { place: database, env: keys } = stored;
  const world = await startWorld({ databaseUrl: stored.url, tempo: 0, slack: { rateLimits: false } });
  const base = { ...world.env, ...keys, ...FAST };
  const changed = typeof env === "function" ? env(base) : { ...base, ...env };
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
      // Callers that wait for a bot that was killed before it was up wait for the next one.
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
  let left = QUIET_STEPS;
  // In steps, because a machine that stands still for some seconds lets the bot do nothing in that time.
  const timer = setInterval(() => {
    left -= 1;
    if (left === 0) resolve();
  }, QUIET_MS / QUIET_STEPS);
  const stop = slack.traffic.onLine(({ from }) => {
    if (from === "app") left = QUIET_STEPS;
  });
  return promise.finally(() => (clearInterval(timer), stop()));
}
