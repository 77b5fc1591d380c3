// Checks whether a start could listen on HOST and PORT. It does not bind the port itself, because a bot that starts at this moment would
// be refused.

import { once } from "node:events";
import net from "node:net";
import { networkInterfaces } from "node:os";
import { z } from "zod";
import { createHttpClient } from "../../adapters/agents/http-client.ts";
import type { Config } from "../../config.ts";
import { PROBE_MS } from "../../engine/health.ts";
import { PortError } from "../../ports.ts";
import { bad, type Finding, good } from "./finding.ts";

const PORT = "Port";
const CONNECT_MS = 2_000;
/** A bot whose database hangs answers only after its own time limit. This wait is longer, so that the doctor still recognizes it (ms). */
const READY_MS = PROBE_MS + 2_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const TAKEN = "another program uses this port, or a bot that does not answer";
/** A stuck bot can be the only one that keeps a database whose files were deleted (Linux). */
export const STUCK =
  "the bot is stuck. First run `ls -l /proc/PID/fd`. If it shows a file of the bot's database as deleted, or at another path than `realpath` of the file in DATABASE_URL, do not stop the bot: docs/operate.md says under CountersignStoreFailing how to save the database. Otherwise, restart the bot.";
const OTHER_PROGRAM = "If it is another program, stop that one, or set PORT to another number.";
const OTHER_PORT = `If that is the bot, look at its log. If the log has been silent for two minutes, ${STUCK} ${OTHER_PROGRAM}`;
const HOLDS_DATABASE = `If that is the bot, do not stop it: it may have the only copy of its database. ${OTHER_PROGRAM}`;
const OTHER_HOST =
  "Set HOST to an address of this machine, such as 127.0.0.1, or to 0.0.0.0 for all its addresses.";
const HIGH_PORT = "Set PORT to a number above 1023.";

/** A bot that is running now at HOST and PORT. */
export type RunningBot = {
  readonly url: string;
  /** The failed checks of its /readyz, such as "store: the disk is full". */
  readonly troubles: readonly string[];
};

/** `isLost`: the database is gone from its place, so no advice may lead to a restart. */
export async function checkPort(
  { http: { host, port } }: Config,
  bot: RunningBot | null,
  isLost: boolean,
): Promise<Finding> {
  const at = `${host}, port ${port}`;
  const refused = await tryToListen(host, 0);
  if (refused !== null)
    return bad(PORT, `cannot listen on ${at}: this machine does not have that address`, OTHER_HOST);
  if (bot !== null) return botFinding(bot);
  if (port !== 0 && (await isTaken(host, port)))
    return bad(PORT, `cannot listen on ${at}: ${TAKEN}`, isLost ? HOLDS_DATABASE : OTHER_PORT);
  // Only the system knows who may use a low port, so this tries it. Few bots use one.
  const denied = port > 0 && port < 1024 ? await tryToListen(host, port) : null;
  if (denied !== null) return bad(PORT, `cannot listen on ${at}: this user may not use this port`, HIGH_PORT);
  return good(PORT, `${at} is free`);
}

function botFinding({ url, troubles }: RunningBot): Finding {
  if (troubles.length === 0) return good(PORT, `a bot runs at ${url} and reports no problem`);
  return bad(PORT, `a bot runs at ${url} and reports: ${troubles.join("; ")}`, "Read its log.");
}

/** Resolves to null if it could listen there. */
async function tryToListen(host: string, port: number): Promise<Error | null> {
  const server = net.createServer().listen({ host, port });
  try {
    await once(server, "listening");
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    server.close();
  }
}

const isEverywhere = (host: string): boolean => host === "0.0.0.0" || host === "::";

/** A program that listens on any one address keeps us from listening on all addresses. */
async function isTaken(host: string, port: number): Promise<boolean> {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  // Link-local addresses also need the name of their interface. A machine that has one also has other addresses.
  const reachable = addresses.filter(({ scopeid }) => !scopeid).map(({ address }) => address);
  const hosts = isEverywhere(host) ? reachable : [host];
  return (await Promise.all(hosts.map((address) => answers(address, port)))).includes(true);
}

function answers(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = net.connect({ host, port, timeout: CONNECT_MS });
  socket.once("connect", () => resolve(true));
  socket.once("error", () => resolve(false));
  socket.once("timeout", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

const Ready = z.object({ status: z.string(), checks: z.record(z.string(), z.unknown()) });

/** Resolves to null if no bot answers at HOST and PORT. */
export async function findRunningBot({ http: { host, port } }: Config): Promise<RunningBot | null> {
  if (port === 0) return null;
  const name = isEverywhere(host) ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const url = `http://${name}:${port}`;
  const common = { who: "Countersign", connections: 1, keepAlive: false, maxBodyBytes: MAX_ANSWER_BYTES };
  const client = createHttpClient({ ...common, baseUrl: url });
  try {
    const { body } = await client.call({ method: "GET", path: "/readyz", timeoutMs: READY_MS });
    const { success, data } = Ready.safeParse(JSON.parse(body));
    return success ? { url, troubles: troublesIn(data.checks) } : null;
  } catch (error) {
    if (error instanceof PortError || error instanceof SyntaxError) return null;
    throw error;
  } finally {
    await client.close();
  }
}

const troublesIn = (checks: { readonly [part: string]: unknown }): string[] =>
  Object.entries(checks).flatMap(([part, says]) =>
    typeof says === "string" && says !== "ok" ? [`${part}: ${says}`] : [],
  );
