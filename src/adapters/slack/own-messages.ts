// What every message of ours goes through, of a run or a notification: it is posted with a mark, found again by the mark, linked to, and
// removed.

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
import { OPENING, type Run, runId, type Slot } from "../../domain/run.ts";
import { shortened } from "../../domain/text/excerpt.ts";
import { type PacedEffect, PortError } from "../../ports.ts";
import { postedTs, type SlackHistory, slackHistory } from "./answers.ts";
import type { Deployment } from "./blocks/deployment.ts";
import type { Call } from "./clients.ts";
import { METADATA_EVENT } from "./names.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** Keeps Slack from making links, mentions or link previews out of our text. */
export const LITERAL = { parse: "none", link_names: false, unfurl_links: false, unfurl_media: false };

/** Who we are in this workspace, from auth.test. */
export type Self = { readonly user: UserId; readonly bot: string };

/** After a 429 the next calls of this kind wait as long as Slack asks. */
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

/** `message`: all arguments but the mark, which is stored before this call and finds the message if the answer is lost. */
export async function postMarked(
  call: Call,
  mark: Mark,
  message: { readonly channel: ChannelId | UserId; readonly [argument: string]: unknown },
): Promise<MessageTs> {
  return postedTs(await call("chat.postMessage", { ...message, ...LITERAL, metadata: metadataOf(mark) }));
}

/** What finds a message again. Other apps can read it, so it holds ids only. */
export type Mark = {
  /** Names the message. */
  readonly mark: string;
  /** The installation that posted it: several may share one app in Slack. Left out: not known. */
  readonly home?: string;
  readonly run?: RunKey;
  readonly id?: RunId;
};

export const metadataOf = (mark: Mark) => ({ event_type: METADATA_EVENT, event_payload: mark });

/** The same for every copy of the message. */
export const markOf = (digest: (text: string) => string, run: Pick<Run, "key">, slot: Slot): string =>
  digest(`${run.key} ${slot}`).slice(0, 32);

/** Whose message it is, for the day when the store does not know it. An id that is shown masked or cut must not stand here in full. */
export function originOf(run: Run, home: string): Pick<Mark, "home" | "run" | "id"> {
  if (home === "") return {};
  const id = runId(run);
  const isPlain = id !== null && shortened(id, MAX_SERVICE_ID_CHARS, "masked") === id;
  return { home, run: run.key, ...(isPlain ? { id } : {}) };
}

/** Slack refuses to change the message: it is too old for the workspace's rules, or of a kind that cannot be updated. */
const UNCHANGEABLE = new Set(["edit_window_closed", "cant_update_message", "block_mismatch"]);

/** "gone" when it was deleted, "unchangeable" when Slack no longer allows changes. */
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

/** Does nothing if the message is gone already. */
export async function removeMessage(call: Call, channel: string, ts: MessageTs): Promise<void> {
  try {
    await call("chat.delete", { channel, ts });
  } catch (error) {
    if (!(error instanceof PortError) || error.code !== "message_not_found") throw error;
  }
}

export type Messages = SlackHistory["messages"];

/** Our own messages with the mark, oldest first. Any app may copy metadata, so those of others do not count. */
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

/** The messages of the channel itself since then (wall time). Rejects with PortError. */
export function readChannel(call: Call, channel: ChannelId, since: number): Promise<Messages> {
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

// Links to our messages. A link never changes, so each client asks Slack once for each message.

type Asking = { readonly quick: Call; readonly deployment: Deployment };
type WithLink = { readonly run: Run; readonly link: string | null; readonly deployment: Deployment };

/** The oldest go when there are more than this. */
const MAX_KEPT = 2_000;
const kept = new WeakMap<Call, Map<string, string>>();

/** With a link to the run's thread. */
export const linked = (deps: Asking, run: Run): Promise<WithLink> => linkTo(deps, run, OPENING);

/** With a link to one of its messages; null while that is not posted, or if Slack gives none. Never rejects. */
export async function linkTo({ quick, deployment }: Asking, run: Run, slot: Slot): Promise<WithLink> {
  const post = run.posts[slot];
  return { run, link: post?.type === "up" ? await permalink(quick, run.channel, post.ts) : null, deployment };
}

/** To the message at this place; null: there is no such place, or Slack gives no link. Never rejects. */
export async function linkAt(
  { quick }: Asking,
  channel: ChannelId | null,
  ts: MessageTs | null,
): Promise<string | null> {
  return channel === null || ts === null ? null : permalink(quick, channel, ts);
}

async function permalink(quick: Call, channel: ChannelId, ts: MessageTs): Promise<string | null> {
  const links = kept.get(quick) ?? new Map<string, string>();
  kept.set(quick, links);
  const known = links.get(`${channel} ${ts}`);
  if (known !== undefined) return known;
  const found = await quick("chat.getPermalink", { channel, message_ts: ts }).catch(() => ({}));
  const { permalink: link } = { permalink: null, ...found };
  if (typeof link !== "string") return null;
  links.set(`${channel} ${ts}`, link);
  const [oldest] = links.keys();
  if (links.size > MAX_KEPT && oldest !== undefined) links.delete(oldest);
  return link;
}
