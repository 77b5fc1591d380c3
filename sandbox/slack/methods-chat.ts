// Methods that post, change, delete and link messages.

import { acceptContent, acceptMetadata, truncation } from "./content.ts";
import { type Code, Refused } from "./errors.ts";
import { messageJson, permalink } from "./slack-json.ts";
import type { Json } from "./json-object.ts";
import { type Call, method, type Method, type Schema } from "./method.ts";
import type { Message } from "./model.ts";
import { isActiveThread, publicMessage, threadAt, visibleChannel, writableChannel } from "./places.ts";

const content = {
  text: "string",
  blocks: "array",
  markdown_text: "string",
  parse: "string",
  link_names: "boolean",
  attachments: "not imitated",
  as_user: "ignored",
} satisfies Schema;

/** These need chat:write.customize, and have an effect only in the real Slack. */
const disguise = { username: "not imitated", icon_emoji: "not imitated", icon_url: "not imitated" } as const;

const postArgs = {
  ...content,
  ...disguise,
  channel: "string!",
  thread_ts: "string",
  reply_broadcast: "boolean",
  metadata: "object",
  mrkdwn: "boolean",
  unfurl_links: "boolean",
  unfurl_media: "boolean",
  unfurl_app_links: "boolean",
  client_msg_id: "string",
} satisfies Schema;

const write = { scopes: ["chat:write"], token: "bot", source: "slack_kit" } as const;

const postMessage = method({ ...write, tier: "special" }, postArgs, (args, call) => {
  const channel = writableChannel(call, args.channel);
  call.limits.post(channel.id);
  const said = acceptContent(args);
  const thread = threadAt(call, channel, args.thread_ts);
  const message = call.workspace.post({
    channel: channel.id,
    author: call.workspace.app.person,
    text: said.text,
    blocks: said.blocks,
    thread,
    broadcast: thread !== null && args.reply_broadcast === true,
    metadata: acceptMetadata(args.metadata),
  });
  const { ts } = message;
  return { channel: channel.id, ts, message: messageJson(message, call), ...truncation(said) };
});

const ephemeralArgs = {
  ...content,
  ...disguise,
  channel: "string!",
  user: "string!",
  thread_ts: "string",
} satisfies Schema;

const postEphemeral = method({ ...write, tier: "tier4" }, ephemeralArgs, (args, call) => {
  const channel = writableChannel(call, args.channel);
  if (!channel.members.includes(args.user)) throw new Refused("user_not_in_channel");
  const { text, blocks } = acceptContent(args);
  const thread = threadAt(call, channel, args.thread_ts);
  // slack-api-ref: in a thread, the message is shown only if the thread is active. Slack answers ok in any case.
  if (thread !== null && !isActiveThread(call, channel, thread))
    return unseen(call, { channel: channel.id, thread });
  const author = call.workspace.app.person;
  const ephemeralFor = args.user;
  const message = call.workspace.post({ channel: channel.id, author, text, blocks, thread, ephemeralFor });
  return { message_ts: message.ts };
});

function unseen(call: Call, where: { channel: string; thread: string }): { message_ts: string } {
  call.traffic.add("slack", "ephemeral message not shown", where, "no one has replied in this thread yet");
  return { message_ts: call.workspace.nextTs() };
}

/** docs.slack.dev, chat.update: unlike in a post, a longer text is refused. */
const maxUpdatedText = 4000;

const updateArgs = {
  ...content,
  channel: "string!",
  ts: "string!",
  metadata: "object",
  reply_broadcast: "not imitated",
  file_ids: "not imitated",
} satisfies Schema;

const update = method({ ...write, tier: "tier3" }, updateArgs, (args, call) => {
  const message = ownMessage(call, args, "cant_update_message");
  if ((args.text ?? "").length > maxUpdatedText) throw new Refused("msg_too_long");
  const said = acceptContent(args);
  // slack_kit: a text without blocks removes the blocks. That blocks without a text keep the old text is a guess.
  const text = args.text === undefined && args.markdown_text === undefined ? message.text : said.text;
  const removes = args.metadata !== undefined && Object.keys(args.metadata).length === 0;
  const metadata =
    args.metadata === undefined ? message.metadata : removes ? null : acceptMetadata(args.metadata);
  call.workspace.edit(message, { text, blocks: said.blocks, metadata });
  const { channel, ts } = message;
  return { channel, ts, text: message.text, message: updatedJson(message, call) };
});

/** An update returns the content and author of the message, but not its place (@slack/web-api, ChatUpdateResponse). */
function updatedJson(message: Message, call: Call): Json {
  const { type, user, team, bot_id, app_id, text, blocks, edited, files, metadata } = messageJson(
    message,
    call,
  );
  return { type, user, team, bot_id, app_id, text, blocks, edited, files, metadata };
}

function ownMessage(call: Call, at: { channel: string; ts: string }, otherwise: Code): Message {
  const channel = visibleChannel(call, at.channel);
  const message = publicMessage(call, channel, at.ts);
  if (channel.archived) throw new Refused("is_inactive");
  if (message.author !== call.workspace.app.person) throw new Refused(otherwise);
  return message;
}

const deleteArgs = { channel: "string!", ts: "string!", as_user: "ignored" } satisfies Schema;

const remove = method({ ...write, tier: "tier3" }, deleteArgs, (args, call) => {
  const message = ownMessage(call, args, "cant_delete_message");
  call.workspace.remove(message);
  return { channel: message.channel, ts: message.ts };
});

const getPermalink = method(
  { scopes: [], tier: "special", token: "bot", source: "slack-api-ref" },
  { channel: "string!", message_ts: "string!" },
  (args, call) => {
    const message = publicMessage(call, visibleChannel(call, args.channel), args.message_ts);
    return { channel: message.channel, permalink: permalink(message, call) };
  },
);

export const chatMethods: Record<string, Method> = {
  "chat.postMessage": postMessage,
  "chat.postEphemeral": postEphemeral,
  "chat.update": update,
  "chat.delete": remove,
  "chat.getPermalink": getPermalink,
};
