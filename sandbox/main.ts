// `npm run sandbox`: runs everything on this machine. No Slack account is needed.

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { enableCompileCache, flushCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ownPolicyFile, ownVariables } from "./bot/bot-process.ts";
import type { World, WorldOptions } from "./world/world.ts";

/** Holds the compiled code of the sandbox and the bot, which makes the next start twice as fast. A changed file is compiled again. */
const COMPILED = fileURLToPath(new URL("../node_modules/.cache/countersign", import.meta.url));

const MAX_REPLICAS = 5;

const USAGE = `Runs Countersign with a local Slack and a local agent service. Nothing leaves this machine.

  --port <n>     the page's port (default: 4400, or any free port if it is in use; 0: any free port)
  --tempo <x>    scales how long the agents' work takes: 0.1 is ten times as fast (default: 1)
  --verbose      also print the bot's log
  --postgres     store the bot's data in a temporary PostgreSQL server instead of SQLite
  --replicas <n> how many bots share the work, 1 to ${MAX_REPLICAS} (default: 1); more than one needs --postgres
  --help         print this text

The bot inherits POLICY_FILE, DEPLOYMENT_NAME, RUN_URL and APPROVERS from the environment.
`;

const DEFAULT_PORT = 4400;

/** Ben and Cat are notified of disputes and may read the audit, whose heads go to #releases. With SQLite, the bot creates the audit key. */
const AUDIT = { ADMINS: "U0CAT,U0BEN", AUDIT_CHANNEL: "C0RELEASES" };

const options = {
  port: { type: "string" },
  tempo: { type: "string", default: "1" },
  verbose: { type: "boolean", default: false },
  postgres: { type: "boolean", default: false },
  replicas: { type: "string", default: "1" },
  help: { type: "boolean", default: false },
} as const;

try {
  const args = parseArgs({ options }).values;
  if (args.help) console.log(USAGE);
  else
    await run({
      port: args.port === undefined ? null : numberIn("--port", args.port),
      tempo: numberIn("--tempo", args.tempo),
      verbose: args.verbose,
      postgres: args.postgres,
      replicas: replicasIn(args.replicas, args.postgres),
    });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

type RunOptions = {
  /** Null for the default port. */
  readonly port: number | null;
  readonly tempo: number;
  readonly verbose: boolean;
  readonly postgres: boolean;
  readonly replicas: number;
};

async function run({ port, ...options }: RunOptions): Promise<void> {
  enableCompileCache(COMPILED);
  const { startWorld } = await import("./world/world.ts");
  let database: Database | null = null;
  let bot: World["bot"] = null;
  let stopping: Promise<void> | null = null;
  const begin = async (): Promise<World> => {
    const own = (database = await (options.postgres ? inPostgres() : inSqlite()));
    if (stopping !== null) throw new Error("The sandbox was ended while it started.");
    const world = await onFreePort(port, (free) => startWorld(worldOptions(options, own, free)));
    ({ bot } = world);
    return world;
  };
  const tidyUp = async (): Promise<void> => database?.tidyUp();
  endOnFault(async () => {
    await bot?.stop("SIGKILL");
    await tidyUp();
  });
  // What is just being made can be removed only once it exists, so a stop waits for it.
  const begun = begin();
  const stopWorld = (): Promise<void> =>
    begun.then(
      (world) => world.stop(),
      () => undefined,
    );
  const stop = (): Promise<void> => (stopping ??= stopWorld().then(tidyUp));
  endOnSignals(stop);
  try {
    const world = await begun;
    await world.bot?.ready();
    if (stopping === null) sayReady(world.slack.url);
  } catch (error) {
    if (stopping !== null) return;
    await stop();
    throw error;
  }
  flushCompileCache();
}

function worldOptions(
  { tempo, verbose, replicas }: Omit<RunOptions, "port">,
  { databaseUrl, env }: Database,
  port: number,
): WorldOptions {
  const logging = { LOG_LEVEL: verbose ? "info" : "error", NODE_COMPILE_CACHE: COMPILED };
  const bot = {
    env: { ...logging, ...AUDIT, ...ownVariables(), ...env },
    policyFile: ownPolicyFile(),
    replicas,
    echo: (text: string) => void process.stderr.write(text),
    say: (words: string) => console.error(words),
  };
  return { port, tempo, databaseUrl, bot };
}

function sayReady(url: string): void {
  console.log(
    `Countersign's sandbox is ready: open ${url} and type  /agent run deploy billing-api to production  (Ctrl-C ends it)`,
  );
}

type Database = {
  readonly databaseUrl: string;
  readonly env: { readonly [name: string]: string };
  readonly tidyUp: () => Promise<void>;
};

async function inSqlite(): Promise<Database> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-"));
  return {
    databaseUrl: `sqlite:${join(folder, "countersign.db")}`,
    env: {},
    tidyUp: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

async function inPostgres(): Promise<Database> {
  const { startPostgres } = await import("./bot/own-postgres.ts");
  const server = await startPostgres((words) => console.error(words));
  // The database cannot hold the key that protects it, and all replicas need the same one.
  const env = { AUDIT_KEY: randomBytes(32).toString("base64") };
  return { databaseUrl: server.url, env, tidyUp: server.stop };
}

/** Further signals do nothing. */
function endOnSignals(stop: () => Promise<void>): void {
  let ending = false;
  const end = async (): Promise<void> => {
    if (ending) return;
    ending = true;
    console.log("The sandbox is stopping…");
    await stop();
    console.log("The sandbox has ended.");
    process.exit();
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => void end());
}

/** An uncaught error leaves the sandbox in an unknown state, so it exits. `tidyUp` stops the bot. */
function endOnFault(tidyUp: () => Promise<void>): void {
  const end = async (why: string): Promise<void> => {
    await tidyUp().catch(() => undefined);
    console.error(`The sandbox failed and has ended: ${why}`);
    process.exit(1);
  };
  process.once("uncaughtException", (error: unknown) => {
    // Ignore further errors while the sandbox stops.
    process.on("uncaughtException", () => undefined);
    void end((error instanceof Error ? error.message : String(error)).replace(/\s+/g, " "));
  });
}

/** Falls back to any free port if the default port is in use. Throws if a port that the user asked for is in use. */
async function onFreePort(port: number | null, start: (port: number) => Promise<World>): Promise<World> {
  try {
    return await start(port ?? DEFAULT_PORT);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    if (port !== null)
      throw new Error(`Port ${port} is in use. Choose another with --port, or leave the option out.`, {
        cause: error,
      });
    return start(0);
  }
}

function replicasIn(text: string, postgres: boolean): number {
  const count = numberIn("--replicas", text);
  if (!Number.isInteger(count) || count < 1 || count > MAX_REPLICAS)
    throw new Error(`--replicas takes a whole number from 1 to ${MAX_REPLICAS}, not "${text}".`);
  if (count > 1 && !postgres)
    throw new Error(
      "Several replicas need --postgres: only one process at a time can use a SQLite database.",
    );
  return count;
}

function numberIn(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number) || number < 0)
    throw new Error(`${name} takes a number, not "${text}".`);
  return number;
}
