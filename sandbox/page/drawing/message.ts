import type { Message } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";
import { avatar } from "../base/avatar.ts";
import { drawBlocks } from "./blocks.ts";
import { emoji } from "./emoji.ts";
import { fileCard } from "./file-card.ts";
import { attr, html } from "../base/html.ts";
import type { Html, Part } from "../base/html.ts";
import { mrkdwn } from "./mrkdwn.ts";
import { anchorOf, hrefOf } from "../base/place.ts";
import type { MessageShortcut } from "../base/parts.ts";
import type { Place } from "../base/place.ts";
import type { Reader } from "../base/reader.ts";

/** Within this time, Slack does not repeat the name of an author who keeps writing (ms). */
const SAME_AUTHOR_MS = 5 * 60_000;

/**
 * `replies` are the replies that this reader can see. `pane` is where the message is drawn, the channel or its thread. `after` is the
 * message right above it there.
 */
export type Shown = {
  readonly message: Message;
  readonly replies: readonly Message[];
  readonly pane: Place;
  readonly after?: Message | undefined;
  /** The heading above the first message of a day. Null for all others. */
  readonly day?: string | null;
  /** The app's shortcuts, for the message's menu. */
  readonly shortcuts: readonly MessageShortcut[];
};

export function drawMessage(shown: Shown, workspace: Workspace, reader: Reader): Html {
  const { message, pane, day = null } = shown;
  const author = workspace.people.get(message.author);
  const id = anchorOf(message.ts, pane);
  const joins = joinsPrevious(shown);
  return html`${day === null ? null : html`<h3 data-day><span>${day}</span></h3>`}
    <article
      id="${id}"
      tabindex="-1"
      data-message
      data-channel="${message.channel}"
      data-ts="${message.ts}"
      aria-label="${author?.name ?? message.author}, ${reader.times.clock(message.at)}"
      ${attr("data-ephemeral", message.ephemeralFor !== null)}${attr("data-joins", joins)}
    >
      ${message.ephemeralFor === null ? null : privately()}
      ${joins ? html`<span data-gutter>${when(shown, reader)}</span>` : avatar(author, workspace.app.person)}
      <div data-content>
        ${joins ? null : heading(shown, workspace, reader)} ${repliedTo(shown, workspace)}
        ${body(message, id, { reader, workspace })}
        ${message.files.map((file) => fileCard(workspace.files.get(file), file))}
        ${reactions(message, reader)} ${summary(shown, workspace, reader)}
      </div>
      ${menu(shown, workspace)}
    </article>`;
}

/** Slack offers no shortcuts on a private message. */
function menu({ message, shortcuts }: Shown, workspace: Workspace): Part {
  if (shortcuts.length === 0 || message.ephemeralFor !== null) return null;
  const app = workspace.people.get(workspace.app.person)?.name ?? "app";
  const items = shortcuts.map(
    ({ callbackId, name }) =>
      html`<li>
        <button type="button" data-act="shortcut" data-shortcut="${callbackId}">
          ${name} <small>${app}</small>
        </button>
      </li>`,
  );
  return html`<details data-overflow data-message-menu>
    <summary data-look="plain" aria-label="More actions on this message">⋮</summary>
    <ul>
      ${items}
    </ul>
  </details>`;
}

/** Whether the message follows one of the same author and needs no heading of its own. */
export function joinsPrevious({ message, after, replies, pane, day = null }: Shown): boolean {
  if (after === undefined || after.author !== message.author || day !== null) return false;
  if (message.broadcast || after.broadcast) return false;
  if (message.at - after.at > SAME_AUTHOR_MS || after.ephemeralFor !== message.ephemeralFor) return false;
  if (message.ephemeralFor !== null || replies.length > 0) return false;
  return pane.thread === null ? message.thread === null && after.thread === null : after.ts !== pane.thread;
}

/** The header of a private message. A dismissed one disappears from this tab; Slack does not keep it either. */
function privately(): Html {
  return html`<p data-privately>
    <span aria-hidden="true">👁</span> <span>Only visible to you</span>
    <button type="button" data-look="bare" data-dismiss-message>Dismiss</button>
  </p>`;
}

function heading(shown: Shown, workspace: Workspace, reader: Reader): Html {
  const author = workspace.people.get(shown.message.author);
  return html`<p data-heading>
    <strong>${author?.name ?? shown.message.author}</strong>
    ${author?.kind === "bot" ? html`<span data-tag>APP</span>` : null} ${when(shown, reader)}
  </p>`;
}

function when({ message, pane }: Shown, reader: Reader): Html {
  return html`<a
    href="${hrefOf(pane, message.ts)}"
    aria-label="Link to this message, ${reader.times.full(message.at)}"
    ><time datetime="${new Date(message.at).toISOString()}" title="${reader.times.full(message.at)}"
      >${reader.times.clock(message.at)}</time
    ></a
  >`;
}

/** Names the thread above a reply that was also sent to the channel. */
function repliedTo({ message, pane }: Shown, workspace: Workspace): Part {
  if (pane.thread !== null || message.thread === null || message.thread === message.ts) return null;
  const parent = workspace.messageAt(message.channel, message.thread);
  const href = hrefOf({ ...pane, thread: message.thread });
  if (parent === undefined)
    return html`<p data-note>replied to <a href="${href}">a thread</a> whose first message was deleted</p>`;
  return html`<p data-note>
    replied to a thread: <a href="${href}">${shorten(parent.text) || "a message"}</a>
  </p>`;
}

function shorten(text: string): string {
  const plain = text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  const characters = Array.from(plain.replace(/\s+/g, " "));
  return characters.length > 60 ? `${characters.slice(0, 59).join("")}…` : characters.join("");
}

function body(message: Message, id: string, at: { reader: Reader; workspace: Workspace }): Part {
  if (message.blocks.length > 0) return drawBlocks(message.blocks, { ...at, id });
  if (message.text === "") return null;
  // Slack does not mark a message with blocks as edited.
  const edited = message.edited === null ? null : html` <span data-edited>(edited)</span>`;
  return html`<div data-kind="text">
    ${mrkdwn(message.text, at.reader, { links: true, mentions: false })}${edited}
  </div>`;
}

function summary({ message, replies, pane }: Shown, workspace: Workspace, reader: Reader): Part {
  const last = replies.at(-1);
  if (last === undefined || pane.thread !== null) return null;
  const authors = [...new Set(replies.map((reply) => reply.author))].slice(-3);
  const faces = authors.map((id) => avatar(workspace.people.get(id), workspace.app.person));
  const many = replies.length === 1 ? "1 reply" : `${replies.length} replies`;
  const lastly = reader.times.tokens("{date_short_pretty} at {time}", last.at);
  return html`<p data-summary>
    ${faces}<a href="${hrefOf({ ...pane, thread: message.ts })}">${many}</a>
    <span data-note>Last reply ${lastly}</span>
  </p>`;
}

function reactions(message: Message, reader: Reader): Part {
  const all = Object.entries(message.reactions ?? {}).filter(([, people]) => people.length > 0);
  if (all.length === 0) return null;
  const one = ([name, people]: [string, string[]]): Html => {
    const mine = attr("data-mine", people.includes(reader.place.person));
    const who = people.map((id) => reader.nameOf(id) ?? id).join(", ");
    return html`<li title="${who} reacted with :${name}:" ${mine}>
      ${emoji(name) ?? `:${name}:`} ${people.length}
    </li>`;
  };
  return html`<ul data-reactions aria-label="Reactions">
    ${all.map(one)}
  </ul>`;
}
