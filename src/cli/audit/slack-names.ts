// What the shell commands ask Slack, if they are given the bot's token: single calls, and what people are called.

import { slackUser } from "../../adapters/slack/answers.ts";
import { type Call, createClients } from "../../adapters/slack/clients.ts";
import { type Environment, explainFaults, givenValue, readProxies } from "../../config.ts";
import { createLog, slackLogger } from "../../log.ts";
import { openSlack } from "../../outbound.ts";
import { PortError } from "../../ports.ts";

/** Null: there is no token. */
export function slackCall(env: Environment): Call | null {
  const token = givenValue(env, "SLACK_BOT_TOKEN");
  if (token === null) return null;
  const log = createLog({ level: "silent", pretty: false });
  const proxies = readProxies(env);
  if (!proxies.ok) throw new Error(explainFaults(proxies.error));
  const through = openSlack(proxies.value);
  return createClients(token, givenValue(env, "SLACK_API_URL"), slackLogger(log), through).quick;
}

/** Slack answers about a hundred such questions a minute; further people are shown by their ids alone. */
const NAMES_AT_MOST = 90;

/** What Slack calls a person now. Null: unknown. Asks once for each person, and no more after a failure that concerns all. */
export function slackNames(env: Environment): (user: string) => Promise<string | null> {
  const call = slackCall(env);
  const known = new Map<string, string | null>();
  let asks = call !== null;
  const ask = async (user: string): Promise<string | null> => {
    if (call === null || !asks || known.size >= NAMES_AT_MOST) return null;
    try {
      return slackUser(await call("users.info", { user })).name;
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      if (error.retry !== "never") asks = false;
      return null;
    }
  };
  return async (user) => {
    const found = known.get(user);
    if (found !== undefined) return found;
    const name = await ask(user);
    known.set(user, name);
    return name;
  };
}
