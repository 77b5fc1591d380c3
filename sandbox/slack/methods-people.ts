// Methods about people and user groups.

import { Refused } from "./errors.ts";
import { personJson, usergroupJson } from "./slack-json.ts";
import type { Json } from "./json-object.ts";
import { cursorJson, method, type Method, pageOf, paging } from "./method.ts";
import type { Person } from "./model.ts";

const people = { scopes: ["users:read"], token: "bot", source: "slack_kit" } as const;

const info = method(
  { ...people, tier: "tier4" },
  { user: "string!", include_locale: "boolean" },
  (args, { workspace }) => {
    const person = workspace.people.get(args.user);
    if (!person) throw new Refused("user_not_found");
    return { user: personJson(person) };
  },
);

/** Only users.info has `is_stranger` (@slack/web-api, UsersListResponse). */
function listedJson(person: Person): Json {
  const { is_stranger: _stranger, ...listed } = personJson(person);
  return listed;
}

/** slack_kit, users.list: everyone, including deactivated people and bots. Without a limit, all on one page. */
const list = method(
  { ...people, tier: "tier2" },
  { ...paging, include_locale: "boolean" },
  ({ limit, ...args }, { workspace, now }) => {
    const all = [...workspace.people.values()];
    const asked = limit === undefined || limit === 0 ? args : { ...args, limit };
    const { page, next } = pageOf(
      all,
      { limit: undefined, ...asked },
      { usual: Math.max(all.length, 1), most: 1000 },
    );
    const cache_ts = Math.floor(now() / 1000);
    return { members: page.map(listedJson), cache_ts, ...cursorJson(next) };
  },
);

const groups = {
  scopes: ["usergroups:read"],
  tier: "tier2",
  token: "bot",
  source: "slack_kit",
} as const;

const groupList = method(
  groups,
  { include_count: "boolean", include_disabled: "boolean", include_users: "boolean" },
  (args, { workspace }) => {
    const shown = [...workspace.usergroups.values()].filter(
      ({ disabled }) => args.include_disabled === true || !disabled,
    );
    const counted = args.include_count === true;
    const listed = args.include_users === true;
    return { usergroups: shown.map((group) => usergroupJson(group, workspace, { counted, listed })) };
  },
);

const groupUsers = method(
  groups,
  { usergroup: "string!", include_disabled: "boolean" },
  (args, { workspace }) => {
    const group = workspace.usergroups.get(args.usergroup);
    if (!group || (group.disabled && args.include_disabled !== true)) throw new Refused("no_such_subteam");
    return { users: [...group.users] };
  },
);

export const peopleMethods: Record<string, Method> = {
  "users.info": info,
  "users.list": list,
  "usergroups.list": groupList,
  "usergroups.users.list": groupUsers,
};
