// Posts messages with a mark, finds them by it, links to them, updates and removes them. All messages of runs and notifications use this.

import {
  type ChannelId,
  MAX_SERVICE_ID_CHARS,
  type MessageTs,
  MessageTs as toTs,
  parsed,
  type RunId,
  type RunKey,
  type UserId,
} from "../../domain/ids.ts";
import { type Run, runId } from "../../domain/run.ts";
import { OPENING, type Slot } from "../../domain/slot.ts";
import { shortened } from "../../domain/text/excerpt.ts";
import { type PacedEffect, PortError } from "../../ports.ts";
import { postedTs, type SlackHistory, slackHistory } from "./answers.ts";
import type { Deployment } from "./blocks/deployment.ts";
import type { Links } from "./blocks/rich.ts";
import type { Call } from "./clients.ts";
import { METADATA_EVENT } from "./names.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** Keeps Slack from turning our text into links, mentions or link previews. */
export const LITERAL = { parse: "none", link_names: false, unfurl_links: false, unfurl_media: false };

/** Who we are in this workspace, from auth.test. */
export type Self = { readonly user: UserId; readonly bot: string };

/** Makes a call. After a 429, the next calls of this kind wait as long as Slack asks. */
export async function paced<T>(
  { limiter }: { readonly limiter: Pick<RateLimiter, "rest"> },
  channel: PacedEffect["channel"],
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

/** Posts a message with metadata that identifies it, so that the message can be found if the answer is lost. */
export async function postMarked(
  call: Call,
  mark: Mark,
  message: { readonly channel: ChannelId | UserId; readonly [argument: string]: unknown },
): Promise<MessageTs> {
  return postedTs(await call("chat.postMessage", { ...message, ...LITERAL, metadata: metadataOf(mark) }));
}

/** The metadata by which a message is found again. Other apps can read it, so it contains only ids. */
export type Mark = {
  /** Identifies the message. */
  readonly mark: string;
  /** The installation that posted the message, because several may share one Slack app. Left out if it is not known. */
  readonly home?: string;
  readonly run?: RunKey;
  readonly id?: RunId;
};

export const metadataOf = (mark: Mark) => ({ event_type: METADATA_EVENT, event_payload: mark });

/** The mark, which is the same for every copy of the message. */
export const markOf = (digest: (text: string) => string, run: Pick<Run, "key">, slot: Slot): string =>
  digest(`${run.key} ${slot}`).slice(0, 32);

/** Says where a message belongs, in case the store no longer knows it. Leaves out an id that is shown masked or cut elsewhere. */
export function originOf(run: Run, home: string): Pick<Mark, "home" | "run" | "id"> {
  if (home === "") return {};
  const id = runId(run);
  const isPlain = id !== null && shortened(id, MAX_SERVICE_ID_CHARS, "masked") === id;
  return { home, run: run.key, ...(isPlain ? { id } : {}) };
}

/** Slack refuses to change the message, because it is too old for the workspace's rules or cannot be updated at all. */
const UNCHANGEABLE = new Set(["edit_window_closed", "cant_update_message", "block_mismatch"]);

/** Resolves to "gone" if the message was deleted, and to "unchangeable" if Slack no longer allows changes. */
export async function updateAt(
  call: Call,
  message: { readonly channel: ChannelId; readonly ts: MessageTs; readonly [argument: string]: unknown },
): Promise<"updated" | "gone" | "unchangeable"> {
  const { parse, link_names } = LITERAL;
  try {
    await call("chat.update", { ...message, parse, link_names });
    return "updated";
  } catch (error) {
    if (error instanceof PortError && error.code === "message_not_found") return "gone";
    if (error instanceof PortError && UNCHANGEABLE.has(error.code)) return "unchangeable";
    throw error;
  }
}

/** Deletes a message. Does nothing if it is already gone. */
export async function removeMessage(call: Call, channel: string, ts: MessageTs): Promise<void> {
  try {
    await call("chat.delete", { channel, ts });
  } catch (error) {
    if (!(error instanceof PortError) || error.code !== "message_not_found") throw error;
  }
}

export type Messages = SlackHistory["messages"];

/** Returns our own messages with the mark, oldest first. Any app may copy metadata, so messages of other apps do not count. */
export function findMarked(messages: Messages, mark: string, self: Self): readonly MessageTs[] {
  const found = messages
    .filter(
      ({ metadata }) => metadata?.event_type === METADATA_EVENT && metadata.event_payload["mark"] === mark,
    )
    .filter((message) => isOurs(message, self))
    .flatMap(({ ts }) => parsed(toTs, ts) ?? []);
  return [...new Set(found)].sort();
}

export function isOurs(message: SlackHistory["messages"][number], self: Self): boolean {
  return message.user === self.user || message.bot_id === self.bot;
}

export const TOO_MANY = "too_many";
export const PAGE = 200;
const MAX_PAGES = 20;
/** Our clock and Slack's may differ by this much (ms). */
export const SKEW_MS = 60_000;

type Where =
  | { readonly channel: string; readonly ts: string }
  | { readonly channel: string; readonly oldest: string };

/** Resolves to the messages of the channel itself since `since` (wall clock, ms). Rejects with PortError. */
export function readChannel(call: Call, channel: ChannelId, since: number): Promise<Messages> {
  return pages(call, "conversations.history", { channel, oldest: String((since - SKEW_MS) / 1_000) });
}

/** Stops at the first page on which `isWanted` finds a message. */
export async function pages(
  call: Call,
  method: string,
  where: Where,
  isWanted: (message: Messages[number]) => boolean = () => false,
): Promise<Messages> {
  const found: Messages = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const args = { limit: PAGE, include_all_metadata: true, ...where };
    const answer = slackHistory(await call(method, cursor === undefined ? args : { ...args, cursor }));
    found.push(...answer.messages);
    cursor = answer.response_metadata?.next_cursor;
    if (cursor === undefined || cursor === "" || answer.messages.some(isWanted)) return found;
  }
  throw new PortError("there are too many messages to read back", {
    applied: "no",
    retry: "later",
    code: TOO_MANY,
  });
}

/** Resolves to no messages if the call fails in this way. */
export async function emptyOn(
  fits: (error: PortError) => boolean,
  messages: Promise<Messages>,
): Promise<Messages> {
  try {
    return await messages;
  } catch (error) {
    if (error instanceof PortError && fits(error)) return [];
    throw error;
  }
}

// Links to our messages. A link never changes, so each client asks Slack only once per message.

type Asking = { readonly quick: Call; readonly deployment: Deployment };
type WithLink = { readonly run: Run; readonly link: string | null; readonly deployment: Deployment };

/** The most links that are kept. The oldest are dropped first. */
const MAX_KEPT = 2_000;
const kept = new WeakMap<Call, Map<string, string>>();

/** Resolves to the run with a link to its thread. Never rejects. */
export const linked = (deps: Asking, run: Run): Promise<WithLink> => linkTo(deps, run, OPENING);

/** Resolves to the run with a link to one of its messages, or null if it is not posted or Slack gives no link. Never rejects. */
export async function linkTo({ quick, deployment }: Asking, run: Run, slot: Slot): Promise<WithLink> {
  const post = run.posts[slot];
  return { run, link: post?.type === "up" ? await permalink(quick, run.channel, post.ts) : null, deployment };
}

/** Resolves to a link to the message, or to null if `channel` or `ts` is null or Slack gives no link. Never rejects. */
export async function linkAt(
  { quick }: Asking,
  channel: ChannelId | null,
  ts: MessageTs | null,
): Promise<string | null> {
  return channel === null || ts === null ? null : permalink(quick, channel, ts);
}

/** Resolves to the links to messages of the channel, without those that Slack does not give. Never rejects. */
export async function linksTo(
  call: Call,
  channel: ChannelId,
  messages: readonly MessageTs[],
): Promise<Links> {
  const found = messages.map(async (ts) => [ts, await permalink(call, channel, ts)] as const);
  return new Map(
    (await Promise.all(found)).flatMap(([ts, link]) => (link === null ? [] : [[ts, link] as const])),
  );
}

async function permalink(quick: Call, channel: ChannelId, ts: MessageTs): Promise<string | null> {
  const links = kept.get(quick) ?? new Map<string, string>();
  kept.set(quick, links);
  const existing = links.get(`${channel} ${ts}`);
  if (existing !== undefined) return existing;
  const found = await quick("chat.getPermalink", { channel, message_ts: ts }).catch(() => ({}));
  const { permalink: link } = { permalink: null, ...found };
  if (typeof link !== "string") return null;
  links.set(`${channel} ${ts}`, link);
  const [oldest] = links.keys();
  if (links.size > MAX_KEPT && oldest !== undefined) links.delete(oldest);
  return link;
}
