// Channels: what they are, who is in them, what was said.

import { method } from "./method.ts";
import type { Args, Call, Method, Schema } from "./method.ts";
import type { Channel, Message } from "./model.ts";
import { readableChannel, scopesFor, visibleChannel } from "./places.ts";
import { Refused, refusedWith } from "./refused.ts";
import type { Json } from "./rules-check.ts";
import { channelJson, messageJson } from "./wire.ts";

const paging = { cursor: "string", limit: "integer" } satisfies Schema;

const reading = {
  ...paging,
  channel: "string!",
  oldest: "string",
  latest: "string",
  inclusive: "boolean",
  include_all_metadata: "boolean",
} satisfies Schema;

/** docs.slack.dev, pagination: at most 1000 items; a cursor is opaque and belongs to its listing. */
const pageOf = <T>(
  all: readonly T[],
  args: Args<typeof paging>,
  usual: number,
): { page: T[]; next: string } => {
  const { limit = usual } = args;
  if (limit < 1 || limit > 1000)
    throw refusedWith("invalid_arguments", ["must be between 1 and 1000 [json-pointer:/limit]"]);
  const start = args.cursor ? offsetOf(args.cursor) : 0;
  const end = start + limit;
  const next = end < all.length ? Buffer.from(`next:${end}`).toString("base64") : "";
  return { page: all.slice(start, end), next };
};

const offsetOf = (cursor: string): number => {
  const found = /^next:(\d+)$/.exec(Buffer.from(cursor, "base64").toString());
  if (!found) throw new Refused("invalid_cursor");
  return Number(found[1]);
};

const timeOf = (text: string | undefined, otherwise: number, code: string): number => {
  const time = text === undefined ? otherwise : Number(text);
  if (Number.isNaN(time)) throw new Refused(code);
  return time;
};

const within = (messages: readonly Message[], args: Args<typeof reading>): Message[] => {
  const oldest = timeOf(args.oldest, 0, "invalid_ts_oldest");
  const latest = timeOf(args.latest, Infinity, "invalid_ts_latest");
  return messages.filter(({ ts }) => {
    const time = Number(ts);
    return args.inclusive ? time >= oldest && time <= latest : time > oldest && time < latest;
  });
};

const answer = (messages: readonly Message[], args: Args<typeof reading>, call: Call): Json => {
  const { page, next } = pageOf(messages, args, 100);
  const metadata = args.include_all_metadata === true;
  return {
    messages: page.map((message) => messageJson(message, call, { metadata })),
    has_more: next !== "",
    ...(next !== "" && { response_metadata: { next_cursor: next } }),
  };
};

const publicIn = (call: Call, channel: Channel): Message[] =>
  call.workspace.messages.filter((one) => one.channel === channel.id && one.ephemeralFor === null);

const history = method(
  { scopes: scopesFor("history"), tier: "tier3", token: "bot" },
  reading,
  (args, call) => {
    const all = publicIn(call, readableChannel(call, args.channel, "history"));
    const top = all.filter(({ thread, broadcast }) => thread === null || broadcast);
    return answer(within(top, args).toReversed(), args, call);
  },
);

const repliesArgs = { ...reading, ts: "string!" } satisfies Schema;

const replies = method(
  { scopes: scopesFor("history"), tier: "tier3", token: "bot" },
  repliesArgs,
  (args, call) => {
    const all = publicIn(call, readableChannel(call, args.channel, "history"));
    const named = all.find(({ ts }) => ts === args.ts);
    if (!named) throw new Refused("thread_not_found");
    const root = named.thread ?? named.ts;
    const answers = within(
      all.filter(({ thread }) => thread === root),
      args,
    );
    return answer([...all.filter(({ ts }) => ts === root), ...answers], args, call);
  },
);

const read = { scopes: scopesFor("read"), token: "bot" } as const;

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
  const { page, next } = pageOf(readableChannel(call, args.channel, "read").members, args, 100);
  return { members: page, response_metadata: { next_cursor: next } };
});

const openArgs = {
  channel: "string",
  users: "string",
  return_im: "boolean",
  prevent_creation: "boolean",
} satisfies Schema;

const open = method({ scopes: ["im:write"], tier: "tier3", token: "bot" }, openArgs, (args, call) => {
  if (args.channel !== undefined) return { channel: { id: visibleChannel(call, args.channel).id } };
  const person = call.workspace.people.get(args.users ?? "");
  if (!person) throw new Refused("user_not_found");
  if (person.deactivated) throw new Refused("user_disabled");
  const channel = call.workspace.dmOf(person.id);
  return { channel: args.return_im ? channelJson(channel, call.workspace) : { id: channel.id } };
});

const joinedArgs = {
  ...paging,
  user: "string",
  types: "string",
  exclude_archived: "boolean",
} satisfies Schema;

/** docs.slack.dev, users.conversations: of what is not public, only what the app shares with the person. */
const joined = method({ ...read, tier: "tier3" }, joinedArgs, (args, call) => {
  const user = args.user ?? call.workspace.app.person;
  if (!call.workspace.people.has(user)) throw new Refused("user_not_found");
  const types = new Set((args.types ?? "public_channel").split(","));
  const all = [...call.workspace.channels.values()].filter(({ kind, members, archived }) => {
    const wanted =
      kind === "public" ? types.has("public_channel") : kind === "private" && types.has("private_channel");
    const shared = kind === "public" || members.includes(call.workspace.app.person);
    return wanted && shared && members.includes(user) && !(args.exclude_archived === true && archived);
  });
  const { page, next } = pageOf(all, args, 100);
  const channels = page.map((channel) => channelJson(channel, call.workspace));
  return { channels, response_metadata: { next_cursor: next } };
});

export const conversationMethods: Record<string, Method> = {
  "conversations.history": history,
  "conversations.replies": replies,
  "conversations.info": info,
  "conversations.members": members,
  "conversations.open": open,
  "users.conversations": joined,
};
