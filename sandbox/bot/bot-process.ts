// Runs the real bot as a process of its own. It gets only an environment, so it cannot know where it runs.

import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";

export type BotProcess = {
  /** Resolves when the bot answers /readyz. Rejects, with what it printed, when it exits before. */
  ready(timeoutMs?: number): Promise<void>;
  /** Ends it with the signal and resolves to its exit code (null when the signal ended it). */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  /** Sends the signal and leaves the bot alone. */
  signal(signal: NodeJS.Signals): void;
  /** Stops it where it is, with its connections open. The result lets it go on, as does the end of this process. */
  pause(): () => void;
  /** The clock of a tied bot goes so far ahead of the machine's (ms), within some time. No effect on another bot. */
  setAhead(ms: number): void;
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Where its health is served. */
  readonly url: string;
  /** Everything it has printed so far. */
  printed(): string;
  readonly exited: Promise<number | null>;
};

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
/**
 * The same options as in `npm start` and the image; another program is started without them. A small young generation keeps the process
 * small. Without a look-up for links, the modules load a fifth faster.
 */
const FLAGS = ["--max-semi-space-size=4", "--preserve-symlinks", "--disable-sigusr1"];
const COMPILE_CACHE = new URL("../../src/compile-cache.js", import.meta.url).href;
const EXIT_WITH_PARENT = new URL("exit-with-parent.ts", import.meta.url).href;
const RESUME_WITH_PARENT = fileURLToPath(new URL("resume-with-parent.ts", import.meta.url));
/** Where `exit-with-parent.ts` reads. */
const PIPE = 3;
const KEPT_CHARS = 2_000_000;

export type BotOutput = {
  /** Called with everything that the bot prints. */
  readonly echo?: ((text: string) => void) | undefined;
  /** The bot dies with this process, even one that is killed. Its clock begins so far ahead of the machine's (ms). */
  readonly tied?: { readonly aheadMs: number };
  /** Another program in its place, such as one that it is compared with. */
  readonly program?: string;
};

export function startBot(env: { readonly [name: string]: string }, ears: BotOutput = {}): BotProcess {
  const { echo = () => undefined, tied = null, program = MAIN } = ears;
  const child = spawnBot(env, tied, program);
  let printed = "";
  const hear = (chunk: Buffer): void => {
    const text = chunk.toString("utf8");
    printed = (printed + text).slice(-KEPT_CHARS);
    echo(text);
  };
  for (const spoken of [child.stdout, child.stderr]) spoken?.on("data", hear);
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
    pid: child.pid,
    url,
    printed: () => printed,
    exited,
  };
}

function pauseProcess(child: ChildProcess): () => void {
  if (process.platform === "win32") throw new Error("Windows cannot pause a process.");
  // It must be there first: a paused process whose parent dies could not even exit.
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

/** The cache of compiled modules halves the time of a start. */
function inherited(): { readonly [name: string]: string } {
  const { NODE_COMPILE_CACHE: cache } = process.env;
  return { PATH: searchPath(), ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }) };
}

/** Where programs are looked for. */
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

/** What the operator may set of the bot's variables for the sandbox, beside POLICY_FILE. */
const OWN = ["DEPLOYMENT_NAME", "RUN_URL", "APPROVERS"] as const;

/** Those of them that the operator has set. */
export function ownVariables(): { readonly [name: string]: string } {
  const set = OWN.map((name) => [name, process.env[name] ?? ""] as const);
  return Object.fromEntries(set.filter(([, value]) => value.trim() !== ""));
}

/** The operator's POLICY_FILE, or null. People and groups are those of `world/seed.ts`. */
export function ownPolicyFile(): string | null {
  const file = process.env["POLICY_FILE"]?.trim() ?? "";
  return file === "" ? null : resolve(file);
}
