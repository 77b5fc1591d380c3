// Methods that read the messages of a channel or a thread.

import { Refused } from "./errors.ts";
import { messageJson } from "./slack-json.ts";
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
import type { Channel, Message } from "./model.ts";
import { readableChannel, scopesFor } from "./places.ts";
import type { Json } from "./json-object.ts";

const reading = {
  ...paging,
  channel: "string!",
  oldest: "string",
  latest: "string",
  inclusive: "boolean",
  include_all_metadata: "boolean",
  metadata_keys_to_include: "not imitated",
} satisfies Schema;

const described = {
  scopes: scopesFor("history"),
  tier: "tier3",
  token: "bot",
  source: "slack-api-ref",
} as const;

/** slack-api-ref, conversations.history: 999 at most. */
const bounds = { usual: 100, most: 999 };

function timeOf(
  text: string | undefined,
  otherwise: number,
  code: "invalid_ts_oldest" | "invalid_ts_latest",
): number {
  const time = text === undefined || text === "now" ? otherwise : Number(text);
  if (Number.isNaN(time)) throw new Refused(code);
  return time;
}

function within(messages: readonly Message[], args: Args<typeof reading>): Message[] {
  const oldest = timeOf(args.oldest, 0, "invalid_ts_oldest");
  const latest = timeOf(args.latest, Infinity, "invalid_ts_latest");
  return messages.filter(({ ts }) => {
    const time = Number(ts);
    return args.inclusive ? time >= oldest && time <= latest : time > oldest && time < latest;
  });
}

function answer(messages: readonly Message[], args: Args<typeof reading>, call: Call): Json {
  const { page, next } = pageOf(messages, args, bounds);
  const metadata = args.include_all_metadata === true;
  return {
    messages: page.map((message) => messageJson(message, call, { metadata })),
    has_more: next !== "",
    ...(next !== "" && cursorJson(next)),
  };
}

const publicIn = (call: Call, channel: Channel): Message[] =>
  call.workspace.messages.filter((one) => one.channel === channel.id && one.ephemeralFor === null);

const history = method(described, reading, (args, call) => {
  const all = publicIn(call, readableChannel(call, args.channel, "history"));
  const top = all.filter(({ thread, broadcast }) => thread === null || broadcast);
  return { ...answer(within(top, args).toReversed(), args, call), pin_count: 0 };
});

const repliesArgs = { ...reading, ts: "string!" } satisfies Schema;

const replies = method(described, repliesArgs, (args, call) => {
  const all = publicIn(call, readableChannel(call, args.channel, "history"));
  const named = all.find(({ ts }) => ts === args.ts);
  if (!named) throw new Refused("thread_not_found");
  const root = named.thread ?? named.ts;
  const answers = within(
    all.filter(({ thread }) => thread === root),
    args,
  );
  return answer([...all.filter(({ ts }) => ts === root), ...answers], args, call);
});

export const historyMethods: Record<string, Method> = {
  "conversations.history": history,
  "conversations.replies": replies,
};
