// Looks for a message whose post got no answer. It is found by the metadata that we put on it, among our own messages only: any app
// may copy metadata.

import { type ChannelId, type MessageTs, parsed, MessageTs as toTs, type UserId } from "../../domain/ids.ts";
import { OPENING, type Run } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import type { Call } from "./clients.ts";
import { METADATA_EVENT } from "./names.ts";
import { type SlackHistory, slackHistory } from "./answers.ts";

/** Who we are in this workspace, from auth.test. */
export type Self = { readonly user: UserId; readonly bot: string };

type Deps = { readonly call: Call; readonly self: Self };
type Where =
  { readonly channel: string; readonly ts: string } | { readonly channel: string; readonly oldest: string };

type Messages = SlackHistory["messages"];

const TOO_MANY = "too_many";
const PAGE = 200;
const MAX_PAGES = 20;
/** Our clock and Slack's may differ by this much (ms). */
const SKEW_MS = 60_000;

/** All copies, oldest first. Rejects with PortError. */
export async function findMessages(
  deps: Deps,
  run: Run,
  inChannel: boolean,
  mark: string,
): Promise<readonly MessageTs[]> {
  const messages = await readBack(deps.call, run, inChannel);
  const found = messages
    .filter(
      ({ metadata }) => metadata?.event_type === METADATA_EVENT && metadata.event_payload["mark"] === mark,
    )
    .filter((message) => isOurs(message, deps.self))
    .flatMap(({ ts }) => parsed(toTs, ts) ?? []);
  return [...new Set(found)].sort();
}

export async function hasFile(deps: Deps, run: Run, file: string): Promise<boolean> {
  const messages = await readBack(deps.call, run, false);
  return messages.some(
    (message) => isOurs(message, deps.self) && message.files.some(({ id }) => id === file),
  );
}

/** Looks in the channel itself. That finds a reply only if it is broadcast to the channel, as cards are. Rejects with PortError. */
export async function isThere(call: Call, channel: ChannelId, ts: MessageTs): Promise<boolean> {
  const where = { channel, oldest: ts, latest: ts, inclusive: true, limit: 1 };
  return slackHistory(await call("conversations.history", where)).messages.some((each) => each.ts === ts);
}

export function isOurs(message: SlackHistory["messages"][number], self: Self): boolean {
  return message.user === self.user || message.bot_id === self.bot;
}

async function readBack(call: Call, run: Run, inChannel: boolean): Promise<Messages> {
  const opening = run.posts[OPENING];
  if (opening?.type !== "up") return readChannel(call, run, run.askedAt);
  // In a busy channel there are too many messages since the start of a long run, so we search for a notice from its outage on.
  if (inChannel) return readChannel(call, run, run.outage?.since ?? run.askedAt);
  const replies = await emptyOn(
    "thread_not_found",
    pages(call, "conversations.replies", { channel: run.channel, ts: opening.ts }),
  );
  // When the first message of the thread is deleted, Slack puts replies to it into the channel, outside any thread.
  const outside = await emptyOn(TOO_MANY, readChannel(call, run, run.askedAt));
  return [...replies, ...outside];
}

async function emptyOn(code: string, messages: Promise<Messages>): Promise<Messages> {
  try {
    return await messages;
  } catch (error) {
    if (error instanceof PortError && error.code === code) return [];
    throw error;
  }
}

function readChannel(call: Call, { channel }: Run, since: number): Promise<Messages> {
  return pages(call, "conversations.history", { channel, oldest: String((since - SKEW_MS) / 1_000) });
}

export async function pages(call: Call, method: string, where: Where): Promise<Messages> {
  const found: Messages = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const args = { limit: PAGE, include_all_metadata: true, ...where };
    const answer = slackHistory(await call(method, cursor === undefined ? args : { ...args, cursor }));
    found.push(...answer.messages);
    cursor = answer.response_metadata?.next_cursor;
    if (cursor === undefined || cursor === "") return found;
  }
  throw new PortError("there are too many messages to read back", {
    applied: "no",
    retry: "later",
    code: TOO_MANY,
  });
}
