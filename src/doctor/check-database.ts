// Can the database be opened and written to? A bot that runs here and now holds it: then the bot is asked.

import { z } from "zod";
import { createLine } from "../agents/line.ts";
import type { Config } from "../config.ts";
import { PortError } from "../flow/ports.ts";
import { openStore } from "../store/open.ts";
import { bad, type Finding, good } from "./finding.ts";

const WHAT = "Database";
const BOT_TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const Ready = z.object({ checks: z.object({ store: z.literal("ok") }) });

export async function checkDatabase({ database, audit, http }: Config): Promise<Finding> {
  try {
    // Opening it brings its tables up to date and writes a lease, so it has been written to.
    const store = await openStore({
      url: `sqlite:${database.path}`,
      owner: `doctor ${process.pid}`,
      auditKey: audit.key,
    });
    await store.release();
    await store.close();
    return good(WHAT, `${database.path} opens and can be written to`);
  } catch (error) {
    const bot = await runningBot(http);
    if (bot !== null) return good(WHAT, `is in use by the bot at ${bot}, which says that it is well`);
    const says = error instanceof Error ? error.message : String(error);
    return bad(WHAT, says, "See that DATABASE_URL names a file in a folder that this user may write to.");
  }
}

/** Where a bot of this configuration answers, and says that its database does. */
async function runningBot({ host, port }: Config["http"]): Promise<string | null> {
  const everywhere = host === "0.0.0.0" || host === "::";
  const name = everywhere ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const baseUrl = `http://${name}:${port}`;
  const line = createLine({
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
