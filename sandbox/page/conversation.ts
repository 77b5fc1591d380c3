// The channel, and the thread beside it.
import type { Channel, Message } from "../slack/model.ts";
import { composer } from "./composer.ts";
import { html } from "./base/html.ts";
import type { Html } from "./base/html.ts";
import type { Stamp } from "./base/tab-memory.ts";
import { drawMessage, joinsPrevious } from "./drawing/message.ts";
import { hrefOf } from "./base/place.ts";
import type { Place } from "./base/place.ts";
import type { PageParts } from "./base/parts.ts";
import { channelTitle } from "./base/reader.ts";
import type { Reader } from "./base/reader.ts";
import type { Item, Slot } from "./base/regions.ts";
import type { ViewState } from "./base/view-state.ts";

export type Messages = { readonly channel: Item[]; readonly thread: Item[] };

/** The messages of the channel and of the open thread that this reader can see. */
export function conversation(parts: PageParts, reader: Reader, { memory, epoch }: ViewState): Messages {
  const { place } = reader;
  const { workspace } = parts;
  const seen = workspace.messages
    .filter((one) => one.channel === place.where)
    .filter((one) => one.ephemeralFor === null || one.ephemeralFor === place.person);
  const replies = Map.groupBy(
    seen.filter((one) => one.thread !== null && one.thread !== one.ts),
    (one) => one.thread,
  );
  const now = epoch();
  const item = (message: Message, pane: Place, after?: Message): Item => {
    const day = dayAbove(message, { after, pane }, reader.times);
    const shown = {
      message,
      replies: replies.get(message.ts) ?? [],
      pane,
      after,
      day,
      shortcuts: parts.shortcuts,
    };
    const parent = message.thread === null ? null : workspace.messageAt(place.where, message.thread)?.text;
    const files = message.files.map((id) => workspace.files.get(id));
    const minute = showsElapsedTime(message) ? Math.floor(workspace.now() / 60_000) : null;
    const above = [day, joinsPrevious(shown)];
    const seen = [now, minute, parent, shown.replies.map((one) => one.ts).join(), ...above, ...files];
    const stamp = [...seen, ...contentOf(message)];
    const at = { list: pane.thread === null ? "messages" : "replies", key: message.ts };
    return memory.item(at, stamp, () => drawMessage(shown, workspace, reader));
  };
  const inChannel = seen.filter((one) => one.thread === null || one.thread === one.ts || one.broadcast);
  const first = seen.filter((one) => one.ts === place.thread);
  const inThread = place.thread === null ? [] : [...first, ...(replies.get(place.thread) ?? [])];
  return {
    channel: inChannel.map((one, i) => item(one, { ...place, thread: null }, inChannel[i - 1])),
    thread: inThread.map((one, i) => item(one, place, inThread[i - 1])),
  };
}

/** In every time zone, a day begins at a quarter of an hour (ms). Comparing quarters avoids the slow formatting of dates. */
const QUARTER_MS = 15 * 60_000;

type Neighbors = { readonly after: Message | undefined; readonly pane: Place };

/** "Today", "Yesterday" or the date for the first message of a day, null for all others. The first message of a thread gets none. */
function dayAbove({ at }: Message, { after, pane }: Neighbors, times: Reader["times"]): string | null {
  const quarter = (ms: number): number => Math.floor(ms / QUARTER_MS);
  const date = (ms: number): string => times.tokens("{date_num}", ms);
  if (after === undefined && pane.thread !== null) return null;
  if (after !== undefined && (quarter(after.at) === quarter(at) || date(after.at) === date(at))) return null;
  const day = times.tokens("{day_divider_pretty}", at);
  return day.charAt(0).toUpperCase() + day.slice(1);
}

/** Blocks and metadata are compared by identity, because the workspace replaces them as a whole. What it changes in place is small. */
function contentOf(message: Message): Stamp {
  const { blocks, metadata, ...rest } = message;
  const values: unknown[] = Object.values(rest);
  return [blocks, metadata, ...values.map((one) => (typeof one === "object" ? JSON.stringify(one) : one))];
}

const distances = new WeakMap<Message["blocks"], boolean>();

/** Whether the message says how long ago something was. Such a message must be redrawn even if it has not changed. */
function showsElapsedTime({ blocks, text }: Message): boolean {
  const inBlocks = distances.get(blocks) ?? JSON.stringify(blocks).includes("{ago}");
  distances.set(blocks, inBlocks);
  return inBlocks || text.includes("{ago}");
}

type Pane = { parts: PageParts; reader: Reader; channel: Channel; slot: Slot };

export function channelPane({ parts, reader, channel, slot }: Pane): Html {
  const sign = channel.kind === "dm" ? "" : channel.kind === "private" ? "🔒 " : "# ";
  const name = channelTitle(parts, reader, channel);
  const members = channel.members.filter((id) => parts.workspace.people.get(id)?.kind !== "bot").length;
  return html`<header data-bar>
      <button type="button" data-look="plain" data-menu popovertarget="sidebar" aria-label="Channels">
        ☰
      </button>
      <h1><span aria-hidden="true">${sign}</span>${name}</h1>
      <span data-note
        >${channel.kind === "dm" ? "direct message" : `${members} people`}${channel.archived ? " · archived" : null}${channel.members.includes(reader.place.person) ? null : " · you are not a member"}</span
      >
    </header>
    <h2 class="unseen">Messages</h2>
    <div
      data-scroll
      tabindex="0"
      role="log"
      aria-live="polite"
      aria-relevant="additions"
      aria-label="Messages in ${name}"
    >
      ${slot("messages")} ${slot("hint")}
    </div>
    <button type="button" data-new hidden>New messages ↓</button>
    ${composer(parts, { place: { ...reader.place, thread: null }, to: `${channel.kind === "dm" ? "" : "#"}${name}` })}`;
}

export function threadPane(parts: PageParts, reader: Reader, slot: Slot): Html {
  return html`<header data-bar>
      <h2>Thread</h2>
      <a href="${hrefOf({ ...reader.place, thread: null })}" data-close aria-label="Close the thread">✕</a>
    </header>
    <div
      data-scroll
      tabindex="0"
      role="log"
      aria-live="polite"
      aria-relevant="additions"
      aria-label="Messages in this thread"
    >
      ${slot("replies")}
    </div>
    <button type="button" data-new hidden>New messages ↓</button>
    ${composer(parts, { place: reader.place, to: "thread" })}`;
}
