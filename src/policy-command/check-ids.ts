// Does Slack know the people, user groups and channels that a policy names?

import { namedIn, type Policy } from "../core/policy.ts";
import { PortError } from "../flow/ports.ts";
import { createLog, slackLogger } from "../log.ts";
import { type Call, createClients } from "../slack/clients.ts";
import { slackChannel, slackUser } from "../slack/wire.ts";

/** One line for each doubt; none without a token. */
export async function checkIds(
  policy: Policy,
  env: { readonly [name: string]: string | undefined },
): Promise<string[]> {
  const token = env["SLACK_BOT_TOKEN"]?.trim() ?? "";
  if (token === "") return [];
  const log = createLog({ level: "silent", pretty: false });
  const { quick } = createClients(token, env["SLACK_API_URL"]?.trim() || null, slackLogger(log));
  const ids = [...new Set(namedIn(policy))];
  const says = await Promise.all(ids.map((id) => doubt(quick, id)));
  return says.filter((each) => each !== null);
}

async function doubt(call: Call, id: string): Promise<string | null> {
  try {
    return await asked(call, id);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return `Slack says of ${id}: ${error.code}`;
  }
}

async function asked(call: Call, id: string): Promise<string | null> {
  if (id.startsWith("S")) {
    await call("usergroups.users.list", { usergroup: id });
    return null;
  }
  if (/^[CG]/.test(id)) {
    slackChannel(await call("conversations.info", { channel: id }));
    return null;
  }
  const { deleted, isBot, isGuest } = slackUser(await call("users.info", { user: id }));
  if (deleted) return `${id} is deactivated and can't decide or start anything`;
  return isBot || isGuest ? `${id} is a ${isBot ? "bot" : "guest"} and can't decide or start anything` : null;
}
