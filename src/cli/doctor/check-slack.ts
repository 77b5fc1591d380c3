// Checks that the tokens are valid, belong to one app and have the needed scopes, and that our clock agrees with Slack's. Posts nothing
// and opens no socket.

import { WebAPIPlatformError } from "@slack/web-api";
import { type Dispatcher, request } from "undici";
import { z } from "zod";
import type { Answer, Call } from "../../adapters/slack/clients.ts";
import type { Config } from "../../config.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import { PortError } from "../../ports.ts";
import { bad, type Finding, good, note, todoAfter } from "./finding.ts";

const BOT_TOKEN = "Slack bot token";
const APP = "Slack app";
const SCOPES = "Slack scopes";
const APP_TOKEN = "Slack app token";
const SIGNING_SECRET = "Slack signing secret";
const CLOCK = "Clock";

const UNREACHED = "Check that this machine can reach Slack, and SLACK_API_URL if it is set.";
const COPY_BOT_TOKEN = "Copy SLACK_BOT_TOKEN again from the app's page OAuth & Permissions.";
const ONE_APP = "Copy both tokens, and SLACK_APP_ID if it is set, from the pages of the same app.";
const NAME_APP = 'Set SLACK_APP_ID to the "App ID" on the app\'s page Basic Information.';
export const REINSTALL =
  "Update the app's manifest from manifest.yml (HTTP mode: manifest.http.yml), and reinstall the app to the workspace.";
const CONNECTIONS =
  "Set SLACK_APP_TOKEN to an app-level token with the scope connections:write, and turn Socket Mode on.";

const Self = z.object({ user: z.string().catch("?"), team: z.string().catch("?"), bot_id: z.string() });
const OfApp = z.object({ app_id: z.string() });
const OfBot = z.object({ bot: OfApp });
const Scopes = z.object({ response_metadata: z.object({ scopes: z.array(z.string()) }) });

/** Slack reports the number of sockets only to a socket, and a socket of ours would receive clicks meant for the running bot. */
const UNSEEN = ". The doctor cannot see whether a second bot uses this app; a running bot logs it";

/** The scopes that the bot token needs. A test compares this list with manifest.yml, which says why each scope is needed. */
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

export type SlackFindings = {
  readonly findings: readonly Finding[];
  /** Calls Slack with the bot token. Null if the token does not work, so nothing can be looked up. */
  readonly bot: Call | null;
};

/** `through`: the connections for the clock check. The default is a direct connection. */
export async function checkSlack(
  { slack }: Config,
  call: (token: string) => Call,
  through?: Dispatcher,
): Promise<SlackFindings> {
  const bot = call(slack.botToken);
  const socket = slack.mode === "socket" ? call(slack.appToken) : null;
  const [self, transport, clock] = await Promise.all([
    tried(() => bot("auth.test", {})),
    socket === null ? secretFinding(slack.command) : checkAppToken(socket),
    checkClock(slack, through),
  ]);
  if (!("answer" in self)) {
    const unknown = bad(SCOPES, "are unknown without a valid token", "");
    return {
      findings: [refused(BOT_TOKEN, self.error, COPY_BOT_TOKEN), unknown, transport, ...clock],
      bot: null,
    };
  }
  const app = await checkApp(slack, bot, { self: self.answer, socket });
  return { findings: [selfFinding(self.answer), app, ...checkScopes(self.answer), transport, ...clock], bot };
}

const secretFinding = (command: string): Finding =>
  good(SIGNING_SECRET, `is set; to check that it is right, type ${command} in Slack once the bot runs`);

function selfFinding(answer: Answer): Finding {
  const { success, data } = Self.safeParse(answer);
  if (success) return good(BOT_TOKEN, `is @${oneLine(data.user, 80)} in ${oneLine(data.team, 80)}`);
  return bad(BOT_TOKEN, "belongs to a person, not to a bot", COPY_BOT_TOKEN);
}

/** Payloads of another app are refused, so the bot token, the app token and SLACK_APP_ID must belong to one app. */
async function checkApp(
  { appId }: Config["slack"],
  bot: Call,
  { self, socket }: { readonly self: Answer; readonly socket: Call | null },
): Promise<Finding> {
  const { bot_id } = Self.catch({ user: "", team: "", bot_id: "" }).parse(self);
  const [ofBot, ofSocket] = await Promise.all([
    tried(() => bot("bots.info", { bot: bot_id })),
    socket === null ? null : tried(() => socket("auth.test", {})),
  ]);
  const named = "answer" in ofBot ? OfBot.safeParse(ofBot.answer).data?.bot.app_id : undefined;
  if (appId === null && "error" in ofBot && ofBot.error.retry === "later")
    return refused(APP, ofBot.error, NAME_APP);
  if (named === undefined && appId === null)
    return bad(APP, "Slack does not say which app SLACK_BOT_TOKEN belongs to", NAME_APP);
  if (named !== undefined && appId !== null && named !== appId)
    return bad(APP, `SLACK_BOT_TOKEN belongs to the app ${named}, but SLACK_APP_ID is ${appId}`, ONE_APP);
  const app = named ?? appId ?? "";
  const other =
    ofSocket !== null && "answer" in ofSocket ? OfApp.safeParse(ofSocket.answer).data?.app_id : app;
  if (other !== undefined && other !== app)
    return bad(APP, `SLACK_BOT_TOKEN belongs to the app ${app}, but SLACK_APP_TOKEN to ${other}`, ONE_APP);
  return good(APP, `is ${oneLine(app, 40)}${socket === null ? "" : UNSEEN}`);
}

function checkScopes(answer: Answer): Finding[] {
  const parsed = Scopes.safeParse(answer);
  if (!parsed.success) {
    const todo = "Check that SLACK_API_URL is Slack, and that no proxy removes headers.";
    return [bad(SCOPES, "are missing from Slack's answer, so they cannot be checked", todo)];
  }
  const held = parsed.data.response_metadata.scopes;
  const missing = NEEDED_SCOPES.filter((scope) => !held.includes(scope));
  const extra = held.filter((scope) => !NEEDED_SCOPES.includes(scope));
  return [
    missing.length === 0
      ? good(SCOPES, `all ${NEEDED_SCOPES.length} needed scopes are granted`)
      : bad(SCOPES, `missing: ${missing.join(", ")}`, REINSTALL),
    ...(extra.length === 0
      ? []
      : [
          note(SCOPES, `not needed: ${extra.join(", ")}`, "Remove them, so that a stolen token can do less."),
        ]),
  ];
}

/** Asks for a socket's address, which Slack gives only to a valid app token. Opening the socket would take clicks from a running bot. */
async function checkAppToken(call: Call): Promise<Finding> {
  const opened = await tried(() => call("apps.connections.open", {}));
  return "answer" in opened
    ? good(APP_TOKEN, "is valid for Socket Mode")
    : refused(APP_TOKEN, opened.error, CONNECTIONS);
}

type Tried = { readonly answer: Answer } | { readonly error: PortError };

async function tried(call: () => Promise<Answer>): Promise<Tried> {
  try {
    return { answer: await call() };
  } catch (error) {
    if (error instanceof PortError) return { error };
    throw error;
  }
}

function refused(what: string, error: PortError, todo: string): Finding {
  if (error.code === "http_429") {
    const wait = error.retryAfterMs === null ? "a minute" : `${Math.ceil(error.retryAfterMs / 1_000)} s`;
    const again = `Run the doctor again in ${wait}. If this persists, another program uses this token.`;
    return bad(what, "was not checked: Slack asks us to slow down (HTTP 429)", again);
  }
  const says = error.message.includes(error.code) ? error.message : `${error.message} (${error.code})`;
  const isRefusal = error.cause instanceof WebAPIPlatformError;
  return bad(what, says, isRefusal ? todo : todoAfter(error.code, UNREACHED));
}

// Compares our clock with the time in Slack's answers. In HTTP mode requests are signed with Slack's time, and the audit records ours.

const SLACK = "https://slack.com/api/";
const CLOCK_TIMEOUT_MS = 9_000;
/** A difference that a slow answer cannot explain (ms). */
const CLOCK_OFF_MS = 30_000;
/** From this difference on (ms), Slack's requests count as replays: `adapters/slack/request-verifier.ts`. */
const REPLAY_MS = 5 * 60_000;

/**
 * Asks without a token, because the refusal has the time too. Finds nothing if there is no connection to Slack. The finding on the bot token
 * then says why, and what to do, also if the clock is so wrong that Slack's certificate is not valid yet or not any more.
 */
async function checkClock(
  { apiUrl, mode }: Config["slack"],
  through: Dispatcher | undefined,
): Promise<Finding[]> {
  const url = new URL("auth.test", `${(apiUrl ?? SLACK).replace(/\/*$/, "")}/`);
  const signal = AbortSignal.timeout(CLOCK_TIMEOUT_MS);
  const answer = await request(url, {
    method: "POST",
    signal,
    ...(through && { dispatcher: through }),
  }).catch(() => null);
  await answer?.body.dump();
  const theirs = Date.parse(String(answer?.headers["date"] ?? ""));
  return Number.isNaN(theirs) ? [] : [clockFinding(Date.now() - theirs, mode)];
}

function clockFinding(offMs: number, mode: Config["slack"]["mode"]): Finding {
  if (Math.abs(offMs) < CLOCK_OFF_MS) return good(CLOCK, "agrees with Slack's");
  const says = `is ${Math.round(Math.abs(offMs) / 1_000)} s ${offMs > 0 ? "ahead of" : "behind"} Slack's`;
  const refuses =
    mode === "http" && Math.abs(offMs) >= REPLAY_MS ? ", so every request from Slack is refused" : "";
  return bad(
    CLOCK,
    `${says}${refuses}`,
    "Synchronize this machine's clock (NTP). Until then the times in the audit are wrong too.",
  );
}
