// Finds the channel of a call, and checks what the app can do there.

import { Refused, refusedWith } from "./errors.ts";
import type { Call } from "./method.ts";
import type { Channel, Message } from "./model.ts";

/** The scope prefix for each kind of channel, as in channels:read, groups:history and im:write. */
const family = { public: "channels", private: "groups", dm: "im" } as const;

export const scopesFor = (what: "read" | "history" | "write"): string[] =>
  Object.values(family).map((kind) => `${kind}:${what}`);

function needScope(call: Call, channel: Channel, what: "read" | "history"): void {
  const needed = `${family[channel.kind]}:${what}`;
  if (!call.scopes.has(needed))
    throw new Refused("missing_scope", { needed, provided: [...call.scopes].join(",") });
}

const isIn = (call: Call, channel: Channel): boolean => channel.members.includes(call.workspace.app.person);

/** Finds a channel that the app can see. A private channel that the app is not in does not exist for it. */
export function visibleChannel(call: Call, id: string): Channel {
  const { channels } = call.workspace;
  const channel = channels.get(id);
  if (!channel || (channel.kind !== "public" && !isIn(call, channel))) throw new Refused("channel_not_found");
  return channel;
}

/** Finds a channel whose messages or members the app can read. */
export function readableChannel(call: Call, id: string, what: "read" | "history"): Channel {
  const channel = visibleChannel(call, id);
  needScope(call, channel, what);
  if (what === "history" && !isIn(call, channel)) throw new Refused("not_in_channel");
  return channel;
}

const named = (call: Call, name: string): string =>
  [...call.workspace.channels.values()].find((one) => `#${one.name}` === name)?.id ?? name;

/** Finds a channel that the app can post to. A person's id means their direct messages with the app. */
export function writableChannel(call: Call, id: string): Channel {
  const { people, dmOf } = call.workspace;
  const person = people.get(id);
  if (person?.deactivated || person?.kind === "bot") throw new Refused("channel_not_found");
  const channel = person ? dmOf(person.id) : visibleChannel(call, named(call, id));
  if (channel.kind === "dm" && !call.manifest.messagesTab) throw new Refused("messages_tab_disabled");
  if (channel.archived) throw new Refused("is_archived");
  const anywhere = channel.kind === "public" && call.scopes.has("chat:write.public");
  if (!isIn(call, channel) && !anywhere) throw new Refused("not_in_channel");
  return channel;
}

/**
 * The thread of a message. If the parent no longer exists, Slack posts to the channel, and only the missing thread_ts in its answer shows
 * this (third party: slack-go/slack#1571).
 */
export function threadAt(
  call: Pick<Call, "workspace">,
  channel: Pick<Channel, "id">,
  ts: string | undefined,
): string | null {
  if (ts === undefined) return null;
  if (!/^\d{1,10}\.\d{6}$/.test(ts))
    throw refusedWith("invalid_thread_ts", [`${ts} is not a valid thread_ts`]);
  const parent = call.workspace.messageAt(channel.id, ts);
  if (!parent || parent.ephemeralFor !== null) return null;
  if (parent.thread !== null) throw new Refused("cannot_reply_to_message");
  return ts;
}

/** Whether the message has replies. */
export const isActiveThread = ({ workspace }: Call, channel: Channel, ts: string): boolean =>
  workspace.messages.some(
    (one) => one.channel === channel.id && one.thread === ts && one.ephemeralFor === null,
  );

export function publicMessage(call: Call, channel: Channel, ts: string): Message {
  const message = call.workspace.messageAt(channel.id, ts);
  if (!message || message.ephemeralFor !== null) throw new Refused("message_not_found");
  return message;
}
