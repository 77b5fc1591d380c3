import type { File, Message } from "../slack/model.ts";
import type { Workspace } from "../slack/workspace.ts";
import { avatar } from "./avatar.ts";
import { drawBlocks } from "./blocks.ts";
import { emoji } from "./emoji.ts";
import { attr, html } from "./html.ts";
import type { Html, Part } from "./html.ts";
import { mrkdwn } from "./mrkdwn.ts";
import { anchorOf, hrefOf } from "./place.ts";
import type { Place } from "./place.ts";
import type { Reader } from "./reader.ts";

/** What a message shows of a file; the rest is in the download. */
const PREVIEW_CHARACTERS = 20_000;

/** `replies` are those this reader may see. `pane` is the place this message is drawn in: the channel or its thread. */
export type Shown = { readonly message: Message; readonly replies: readonly Message[]; readonly pane: Place };

export function drawMessage(shown: Shown, workspace: Workspace, reader: Reader): Html {
  const { message, pane } = shown;
  const author = workspace.people.get(message.author);
  const id = anchorOf(message.ts, pane);
  return html`<article
    id="${id}"
    data-message
    data-channel="${message.channel}"
    data-ts="${message.ts}"
    ${attr("data-ephemeral", message.ephemeralFor !== null)}
  >
    ${avatar(author, workspace.app.person)}
    <div data-content>
      ${heading(shown, workspace, reader)} ${body(message, id, reader)}
      ${message.files.map((file) => fileCard(workspace.files.get(file), file))} ${reactions(message, reader)}
      ${summary(shown, workspace, reader)}
    </div>
  </article>`;
}

function heading({ message, pane }: Shown, workspace: Workspace, reader: Reader): Html {
  const author = workspace.people.get(message.author);
  const parent = message.thread === null ? undefined : workspace.messageAt(message.channel, message.thread);
  return html`<p data-heading>
      <strong>${author?.name ?? message.author}</strong>
      ${author?.kind === "bot" ? html`<span data-tag>APP</span>` : null}
      <a href="${hrefOf(pane, message.ts)}" title="Link to this message"
        ><time datetime="${new Date(message.at).toISOString()}" title="${reader.times.full(message.at)}"
          >${reader.times.clock(message.at)}</time
        ></a
      >
      ${message.ephemeralFor === null ? null : html`<span data-note>Only visible to you</span>`}
    </p>
    ${pane.thread === null && parent !== undefined ? repliedTo(parent, pane) : null}`;
}

function repliedTo(parent: Message, pane: Place): Html {
  const href = hrefOf({ ...pane, thread: parent.ts });
  return html`<p data-note>
    replied to a thread: <a href="${href}">${shorten(parent.text) || "a message"}</a>
  </p>`;
}

function shorten(text: string): string {
  const plain = text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  const characters = Array.from(plain.replace(/\s+/g, " "));
  return characters.length > 60 ? `${characters.slice(0, 59).join("")}…` : characters.join("");
}

function body(message: Message, id: string, reader: Reader): Part {
  const edited = message.edited ? html`<span data-note>(edited)</span>` : null;
  if (message.blocks.length > 0) return html`${drawBlocks(message.blocks, { reader, id })}${edited}`;
  if (message.text === "") return edited;
  return html`<div data-kind="text">
    ${mrkdwn(message.text, reader, { links: true, mentions: false })} ${edited}
  </div>`;
}

function summary({ message, replies, pane }: Shown, workspace: Workspace, reader: Reader): Part {
  const last = replies.at(-1);
  if (last === undefined || pane.thread !== null) return null;
  const authors = [...new Set(replies.map((reply) => reply.author))].slice(-3);
  const faces = authors.map((id) => avatar(workspace.people.get(id), workspace.app.person));
  const many = replies.length === 1 ? "1 reply" : `${replies.length} replies`;
  return html`<p data-summary>
    ${faces}<a href="${hrefOf({ ...pane, thread: message.ts })}">${many}</a>
    <span data-note>last at ${reader.times.clock(last.at)}</span>
  </p>`;
}

function reactions(message: Message, reader: Reader): Part {
  const all = Object.entries(message.reactions ?? {}).filter(([, people]) => people.length > 0);
  if (all.length === 0) return null;
  const one = ([name, people]: [string, string[]]): Html =>
    html`<li title="${people.map((id) => reader.nameOf(id) ?? id).join(", ")}">
      ${emoji(name) ?? `:${name}:`} ${people.length}
    </li>`;
  return html`<ul data-reactions aria-label="Reactions">
    ${all.map(one)}
  </ul>`;
}

function fileCard(file: File | undefined, id: string): Html {
  if (file === undefined) return html`<p data-undrawn>A file that is not here any more (${id}).</p>`;
  const name = file.title || file.name;
  const size =
    file.bytes.length < 1000 ? `${file.bytes.length} bytes` : `${(file.bytes.length / 1000).toFixed(1)} kB`;
  const text = plainText(file.bytes);
  const shown = text?.slice(0, PREVIEW_CHARACTERS) ?? "";
  const rest = (text?.length ?? 0) - shown.length;
  return html`<section data-file aria-label="File ${name}">
    <p>
      <strong>${name}</strong> <span data-note>${file.name} · ${size}</span>
      <a href="/page/file/${file.id}" download="${file.name}">Download</a>
    </p>
    ${
      text === undefined
        ? null
        : html`<details>
            <summary>Preview</summary>
            <pre tabindex="0">${shown}</pre>
            ${rest > 0 ? html`<p data-note>${rest} more characters are in the download.</p>` : null}
          </details>`
    }
  </section>`;
}

function plainText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
