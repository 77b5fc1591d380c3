// A person's phone: their notifications as they arrive, like on a lock screen.
import { html, type Html } from "../base/html.ts";
import type { PageParts } from "../base/parts.ts";
import { hrefOf } from "../base/place.ts";
import { channelTitle, type Reader } from "../base/reader.ts";
import type { Item, Slot } from "../base/regions.ts";
import { mrkdwn } from "../drawing/mrkdwn.ts";
import type { Notification, Notifications } from "../base/view-state.ts";

export function phoneItems(parts: PageParts, reader: Reader, notifications: Notifications): Item[] {
  const all = notifications.of(reader.place.person);
  if (all.length === 0) {
    const words = "Nothing yet. Direct messages and mentions appear here.";
    return [{ key: "none", inner: html`<p data-empty>${words}</p>` }];
  }
  return all.map((one) => ({ key: `${one.channel} ${one.ts}`, inner: drawOne(parts, reader, one) }));
}

function drawOne(
  parts: PageParts,
  reader: Reader,
  { channel: id, ts, author, text, at, thread }: Notification,
): Html {
  const { workspace } = parts;
  const channel = workspace.channels.get(id);
  const sender = workspace.people.get(author)?.name ?? author;
  const isDm = channel === undefined || channel.kind === "dm";
  const reply = thread !== null && thread !== ts && workspace.messageAt(id, ts)?.broadcast !== true;
  const href = hrefOf({ ...reader.place, where: id, thread: reply ? thread : null }, ts);
  return html`<a data-notification href="${href}">
    <span data-sender
      ><b>${sender}</b>${isDm ? null : ` in #${channelTitle(parts, reader, channel)}`}
      <time datetime="${new Date(at).toISOString()}">${reader.times.clock(at)}</time></span
    >
    <span data-notice
      >${text === "" ? "sent a message" : mrkdwn(text, reader, { links: false, mentions: false })}</span
    >
  </a>`;
}

export function phonePanel({ workspace }: PageParts, person: string, slot: Slot): Html {
  const name = workspace.people.get(person)?.name ?? person;
  return html`<div data-scroll tabindex="0" role="log" aria-label="Notifications of ${name}">
    <div data-phone>
      <p data-owner>${name}</p>
      ${slot("phone")}
    </div>
  </div>`;
}
