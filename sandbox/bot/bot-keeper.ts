// Keeps one process of the bot running. Restarts the bot when it stops by itself, and kills, pauses, stops or restarts it on request.
// Each start computes the environment again.

import { type Changes, createChanges } from "../base/changes.ts";
import { type BotProcess, startBot } from "./bot-process.ts";

export type BotState = "running" | "starting" | "paused" | "stopped";

export type BotKeeper = {
  /** A "stopped" bot stays stopped. A bot that is about to come back by itself is "starting". */
  readonly state: () => BotState;
  /** Null while no process runs. */
  readonly pid: () => number | null;
  /** The environment of the latest process. Empty before the first start. */
  readonly given: () => Environment;
  /** Why the latest process did not start, with the last lines that it printed. Null once a process has started. */
  readonly fault: () => string | null;
  /** Resolves when the bot is ready, now or after it has come back. Rejects, with what it printed, if it exits before that. */
  readonly ready: () => Promise<void>;
  /** Starts the bot, or resumes a paused one, and resolves when it is ready. May be called more than once. */
  readonly start: () => Promise<void>;
  /** Sends SIGKILL, and resolves when the process has ended. The bot comes back by itself. Rejects if no process runs. */
  readonly kill: () => Promise<void>;
  /** Sends SIGTERM by default, and resolves when the process has ended. The bot stays stopped. */
  readonly stop: (signal?: Signal) => Promise<void>;
  readonly restart: () => Promise<void>;
  /** Sends SIGSTOP: the bot keeps its connections, but does nothing. Throws if it is not running. */
  readonly pause: () => void;
  /** Sends SIGCONT. Throws if the bot is not paused. */
  readonly resume: () => void;
  /** Sets the clock of this and later processes ahead of the machine's (ms). It never goes back. */
  readonly setAhead: (ms: number) => void;
  /** Whether the clock of this process has not arrived yet where `setAhead` moves it. */
  readonly isClockMoving: () => boolean;
  readonly onChange: (listener: () => void) => () => void;
};

type Signal = "SIGTERM" | "SIGKILL";

type Environment = { readonly [name: string]: string };

export type BotKeeperOptions = {
  /** The subject of messages about this process. The default is "Countersign", or "The bot" in messages to `say`. */
  readonly name?: string;
  /** Called at every start. */
  readonly env: () => Environment;
  /** Called with everything that the bot prints. */
  readonly echo?: (text: string) => void;
  /** Called when the bot stops by itself. */
  readonly say?: (words: string) => void;
};

/** How long we wait before we restart a bot that stopped by itself (ms). The wait doubles each time it stops before it is ready. */
const BACK_AFTER_MS = 1_000;
const LONGEST_BACK_MS = 30_000;
/** A bot that is not ready after this time (ms) is killed and restarted. */
const READY_MS = 60_000;

type Kept = {
  readonly options: BotKeeperOptions;
  readonly changes: Changes;
  state: BotState;
  given: Environment;
  current: { readonly bot: BotProcess; readonly up: Promise<void> } | null;
  /** Resolves when the stopped process has ended. The next one must wait, because two processes cannot use one SQLite database. */
  leaving: Promise<unknown>;
  /** Resumes the process. Null unless it is paused. */
  wake: (() => void) | null;
  /** The timer of the next start. Null unless the bot is about to come back by itself. */
  back: NodeJS.Timeout | null;
  failures: number;
  fault: string | null;
  aheadMs: number;
};

export function createBotKeeper(options: BotKeeperOptions): BotKeeper {
  const changes = createChanges();
  const kept: Kept = {
    options,
    changes,
    state: "stopped",
    given: {},
    current: null,
    leaving: Promise.resolve(),
    wake: null,
    back: null,
    failures: 0,
    fault: null,
    aheadMs: 0,
  };
  return {
    state: () => kept.state,
    pid: () => kept.current?.bot.pid ?? null,
    given: () => kept.given,
    fault: () => kept.fault,
    ready: () => ready(kept),
    start: () => start(kept),
    kill: () => kill(kept),
    stop: (signal) => stop(kept, signal),
    restart: async () => {
      await stop(kept);
      await start(kept);
    },
    pause: () => pause(kept),
    resume: () => resume(kept),
    setAhead: (ms) => setAhead(kept, ms),
    isClockMoving: () => kept.current !== null && kept.current.bot.aheadMs() < kept.aheadMs,
    onChange: changes.subscribe,
  };
}

async function start(kept: Kept): Promise<void> {
  await kept.leaving;
  if (kept.state === "paused") resume(kept);
  if (kept.current === null) launch(kept);
  return ready(kept);
}

async function stop(kept: Kept, signal: Signal = "SIGTERM"): Promise<void> {
  forget(kept);
  const { current } = kept;
  // From here on, its exit is expected.
  kept.current = null;
  if (current !== null) kept.leaving = current.bot.end(signal);
  // A paused process receives the signal only when it resumes.
  awake(kept);
  change(kept, "stopped");
  await kept.leaving;
}

async function kill(kept: Kept): Promise<void> {
  const killed = kept.current;
  if (killed === null) throw new Error(`${named(kept)} is not running.`);
  await killed.bot.end("SIGKILL");
  // The exit is reported a moment later.
  for (; kept.current === killed;) await next(kept);
}

function pause(kept: Kept): void {
  if (kept.state !== "running" || kept.current === null) throw new Error(`${named(kept)} is not running.`);
  kept.wake = kept.current.bot.pause();
  change(kept, "paused");
}

function resume(kept: Kept): void {
  if (kept.state !== "paused") throw new Error(`${named(kept)} is not paused.`);
  awake(kept);
  change(kept, "running");
}

function awake(kept: Kept): void {
  kept.wake?.();
  kept.wake = null;
}

function setAhead(kept: Kept, ms: number): void {
  kept.aheadMs = ms;
  kept.current?.bot.setAhead(ms);
}

const named = ({ options }: Kept): string => options.name ?? "Countersign";

function launch(kept: Kept): void {
  forget(kept);
  kept.given = kept.options.env();
  const tied = { aheadMs: kept.aheadMs, onArrival: kept.changes.changed };
  const bot = startBot(kept.given, { echo: kept.options.echo, tied });
  const up = bot.ready(READY_MS);
  const launched = { bot, up };
  kept.current = launched;
  change(kept, "starting");
  void follow(kept, launched);
}

async function follow(kept: Kept, launched: NonNullable<Kept["current"]>): Promise<void> {
  const { bot, up } = launched;
  const isCurrent = (): boolean => kept.current === launched;
  // Waiting callers get the failure from `ready`.
  const isUp = await up.then(
    () => true,
    (error: unknown) => {
      if (isCurrent()) kept.fault = endOf(error instanceof Error ? error.message : String(error));
      return false;
    },
  );
  if (!isUp) await bot.end("SIGKILL");
  else if (isCurrent()) {
    kept.failures = 0;
    kept.fault = null;
    change(kept, "running");
  }
  const code = await bot.exited;
  if (isCurrent()) comeBack(kept, code);
}

/** How much of the output a fault keeps. A bot that does not start prints the reason last, perhaps after a lot of other output. */
const FAULT_CHARS = 1_500;
const endOf = (text: string): string => (text.length <= FAULT_CHARS ? text : `…${text.slice(-FAULT_CHARS)}`);

function comeBack(kept: Kept, code: number | null): void {
  kept.current = null;
  awake(kept);
  kept.options.say?.(
    `${kept.options.name ?? "The bot"} stopped (exit code ${code ?? "none"}) and is being restarted.`,
  );
  const wait = Math.min(BACK_AFTER_MS * 2 ** kept.failures, LONGEST_BACK_MS);
  kept.failures += 1;
  kept.back = setTimeout(() => launch(kept), wait);
  change(kept, "starting");
}

function forget(kept: Kept): void {
  if (kept.back !== null) clearTimeout(kept.back);
  kept.back = null;
}

async function ready(kept: Kept): Promise<void> {
  while (kept.state !== "running") {
    if (kept.state === "stopped" || kept.state === "paused")
      throw new Error(`${kept.options.name ?? "The bot"} is ${kept.state}. Start it first.`);
    if (kept.current === null) await next(kept);
    else await kept.current.up;
  }
}

/** Resolves at the next change. */
function next({ changes }: Kept): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = changes.subscribe(resolve);
  return promise.finally(stop);
}

function change(kept: Kept, state: BotState): void {
  kept.state = state;
  kept.changes.changed();
}
