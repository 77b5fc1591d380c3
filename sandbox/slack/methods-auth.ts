// Methods about the caller, and the method that opens a socket.

import { Refused } from "./errors.ts";
import { method, type Method } from "./method.ts";

export const authMethods: Record<string, Method> = {
  "auth.test": method(
    { scopes: [], tier: "special", token: "either", source: "slack-api-ref" },
    {},
    (_args, call, token) => {
      const { team, app, people } = call.workspace;
      const common = { url: call.url(), team: team.name, team_id: team.id, is_enterprise_install: false };
      const bot = people.get(app.person);
      if (token === "app") return { ...common, app_id: app.id, app_name: bot?.name };
      return { ...common, user: bot?.handle, user_id: app.person, bot_id: app.botId };
    },
  ),
  "bots.info": method(
    { scopes: ["users:read"], tier: "tier3", token: "bot", source: "slack_kit" },
    { bot: "string", team_id: "string" },
    (args, { workspace: { app, people } }) => {
      if (args.bot !== undefined && args.bot !== app.botId) throw new Refused("bot_not_found");
      const name = people.get(app.person)?.name;
      return {
        bot: { id: app.botId, deleted: false, name, updated: 0, app_id: app.id, user_id: app.person },
      };
    },
  ),
  "apps.connections.open": method(
    { scopes: ["connections:write"], tier: "tier3", token: "app", source: "slack_kit" },
    {},
    (_args, call) => ({ url: call.openSocket() }),
  ),
};
