// The `Chat` port over Slack's Web API: draws a run's messages; posts, updates and finds them.

import { ChannelId, type MessageTs, MessageTs as toTs, parsed, type UserId } from "../../domain/ids.ts";
import { BACK, DOWN } from "../../domain/render-key.ts";
import { type NoticeContent, OPENING, type Run, type Slot, UNREADABLE } from "../../domain/run.ts";
import { type Chat, type PacedEffect, PortError } from "../../ports.ts";
import { postedTs, type SlackHistory, slackHistory } from "./answers.ts";
import { privateNotice } from "./blocks/private-notice.ts";
import { messageIn } from "./blocks/run-thread.ts";
import type { Call, Responder } from "./clients.ts";
import type { Files } from "./files.ts";
import { METADATA_EVENT } from "./names.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** Keeps Slack from making links, mentions or link previews out of our text. */
export const LITERAL = { parse: "none", link_names: false, unfurl_links: false, unfurl_media: false };

const EPHEMERAL = { parse: "none", link_names: false };
/** Slack refuses to change the message: it is too old for the workspace's rules, or of a kind that cannot be updated. */
const UNCHANGEABLE = new Set(["edit_window_closed", "cant_update_message", "block_mismatch"]);

type Deps = {
  call: Call;
  files: Files;
  limiter: RateLimiter;
  answerAt: Responder;
  self: Self;
  /** Which of several Countersigns this is, for cards; empty: it has no name. */
  deployment?: string;
  digest: (text: string) => string;
  monotonic: () => number;
};

export function createChat(deps: Deps): Chat {
  const { files, call } = deps;
  const mark = (run: Run, slot: Slot): string => deps.digest(`${run.key} ${slot}`).slice(0, 32);
  return {
    waitForTurn: (effect) => deps.limiter.waitForTurn(effect),
    post: (run, slot) => paced(deps, run, "post", () => post(deps, run, slot, mark(run, slot))),
    update: (run, slot, ts) => paced(deps, run, "update", () => update(deps, run, slot, ts)),
    find: (run, slot) =>
      paced(deps, run, "read", () => findMessages(deps, run, inChannel(slot), mark(run, slot))),
    isThere: (channel, ts) => paced(deps, { channel }, "sweep", () => isThere(call, channel, ts)),
    remove: (run, ts) => paced(deps, run, "other", () => removeMessage(deps.call, run.channel, ts)),
    upload: (run, slot) => paced(deps, run, "other", () => files.upload(run, slot)),
    share: (run, file, slot) => paced(deps, run, "post", () => files.share(run, file, slot)),
    hasFile: (run, file) => paced(deps, run, "read", () => hasFile(deps, run, file)),
    notify: (run, to, notice) => paced(deps, run, "other", () => sendNotice(deps, run, to, notice)),
  };
}

/** True for messages of the channel itself. All others are replies in the run's thread. */
function inChannel(slot: Slot): boolean {
  return slot === OPENING || slot.startsWith(DOWN) || slot.startsWith(BACK);
}

/** After a 429 the next calls of this kind wait as long as Slack asks. */
async function paced<T>(
  { limiter }: Deps,
  { channel }: Pick<Run, "channel">,
  kind: PacedEffect["kind"],
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof PortError && error.retryAfterMs !== null)
      limiter.rest(kind, channel, error.retryAfterMs);
    throw error;
  }
}

async function post({ call, deployment }: Deps, run: Run, slot: Slot, mark: string): Promise<MessageTs> {
  const opening = run.posts[OPENING];
  const thread = inChannel(slot) || opening?.type !== "up" ? {} : { thread_ts: opening.ts };
  // A card is a reply that Slack also shows in the channel: one message in both places, so one set of buttons.
  const broadcast = slot.startsWith("card ") || slot === UNREADABLE ? { reply_broadcast: true } : {};
  const metadata = { event_type: METADATA_EVENT, event_payload: { mark } };
  const args = {
    channel: run.channel,
    ...messageIn(run, slot, deployment),
    ...thread,
    ...broadcast,
    ...LITERAL,
    metadata,
  };
  return postedTs(await call("chat.postMessage", args));
}

async function update(
  { call, deployment }: Deps,
  run: Run,
  slot: Slot,
  ts: MessageTs,
): Promise<"updated" | "gone" | "unchangeable"> {
  const { parse, link_names } = LITERAL;
  try {
    await call("chat.update", {
      channel: run.channel,
      ts,
      ...messageIn(run, slot, deployment),
      parse,
      link_names,
    });
    return "updated";
  } catch (error) {
    if (error instanceof PortError && error.code === "message_not_found") return "gone";
    if (error instanceof PortError && UNCHANGEABLE.has(error.code)) return "unchangeable";
    throw error;
  }
}

/** Does nothing if the message is gone already. */
export async function removeMessage(call: Call, channel: string, ts: MessageTs): Promise<void> {
  try {
    await call("chat.delete", { channel, ts });
  } catch (error) {
    if (!(error instanceof PortError) || error.code !== "message_not_found") throw error;
  }
}

/**
 * To a channel, as a message. To a person, as the answer to their command while Slack still accepts one; otherwise as an ephemeral
 * message in the run's channel; if Slack refuses that for good, as a direct message.
 */
async function sendNotice(
  { call, answerAt, monotonic }: Deps,
  run: Run,
  to: UserId | ChannelId,
  notice: NoticeContent,
): Promise<void> {
  const message = privateNotice(notice, run);
  if (parsed(ChannelId, to) !== null) {
    await call("chat.postMessage", { channel: to, ...message, ...LITERAL });
    return;
  }
  if (run.answer !== null && to === run.requester && monotonic() < run.answer.until) {
    const answered = await answerAt(run.answer.url, message).then(
      () => true,
      () => false,
    );
    if (answered) return;
  }
  try {
    await call("chat.postEphemeral", { channel: run.channel, user: to, ...message, ...EPHEMERAL });
  } catch (error) {
    if (!(error instanceof PortError) || error.retry === "later") throw error;
    await call("chat.postMessage", { channel: to, ...message, ...LITERAL });
  }
}

// Looks for a message whose post got no answer. It is found by the metadata that we put on it, among our own messages only: any app
// may copy metadata.

/** Who we are in this workspace, from auth.test. */
export type Self = { readonly user: UserId; readonly bot: string };

type SearchDeps = { readonly call: Call; readonly self: Self };
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
  deps: SearchDeps,
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

export async function hasFile(deps: SearchDeps, run: Run, file: string): Promise<boolean> {
  const messages = await readBack(deps.call, run, false);
  return messages.some(
    (message) => isOurs(message, deps.self) && message.files.some(({ id }) => id === file),
  );
}

/** Looks in the channel itself. That finds a reply only if it is broadcast to the channel, as cards are. Rejects with PortError. */
async function isThere(call: Call, channel: ChannelId, ts: MessageTs): Promise<boolean> {
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
