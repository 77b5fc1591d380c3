// Are the tokens valid, and do they have the needed scopes? Posts nothing and opens no socket.

import { WebAPIPlatformError } from "@slack/web-api";
import { z } from "zod";
import type { Config } from "../../config.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import { PortError } from "../../ports.ts";
import { type Log, slackLogger } from "../../log.ts";
import { type Call, createClients } from "../../adapters/slack/clients.ts";
import { bad, type Finding, good } from "./finding.ts";
import { NEEDED_SCOPES } from "./scopes.ts";

const BOT = "Slack bot token";
const SCOPES = "Slack scopes";
const APP = "Slack app token";
const SECRET = "Slack signing secret";

const UNREACHED = "Is the network open to Slack? If SLACK_API_URL is set, is it right?";

const Self = z.object({ user: z.string().catch("?"), team: z.string().catch("?") });
const Scopes = z.object({ response_metadata: z.object({ scopes: z.array(z.string()) }) });

export async function checkSlack({ slack }: Config, log: Log): Promise<Finding[]> {
  const call = (token: string): Call => createClients(token, slack.apiUrl, slackLogger(log)).background;
  const transport =
    slack.mode === "socket"
      ? checkAppToken(call(slack.appToken))
      : good(SECRET, `is set; whether it is right shows when somebody types ${slack.command}`);
  return (await Promise.all([checkBotToken(call(slack.botToken)), transport])).flat();
}

async function checkBotToken(call: Call): Promise<Finding[]> {
  try {
    const answer = await call("auth.test", {});
    const { user, team } = Self.parse(answer);
    return [good(BOT, `is @${oneLine(user, 80)} in ${oneLine(team, 80)}`), checkScopes(answer)];
  } catch (error) {
    const todo = "Copy SLACK_BOT_TOKEN again from the app's page OAuth & Permissions.";
    return [refused(BOT, error, todo), bad(SCOPES, "are not known without a good token", "")];
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
    return good(APP, "may open Socket Mode");
  } catch (error) {
    const todo =
      "SLACK_APP_TOKEN must be an app-level token with the scope connections:write, and Socket Mode be on.";
    return refused(APP, error, todo);
  }
}

function refused(what: string, error: unknown, todo: string): Finding {
  if (!(error instanceof PortError)) throw error;
  const answered = error.cause instanceof WebAPIPlatformError;
  return bad(what, oneLine(`${error.message}, ${error.code}`, 200), answered ? todo : UNREACHED);
}
