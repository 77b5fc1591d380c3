// How the shell commands reach Slack, if they are given the bot's token, and what people are called there.

import { slackUser } from "../../adapters/slack/answers.ts";
import type { Call } from "../../adapters/slack/clients.ts";
import { type Environment, explainFaults, readSlackAccess } from "../../config.ts";
import { PortError } from "../../ports.ts";

/** Null: there is no token. Slack's packages are loaded only for one: to load them takes longer than most commands do. */
export async function slackCall(env: Environment): Promise<Call | null> {
  const read = readSlackAccess(env);
  if (!read.ok) throw new Error(explainFaults(read.error));
  if (read.value === null) return null;
  const { botToken, apiUrl, proxies } = read.value;
  const [{ createClients }, { createLog, slackLogger }, { openSlack }] = await Promise.all([
    import("../../adapters/slack/clients.ts"),
    import("../../log.ts"),
    import("../../outbound.ts"),
  ]);
  const log = createLog({ level: "silent", pretty: false });
  return createClients(botToken, apiUrl, slackLogger(log), openSlack(proxies)).quick;
}

/** Slack answers about a hundred such questions a minute; further people are shown by their ids alone. */
const MAX_NAMES = 90;

/** What Slack calls a person now. Null: unknown. Asks once for each person, and no more after a failure that concerns all. */
export async function slackNames(env: Environment): Promise<(user: string) => Promise<string | null>> {
  const call = await slackCall(env);
  const known = new Map<string, string | null>();
  let asks = call !== null;
  const ask = async (user: string): Promise<string | null> => {
    if (call === null || !asks || known.size >= MAX_NAMES) return null;
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
