// Methods for files, which are announced, uploaded, and then completed and shared.

import { acceptContent } from "./content.ts";
import { Refused, refusedWith } from "./errors.ts";
import { fileJson } from "./slack-json.ts";
import { type Args, type Call, method, type Method, type Schema } from "./method.ts";
import type { Channel } from "./model.ts";
import { threadAt, writableChannel } from "./places.ts";
import { complaints, list, shape, string } from "./rules-check.ts";

const described = {
  scopes: ["files:write"],
  tier: "tier4",
  token: "bot",
  source: "slack-api-ref",
} as const;

/** The SDK sends `alt_text` for the documented `alt_txt`. */
const announced = {
  filename: "string!",
  length: "integer!",
  alt_txt: "string",
  alt_text: "string",
  snippet_type: "string",
} satisfies Schema;

/** docs.slack.dev: a snippet is limited to 1 MB, any other file to 1 GB. */
const maxSnippet = 1_000_000;
const maxFile = 1_000_000_000;
/** slack-api-ref. */
const maxDescription = 1000;
const maxChannels = 100;

const getUploadUrl = method(described, announced, (args, call) => {
  if (args.length < 1) throw new Refused("missing_argument");
  if (args.length > maxFile) throw new Refused("file_upload_size_restricted");
  if (args.snippet_type !== undefined && args.length > maxSnippet) throw new Refused("snippet_too_large");
  const description = args.alt_txt ?? args.alt_text ?? "";
  if (description.length > maxDescription) throw new Refused("alt_txt_too_large");
  const id = call.workspace.nextId("F");
  const key = call.uploads.ticket({ id, name: args.filename, length: args.length, description });
  return { file_id: id, upload_url: `${call.url()}upload/${key}` };
});

const completed = {
  files: "array!",
  channel_id: "string",
  channels: "string",
  thread_ts: "string",
  initial_comment: "string",
  blocks: "array",
} satisfies Schema;

const wanted = list(shape({ id: string(1, 255) }, { title: string(0, 255) }), 1, 100);

function acceptFiles(files: unknown[]): { id: string; title?: string }[] {
  const wrong = complaints(files, wanted, "/files");
  if (wrong.length > 0) throw refusedWith("invalid_arguments", wrong);
  return files as { id: string; title?: string }[];
}

const complete = method(described, completed, (args, call) => {
  const asked = acceptFiles(args.files);
  const channels = [args.channel_id ?? [], args.channels?.split(",") ?? []].flat();
  if (channels.length > maxChannels) throw new Refused("channels_limit_exceeded");
  if (channels.length > 1 && args.thread_ts !== undefined)
    throw refusedWith("invalid_arguments", ["only one channel can be given with thread_ts"]);
  // Check everything before a ticket is used up.
  const places = channels.map((id) => place(id, args, call));
  const said = args.initial_comment === undefined && args.blocks === undefined ? null : comment(args);
  const taken = call.uploads.take(asked.map(({ id }) => id));
  if (!taken) throw new Refused("file_not_found");
  const { workspace } = call;
  for (const [index, { id, name, bytes, description }] of taken.entries())
    workspace.files.set(id, {
      id,
      name,
      title: asked[index]?.title ?? name,
      bytes,
      description,
      owner: workspace.app.person,
    });
  workspace.changed({ kind: "file" });
  const ids = taken.map(({ id }) => id);
  // As in Slack, the answer comes before the message.
  call.uploads.shareAfter(call.timing.shareMs, () => {
    for (const { channel, thread } of places)
      workspace.post({ channel: channel.id, author: workspace.app.person, thread, files: ids, ...said });
  });
  return { files: ids.flatMap((id) => workspace.files.get(id) ?? []).map((file) => fileJson(file, call)) };
});

type Place = { readonly channel: Channel; readonly thread: string | null };

function place(id: string, args: Args<typeof completed>, call: Call): Place {
  const channel = writableChannel(call, id);
  call.limits.post(channel.id);
  return { channel, thread: threadAt(call, channel, args.thread_ts) };
}

/** docs.slack.dev: if there is an initial comment, the blocks are ignored. */
function comment({ initial_comment: text, blocks }: Args<typeof completed>) {
  const said = acceptContent(text === undefined ? { blocks } : { text });
  return { text: said.text, blocks: said.blocks };
}

export const fileMethods: Record<string, Method> = {
  "files.getUploadURLExternal": getUploadUrl,
  "files.completeUploadExternal": complete,
};
