// Methods about channels and their members.

import { Refused, refusedWith } from "./errors.ts";
import { channelJson } from "./slack-json.ts";
import {
  type Args,
  type Call,
  cursorJson,
  method,
  type Method,
  pageOf,
  paging,
  type Schema,
} from "./method.ts";
import type { Json } from "./json-object.ts";
import type { Channel } from "./model.ts";
import { readableChannel, scopesFor, visibleChannel } from "./places.ts";

const read = { scopes: scopesFor("read"), token: "bot", source: "slack-api-ref" } as const;

const infoArgs = {
  channel: "string!",
  include_locale: "boolean",
  include_num_members: "boolean",
} satisfies Schema;

const info = method({ ...read, tier: "tier3" }, infoArgs, (args, call) => {
  const channel = readableChannel(call, args.channel, "read");
  const counted = args.include_num_members ? { num_members: channel.members.length } : {};
  return { channel: { ...channelJson(channel, call.workspace), ...counted } };
});

const members = method({ ...read, tier: "tier4" }, { ...paging, channel: "string!" }, (args, call) => {
  const all = readableChannel(call, args.channel, "read").members;
  const { page, next } = pageOf(all, args, { usual: 100, most: 1000, code: "invalid_limit" });
  return { members: page, ...cursorJson(next) };
});

const openArgs = {
  channel: "string",
  users: "string",
  return_im: "boolean",
  prevent_creation: "boolean",
} satisfies Schema;

const described = { scopes: ["im:write"], tier: "tier3", token: "bot", source: "slack-api-ref" } as const;

const open = method(described, openArgs, (args, call) => {
  const { workspace } = call;
  const existing = [...workspace.channels.keys()];
  const channel = args.channel === undefined ? dmWith(args, call) : resumed(args.channel, call);
  const again = existing.includes(channel.id) ? { no_op: true, already_open: true } : {};
  return { ...again, channel: args.return_im ? channelJson(channel, workspace) : { id: channel.id } };
});

function resumed(id: string, call: Call): Channel {
  const channel = visibleChannel(call, id);
  if (channel.kind !== "dm") throw new Refused("method_not_supported_for_channel_type");
  return channel;
}

function dmWith({ users, prevent_creation: only }: Args<typeof openArgs>, call: Call): Channel {
  if (!users) throw new Refused("users_list_not_supplied");
  if (users.includes(","))
    throw refusedWith("invalid_arguments", ["the sandbox does not imitate group direct messages"]);
  const { people, channels, dmOf } = call.workspace;
  const person = people.get(users);
  if (!person) throw new Refused("user_not_found");
  if (person.deactivated) throw new Refused("user_disabled");
  if (person.kind === "bot") throw new Refused("cannot_dm_bot");
  const exists = [...channels.values()].some((one) => one.kind === "dm" && one.members.includes(users));
  if (only === true && !exists) throw new Refused("channel_not_found");
  return dmOf(person.id);
}

const joinedArgs = {
  ...paging,
  user: "string",
  types: "string",
  exclude_archived: "boolean",
} satisfies Schema;

/** docs.slack.dev, users.conversations: public channels, and others only if the app is also a member. */
const joined = method({ ...read, tier: "tier3" }, joinedArgs, (args, call) => {
  const user = args.user ?? call.workspace.app.person;
  if (!call.workspace.people.has(user)) throw new Refused("user_not_found");
  const types = typesOf(args.types ?? "public_channel");
  const all = [...call.workspace.channels.values()].filter(({ kind, members, archived }) => {
    const shared = kind === "public" || members.includes(call.workspace.app.person);
    return (
      types.has(kind) && shared && members.includes(user) && !(args.exclude_archived === true && archived)
    );
  });
  const { page, next } = pageOf(all, args, { usual: 100, most: 999 });
  return { channels: page.map((channel) => listedJson(channel, call.workspace)), ...cursorJson(next) };
});

/** Listings do not say whether the app is a member (@slack/web-api, UsersConversationsResponse). */
function listedJson(channel: Channel, workspace: Call["workspace"]): Json {
  const { is_member: _member, connected_team_ids: _teams, ...listed } = channelJson(channel, workspace);
  return listed;
}

const kinds: Record<string, Channel["kind"] | null> = {
  public_channel: "public",
  private_channel: "private",
  im: "dm",
  mpim: null,
};

function typesOf(list: string): Set<Channel["kind"] | null> {
  const names = list.split(",").map((name) => name.trim());
  const strange = names.filter((name) => !Object.hasOwn(kinds, name));
  if (strange.length > 0) throw refusedWith("invalid_arguments", [`unknown types: ${strange.join(", ")}`]);
  return new Set(names.map((name) => kinds[name] ?? null));
}

export const conversationMethods: Record<string, Method> = {
  "conversations.info": info,
  "conversations.members": members,
  "conversations.open": open,
  "users.conversations": joined,
};
