// What the doctor checks: the agent service and the gateway, the database, and Slack.

import { randomUUID } from "node:crypto";
import { WebAPIPlatformError } from "@slack/web-api";
import { z } from "zod";
import { createAgentService } from "../../adapters/agents/agent-service.ts";
import { createGateway } from "../../adapters/agents/health.ts";
import { createHttpClient } from "../../adapters/agents/http-client.ts";
import { type Call, createClients } from "../../adapters/slack/clients.ts";
import { type DatabaseState, examineDatabase } from "../../adapters/store/examine-database.ts";
import { examineServer } from "../../adapters/store/examine-server.ts";
import { shown } from "../../adapters/store/snapshot.ts";
import type { Config } from "../../config.ts";
import { RunId } from "../../domain/ids.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import { type Log, slackLogger } from "../../log.ts";
import { createOpen, openSlack } from "../../outbound.ts";
import { type AgentService, type HealthReport, PortError } from "../../ports.ts";

/** The result of one check. None of its texts holds a secret. */
export type Finding = {
  readonly what: string;
  readonly ok: boolean;
  /** The finding, in plain words. */
  readonly says: string;
  /** What to do about it; empty where nothing is to be done. */
  readonly todo: string;
};

export function good(what: string, says: string): Finding {
  return { what, ok: true, says, todo: "" };
}

function bad(what: string, says: string, todo: string): Finding {
  return { what, ok: false, says, todo };
}

// Does the agent service answer, and does it accept our key? Fetches a run that cannot exist, so nothing is read or changed.

const monotonic = (): number => performance.now();

const SERVICE = "Agent service";
const KEY = "Agent service key";
const GATEWAY = "Token gateway";

export async function checkService({ agents: asked, proxies }: Config): Promise<Finding[]> {
  const given = { ...asked, apiKey: () => asked.apiKey, open: createOpen(proxies) };
  const agents = createAgentService({ ...given, now: Date.now, monotonic, connections: 1 });
  try {
    const [health, key] = await Promise.all([agents.health(), checkKey(agents)]);
    return [healthFinding(SERVICE, health, "Is AGENT_BASE_URL right, and is the service up?"), key];
  } finally {
    await agents.close();
  }
}

export async function checkGateway({ gatewayUrl, proxies }: Config): Promise<Finding> {
  const gateway = createGateway({ baseUrl: gatewayUrl, open: createOpen(proxies), monotonic });
  try {
    const todo = "Is GATEWAY_URL right? Left out, it is AGENT_BASE_URL. Only /agent health needs it.";
    return healthFinding(GATEWAY, await gateway.health(), todo);
  } finally {
    await gateway.close();
  }
}

function healthFinding(what: string, { fault, latencyMs, says }: HealthReport, todo: string): Finding {
  if (fault !== null) return bad(what, oneLine(fault, 400), todo);
  const { version } = says;
  const named = typeof version === "string" ? `, version ${oneLine(version, 40)}` : "";
  return good(what, `answers within ${Math.ceil(latencyMs)} ms${named}`);
}

async function checkKey(agents: AgentService): Promise<Finding> {
  try {
    await agents.fetchRun(RunId(`countersign-doctor-${randomUUID()}`));
    return good(KEY, "is accepted");
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const refused = error.code === "http_401";
    const todo = refused
      ? "Set AGENT_API_KEY to a key that the service's operator gave out and has not replaced."
      : "The key could not be tried. Put the service right first.";
    return bad(KEY, oneLine(error.message, 400), todo);
  }
}

// Can the database be used? Only reads. If a running bot has the database locked, asks that bot.

const DATABASE = "Database";
const BOT_TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const Ready = z.object({ checks: z.object({ store: z.literal("ok") }) });

const OWN_FOLDER = "See that DATABASE_URL names a file in a folder that this user may write to.";

/** Changes nothing: creates no file, migrates no schema, writes no entry. */
export async function checkDatabase({ database, http }: Config): Promise<Finding> {
  if (database.engine === "postgres") return checkServer(database.url);
  const { path } = database;
  try {
    const state = await examineDatabase(path);
    const bot = state.type === "missing" ? null : await runningBot(http);
    return bot === null ? findingOf(path, state) : inUse(bot);
  } catch (error) {
    const bot = await runningBot(http);
    return bot === null
      ? bad(DATABASE, error instanceof Error ? error.message : String(error), OWN_FOLDER)
      : inUse(bot);
  }
}

const REACH_SERVER = "Is DATABASE_URL right, and may this machine and this user use the server?";
const SAFE_SERVER =
  "Turn these settings on, and use the primary, as a user who owns the database. Otherwise decisions can be lost.";

async function checkServer(url: string): Promise<Finding> {
  try {
    const { type, replicas, faults } = await examineServer(url);
    const name = shown(url);
    if (faults.length > 0) return bad(DATABASE, `${name}: ${faults.join("; ")}`, SAFE_SERVER);
    const users = replicas === 1 ? "1 process uses it" : `${replicas} processes use it`;
    const next = {
      missing: "; the first start makes its tables",
      older: "; the next start brings its schema up to date",
      current: `; ${users}`,
    };
    return good(DATABASE, `${name} can be read and written to${next[type]}`);
  } catch (error) {
    return bad(DATABASE, error instanceof Error ? error.message : String(error), REACH_SERVER);
  }
}

const inUse = (bot: string): Finding =>
  good(DATABASE, `is in use by the bot at ${bot}, which reports that it is well`);

function findingOf(path: string, { type: is, holder }: DatabaseState): Finding {
  if (holder !== null) {
    const who = holder === 0 ? "another process" : `process ${holder}`;
    const todo =
      "If that is the bot, see that it is well, and that HOST and PORT are its own. If not, stop it.";
    return bad(DATABASE, `${path} is locked by ${who}, and no bot answers at HOST and PORT`, todo);
  }
  switch (is) {
    case "missing":
      return good(DATABASE, `${path} is not there yet; the first start makes it, and may write there`);
    case "older":
      return good(
        DATABASE,
        `${path} can be read and written to; the next start brings its schema up to date`,
      );
    case "current":
      return good(DATABASE, `${path} can be read and written to`);
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

// Are the tokens valid, and do they have the needed scopes? Posts nothing and opens no socket.

const BOT_TOKEN = "Slack bot token";
const SCOPES = "Slack scopes";
const APP_TOKEN = "Slack app token";
const SIGNING_SECRET = "Slack signing secret";

const UNREACHED = "Is the network open to Slack? If SLACK_API_URL is set, is it right?";

const Self = z.object({ user: z.string().catch("?"), team: z.string().catch("?") });
const Scopes = z.object({ response_metadata: z.object({ scopes: z.array(z.string()) }) });

/** The scopes that the bot token needs. A test compares this list with manifest.yml, which says why each is needed. */
export const NEEDED_SCOPES: readonly string[] = [
  "commands",
  "app_mentions:read",
  "chat:write",
  "files:write",
  "users:read",
  "usergroups:read",
  "channels:read",
  "groups:read",
  "channels:history",
  "groups:history",
];

export async function checkSlack({ slack, proxies }: Config, log: Log): Promise<Finding[]> {
  const through = openSlack(proxies);
  const call = (token: string): Call =>
    createClients(token, slack.apiUrl, slackLogger(log), through).background;
  const transport =
    slack.mode === "socket"
      ? checkAppToken(call(slack.appToken))
      : good(SIGNING_SECRET, `is set; whether it is right shows when somebody types ${slack.command}`);
  return (await Promise.all([checkBotToken(call(slack.botToken)), transport])).flat();
}

async function checkBotToken(call: Call): Promise<Finding[]> {
  try {
    const answer = await call("auth.test", {});
    const { user, team } = Self.parse(answer);
    return [good(BOT_TOKEN, `is @${oneLine(user, 80)} in ${oneLine(team, 80)}`), checkScopes(answer)];
  } catch (error) {
    const todo = "Copy SLACK_BOT_TOKEN again from the app's page OAuth & Permissions.";
    return [refused(BOT_TOKEN, error, todo), bad(SCOPES, "are not known without a good token", "")];
  }
}

function checkScopes(answer: unknown): Finding {
  const parsed = Scopes.safeParse(answer);
  if (!parsed.success)
    return bad(
      SCOPES,
      "are not told by this Slack",
      "Is SLACK_API_URL Slack, or a proxy that hides headers?",
    );
  const held = new Set(parsed.data.response_metadata.scopes);
  const missing = NEEDED_SCOPES.filter((scope) => !held.has(scope));
  if (missing.length === 0) return good(SCOPES, `all ${NEEDED_SCOPES.length} are there`);
  const todo = "Bring the app's manifest up to manifest.yml, and install the app to the workspace again.";
  return bad(SCOPES, `missing: ${missing.join(", ")}`, todo);
}

/** Asks for the address of a socket, which only a valid app token gets, and does not open it. */
async function checkAppToken(call: Call): Promise<Finding> {
  try {
    await call("apps.connections.open", {});
    return good(APP_TOKEN, "may open Socket Mode");
  } catch (error) {
    const todo =
      "SLACK_APP_TOKEN must be an app-level token with the scope connections:write, and Socket Mode be on.";
    return refused(APP_TOKEN, error, todo);
  }
}

function refused(what: string, error: unknown, todo: string): Finding {
  if (!(error instanceof PortError)) throw error;
  const answered = error.cause instanceof WebAPIPlatformError;
  return bad(what, oneLine(`${error.message}, ${error.code}`, 200), answered ? todo : UNREACHED);
}
