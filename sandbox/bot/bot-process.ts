// Runs the real bot in a separate process. The bot gets only its environment, so it cannot know that it runs in the sandbox.

import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";

export type BotProcess = {
  /** Resolves when /readyz succeeds. Rejects, with what the bot printed, if it exits before or on a timeout. */
  ready(timeoutMs?: number): Promise<void>;
  /** Sends the signal, and resolves to the exit code. The code is null if the signal ended the process. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  /** Sends the signal without waiting. */
  signal(signal: NodeJS.Signals): void;
  /** Pauses the process with its connections open. The returned function resumes it, and so does the end of this process. */
  pause(): () => void;
  /** Moves the clock of a tied bot this far ahead of the machine's (ms), step by step. Has no effect on other bots. */
  setAhead(ms: number): void;
  /** How far the clock of a tied bot is known to have arrived ahead of the machine's (ms). */
  aheadMs(): number;
  /** Undefined if the process could not be started. */
  readonly pid: number | undefined;
  /** The address where the bot serves its health. */
  readonly url: string;
  /** Returns what the bot has printed so far. */
  printed(): string;
  readonly exited: Promise<number | null>;
};

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
/**
 * The same options as in `npm start` and the image; another program is started without them. A small young generation keeps the process
 * small. Without a look-up for links, the modules load a fifth faster.
 */
const FLAGS = ["--max-semi-space-size=2", "--preserve-symlinks", "--disable-sigusr1"];
const COMPILE_CACHE = new URL("../../src/compile-cache.js", import.meta.url).href;
const EXIT_WITH_PARENT = new URL("exit-with-parent.ts", import.meta.url).href;
const RESUME_WITH_PARENT = fileURLToPath(new URL("resume-with-parent.ts", import.meta.url));
/** The file descriptor that `exit-with-parent.ts` reads. */
const PIPE = 3;
const KEPT_CHARS = 2_000_000;

export type BotOutput = {
  /** Called with everything that the bot prints. */
  readonly echo?: ((text: string) => void) | undefined;
  /**
   * Ties the bot to this process: it dies when this process ends, even by SIGKILL. Its clock starts this far ahead (ms). `onArrival` is
   * called when the clock arrives where `setAhead` moves it.
   */
  readonly tied?: { readonly aheadMs: number; readonly onArrival?: () => void };
  /** A program to start instead of the bot, for example to compare both. */
  readonly program?: string;
};

export function startBot(env: { readonly [name: string]: string }, options: BotOutput = {}): BotProcess {
  const { echo = () => undefined, tied = null, program = MAIN } = options;
  const child = spawnBot(env, tied, program);
  let printed = "";
  const onOutput = (chunk: Buffer): void => {
    const text = chunk.toString("utf8");
    printed = (printed + text).slice(-KEPT_CHARS);
    echo(text);
  };
  for (const output of [child.stdout, child.stderr]) output?.on("data", onOutput);
  let aheadMs = tied?.aheadMs ?? 0;
  readArrivals(child, (ms) => {
    aheadMs = ms;
    tied?.onArrival?.();
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const url = `http://${env["HOST"] ?? "127.0.0.1"}:${env["PORT"] ?? "3000"}`;
  const says = (): string => printed.trim() || "(it printed nothing)";
  return {
    ready: (timeoutMs = 20_000) => untilReady(`${url}/readyz`, child, { timeoutMs, says }),
    end: (signal) => {
      child.kill(signal);
      return exited;
    },
    signal: (signal) => void child.kill(signal),
    pause: () => pauseProcess(child),
    setAhead: (ms) => {
      const pipe = child.stdio[PIPE];
      if (pipe instanceof Writable && pipe.writable) pipe.write(`${ms}\n`);
    },
    aheadMs: () => aheadMs,
    pid: child.pid,
    url,
    printed: () => printed,
    exited,
  };
}

/** Reads how far a tied bot says that its clock has arrived ahead (ms). */
function readArrivals(child: ChildProcess, arrived: (ms: number) => void): void {
  const pipe = child.stdio[PIPE];
  if (!(pipe instanceof Socket)) return;
  // The pipe breaks when the process ends, which is noticed by its exit.
  pipe.on("error", () => undefined);
  createInterface(pipe).on("line", (ms) => arrived(Number(ms)));
}

function pauseProcess(child: ChildProcess): () => void {
  if (process.platform === "win32") throw new Error("Windows cannot pause a process.");
  // The guard must start first: a paused bot whose parent dies could not even exit.
  const guard = spawn(process.execPath, [RESUME_WITH_PARENT, String(child.pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  child.kill("SIGSTOP");
  return () => {
    child.kill("SIGCONT");
    guard.stdin.end();
  };
}

function spawnBot(
  env: { readonly [name: string]: string },
  tied: { readonly aheadMs: number } | null,
  program: string,
): ChildProcess {
  const isOurs = program === MAIN;
  const preloaded = isOurs ? [COMPILE_CACHE] : [];
  if (tied !== null) preloaded.push(`${EXIT_WITH_PARENT}?ahead=${tied.aheadMs}`);
  const flags = [...(isOurs ? FLAGS : []), ...preloaded.map((url) => `--import=${url}`)];
  return spawn(process.execPath, [...flags, program], {
    env: { ...inherited(), ...env },
    // The fourth pipe closes when this process ends.
    stdio: ["ignore", "pipe", "pipe", ...(tied === null ? [] : ["pipe" as const])],
  });
}

/** The variables that the bot inherits. The cache of compiled modules halves the start time. */
function inherited(): { readonly [name: string]: string } {
  const { NODE_COMPILE_CACHE: cache } = process.env;
  return { PATH: searchPath(), ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }) };
}

/** The PATH in which programs are looked up. */
export const searchPath = (): string => process.env["PATH"] ?? "";

/** How often we ask a starting bot whether it is ready (ms). */
const ASK_EVERY_MS = 25;

async function untilReady(
  url: string,
  child: ChildProcess,
  { timeoutMs, says }: { timeoutMs: number; says: () => string },
): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline;) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the bot stopped before it was ready:\n${says()}`);
    const answer = await fetch(url).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  throw new Error(`the bot was not ready within ${timeoutMs} ms:\n${says()}`);
}

/** The variables of the bot that the operator may set for the sandbox, in addition to POLICY_FILE. */
const OWN = ["DEPLOYMENT_NAME", "RUN_URL", "APPROVERS"] as const;

/** Returns the variables of `OWN` that the operator has set. */
export function ownVariables(): { readonly [name: string]: string } {
  const set = OWN.map((name) => [name, process.env[name] ?? ""] as const);
  return Object.fromEntries(set.filter(([, value]) => value.trim() !== ""));
}

/** Returns the operator's POLICY_FILE, or null. Its people and groups must be those of `world/seed.ts`. */
export function ownPolicyFile(): string | null {
  const file = process.env["POLICY_FILE"]?.trim() ?? "";
  return file === "" ? null : resolve(file);
}
