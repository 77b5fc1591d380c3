// Gives the shell commands access to Slack if the bot's token is set, and looks up people's names.

import { slackUser } from "../../adapters/slack/answers.ts";
import type { Call } from "../../adapters/slack/clients.ts";
import { type Environment, explainFaults, readSlackAccess } from "../../config.ts";
import { PortError } from "../../ports.ts";

/**
 * Resolves to null if there is no token. Slack's packages are loaded only if there is one, because loading them takes longer than most
 * commands do. Rejects with one line for the operator if the proxy settings are wrong.
 */
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
  return createClients(botToken, apiUrl, slackLogger(log), { through: openSlack(proxies) }).quick;
}

/** Slack answers about a hundred look-ups a minute. People beyond this number are shown by their ids alone. */
const MAX_NAMES = 90;

/**
 * Returns a function that resolves to a person's current name, or to null if it is unknown. It asks once for each person, and stops
 * asking after a failure that concerns everyone.
 */
export async function slackNames(env: Environment): Promise<(user: string) => Promise<string | null>> {
  const call = await slackCall(env);
  const known = new Map<string, string | null>();
  let canAsk = true;
  const ask = async (user: string): Promise<string | null> => {
    if (call === null || !canAsk || known.size >= MAX_NAMES) return null;
    try {
      return slackUser(await call("users.info", { user })).name;
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      if (error.retry !== "never") canAsk = false;
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
