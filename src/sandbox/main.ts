// `npm run sandbox`: everything on this machine, no Slack account.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type BotProcess, startBot } from "./bot-process.ts";
import { startWorld, type World } from "./world.ts";

const USAGE = `Runs Countersign with a local Slack and a local agent service. Nothing leaves this machine.

  --port <n>     the page's port (4400, or another when that is taken; 0: any free one)
  --tempo <x>    how long the agents' work takes: 1 as usual, 0.1 ten times as fast (1)
  --verbose      also print what the bot logs
  --help         this text
`;

const options = {
  port: { type: "string" },
  tempo: { type: "string", default: "1" },
  verbose: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** A bot that stopped by itself comes back after this long (ms). */
const BACK_AFTER_MS = 1_000;

try {
  const given = parseArgs({ options }).values;
  if (given.help) console.log(USAGE);
  else
    await run(
      given.port === undefined ? null : numberIn("--port", given.port),
      numberIn("--tempo", given.tempo),
      given.verbose,
    );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

async function run(port: number | null, tempo: number, verbose: boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-"));
  const databaseUrl = `sqlite:${join(folder, "countersign.db")}`;
  const world = await onFreePort(port, (free) => startWorld({ port: free, tempo, databaseUrl }));
  const running = keepBot(world, verbose);
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    await running.stop();
    await world.stop();
    await rm(folder, { recursive: true, force: true });
    process.exit(0);
  };
  process.on("SIGINT", () => void stop());
  process.on("SIGTERM", () => void stop());
  await running.ready();
  console.log(
    `Countersign's sandbox is ready: open ${world.slack.url} and type  /agent run deploy billing-api to production  (Ctrl-C ends it)`,
  );
}

const USUAL_PORT = 4400;

/** The usual port may be taken by another sandbox, and then any will do; a port that somebody asked for is not exchanged. */
async function onFreePort(port: number | null, start: (port: number) => Promise<World>): Promise<World> {
  try {
    return await start(port ?? USUAL_PORT);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    if (port !== null)
      throw new Error(`Port ${port} is in use. Name another with --port, or leave it out.`, { cause: error });
    return start(0);
  }
}

/** The bot, started again when it stops by itself. */
function keepBot(world: World, verbose: boolean): { ready(): Promise<void>; stop(): Promise<void> } {
  const env = { ...world.env, LOG_LEVEL: verbose ? "info" : "error" };
  let stopping = false;
  const begin = (): BotProcess => {
    const bot = startBot(env, (text) => void process.stderr.write(text));
    void comeBack(bot);
    return bot;
  };
  const comeBack = async (bot: BotProcess): Promise<void> => {
    const code = await bot.exited;
    if (stopping) return;
    console.error(`The bot stopped (exit code ${code ?? "none"}). It is started again.`);
    setTimeout(() => (current = begin()), BACK_AFTER_MS);
  };
  let current = begin();
  return {
    ready: () => current.ready(),
    stop: async () => {
      stopping = true;
      await current.end("SIGTERM");
    },
  };
}

function numberIn(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number) || number < 0)
    throw new Error(`${name} takes a number, not «${text}».`);
  return number;
}
