// Can the database be used? Only reads. If a running bot has the database locked, asks that bot.

import { z } from "zod";
import { createHttpClient } from "../../adapters/agents/http-client.ts";
import type { Config } from "../../config.ts";
import { PortError } from "../../ports.ts";
import { type DatabaseState, examineDatabase } from "../../adapters/store/examine.ts";
import { bad, type Finding, good } from "./finding.ts";

const WHAT = "Database";
const BOT_TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const Ready = z.object({ checks: z.object({ store: z.literal("ok") }) });

const TODO = "See that DATABASE_URL names a file in a folder that this user may write to.";

/** Changes nothing: creates no file, migrates no schema, writes no entry. */
export async function checkDatabase({ database: { path }, http }: Config): Promise<Finding> {
  try {
    const state = await examineDatabase(path);
    const bot = state.type === "missing" ? null : await runningBot(http);
    return bot === null ? findingOf(path, state) : inUse(bot);
  } catch (error) {
    const bot = await runningBot(http);
    return bot === null
      ? bad(WHAT, error instanceof Error ? error.message : String(error), TODO)
      : inUse(bot);
  }
}

const inUse = (bot: string): Finding =>
  good(WHAT, `is in use by the bot at ${bot}, which reports that it is well`);

function findingOf(path: string, { type: is, holder }: DatabaseState): Finding {
  if (holder !== null) {
    const who = holder === 0 ? "another process" : `process ${holder}`;
    const todo =
      "If that is the bot, see that it is well, and that HOST and PORT are its own. If not, stop it.";
    return bad(WHAT, `${path} is locked by ${who}, and no bot answers at HOST and PORT`, todo);
  }
  switch (is) {
    case "missing":
      return good(WHAT, `${path} is not there yet; the first start makes it, and may write there`);
    case "older":
      return good(WHAT, `${path} can be read and written to; the next start brings its schema up to date`);
    case "current":
      return good(WHAT, `${path} can be read and written to`);
  }
}

/** The address of a running bot with this configuration, if it reports that its database works. */
async function runningBot({ host, port }: Config["http"]): Promise<string | null> {
  const everywhere = host === "0.0.0.0" || host === "::";
  const name = everywhere ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const baseUrl = `http://${name}:${port}`;
  const line = createHttpClient({
    who: "Countersign",
    baseUrl,
    connections: 1,
    keepAlive: false,
    maxBodyBytes: MAX_ANSWER_BYTES,
  });
  try {
    const { body } = await line.call({ method: "GET", path: "/readyz", timeoutMs: BOT_TIMEOUT_MS });
    return Ready.safeParse(JSON.parse(body)).success ? baseUrl : null;
  } catch (error) {
    if (error instanceof PortError || error instanceof SyntaxError) return null;
    throw error;
  } finally {
    await line.close();
  }
}
