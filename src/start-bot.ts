// Reads the configuration from the environment, starts the app, and handles signals.

import { setFlagsFromString } from "node:v8";
import { type App, startApp } from "./app.ts";
import { type Config, explainFaults, findMisspelled, describeMisspelled, secretsOf } from "./config.ts";
import { loadConfig } from "./load-config.ts";
import { createLog, withoutKept } from "./log.ts";

/** The exit code for a faulty configuration. */
const BAD_CONFIG = 2;
/** A stop that takes longer than this (ms) is forced, so that the process exits within 10 s. */
const STOP_MS = 9_500;

/**
 * V8 collects the old generation once it has grown by 30 percent. Together with a small young generation (--max-semi-space-size=2), this
 * keeps the process below 190 MB with ten thousand runs. Without this flag, it needs 100 MB more. The flag is not set on the command line,
 * because V8 would then also collect while modules load, which takes a tenth of the start-up time. V8 reads the flag at each collection.
 */
setFlagsFromString("--heap-growing-percent=30");

const misspelt = findMisspelled(process.env);
const config = await configOrExit();
const log = createLog({
  level: config.logLevel,
  pretty: process.stdout.isTTY,
  secrets: secretsOf(config),
  sharesOutput: config.audit.sink?.type === "stdout",
});
for (const variable of misspelt) log.warn(variable, describeMisspelled(variable));
process.on("unhandledRejection", (error) => log.error({ error }, "unhandled rejection"));
let app: Pick<App, "reload" | "stop"> | null = null;
let isStopping = false;
stopOnSignals();
await startOrExit();

async function configOrExit(): Promise<Config> {
  const read = await loadConfig(process.env);
  if (read.ok) return read.value;
  process.stderr.write(`${explainFaults(read.error, misspelt)}\n`);
  process.exit(BAD_CONFIG);
}

async function startOrExit(): Promise<void> {
  try {
    await startApp(config, log, {
      onBegin: (begun) => (app = begun),
      onRefused: (error) => {
        if (!isStopping) log.error({ error }, "this process can record nothing more, so it ends");
        stop(1, {});
      },
    });
  } catch (error) {
    // A stop during the start closes parts that the start uses, so the start fails.
    if (isStopping) return;
    log.debug({ error }, "the start failed");
    const words = withoutKept(error instanceof Error ? error.message : String(error));
    process.stderr.write(`Countersign cannot start: ${words}\n`);
    process.exit(1);
  }
}

/** Called before the app starts: as process 1 of a container, Node ignores signals that have no listener. */
function stopOnSignals(): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop(0, { signal }));
  process.on("SIGHUP", () => void app?.reload());
}

function stop(code: number, why: object): void {
  if (isStopping) return;
  isStopping = true;
  log.info(why, "stopping");
  // The next start settles effects that are still marked as in progress.
  setTimeout(() => process.exit(code), STOP_MS).unref();
  void (app?.stop() ?? Promise.resolve()).then(() => {
    log.info({}, "stopped");
    process.exit(code);
  });
}
