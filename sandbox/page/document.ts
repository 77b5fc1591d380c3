// The document of the page, and its live lists.
import { attr, html, type Html } from "./base/html.ts";
import type { PageParts } from "./base/parts.ts";
import { hrefOf, type Place } from "./base/place.ts";
import { channelsSeenBy, channelTitle, createReader, firstChannel, playable } from "./base/reader.ts";
import { type Item, type Lists, slots } from "./base/regions.ts";
import { away, peopleBar, sidebar, status } from "./chrome.ts";
import { channelPane, conversation, threadPane } from "./conversation.ts";
import { home, homePane } from "./drawing/blocks.ts";
import { modal } from "./drawing/modal.ts";
import { hint } from "./hint.ts";
import { keyboardHelp } from "./keyboard-help.ts";
import type { ViewState } from "./base/view-state.ts";
import { panelLists, panelPane } from "./panels/panel.ts";
import { captionBar } from "./panels/scenes-panel.ts";

const STYLES = [
  "font",
  "base",
  "layout",
  "frame",
  "message",
  "hint",
  "new",
  "avatar",
  "file",
  "blocks",
  "text",

  "form",
  "dialog",
  "help",
  "panel",
  "scenes",
  "traffic",
  "wire-strip",
  "phone",
  "side",
  "narrow",
];
const SCRIPT = "page";

export type Drawn = { readonly drawn: string; readonly now: Lists };

/** Whether the page can show this person in this place. */
export function exists(parts: PageParts, place: Place): boolean {
  if (!playable(parts).some((one) => one.id === place.person)) return false;
  if (place.where === "home") return parts.openHome !== null;
  return channelsSeenBy(parts.workspace, place.person).some((one) => one.id === place.where);
}

export function firstPlace(parts: PageParts): Place | undefined {
  const person = playable(parts).at(0)?.id;
  if (person === undefined) return undefined;
  return { person, where: firstChannel(parts, person), thread: null, panel: null };
}

export function lists(parts: PageParts, place: Place, viewState: ViewState): Lists {
  const { unread, memory } = viewState;
  memory.look();
  const reader = createReader(parts, place);
  unread.see(place.person, place.where);
  const said = conversation(parts, reader, viewState);
  const open = parts.workspace.viewsOf(place.person).at(-1);
  const first = hint(parts, place);
  const gone = away(parts);
  return {
    people: one(peopleBar(parts, place)),
    away: gone === null ? [] : one(gone),
    sidebar: one(sidebar(parts, reader, (channel) => unread.isUnread(place.person, channel))),
    status: one(status(parts, place)),
    caption: captionBar(parts, place),
    modal: open === undefined ? [] : [{ key: open.id, inner: modal(open, reader, parts.workspace) }],
    ...(place.where === "home" ? { home: one(home(parts, reader)) } : { messages: said.channel }),
    ...(place.where === "home" ? {} : { hint: first === null ? [] : one(first) }),
    ...(place.thread === null ? {} : { replies: said.thread }),
    ...panelLists(parts, reader, viewState),
  };
}

function one(inner: Html): Item[] {
  return [{ key: "it", inner }];
}

/** Draws the document. `drawn` is its name, and `now` is what it shows. */
export function drawDocument(parts: PageParts, place: Place, { drawn, now }: Drawn): Html {
  const reader = createReader(parts, place);
  const slot = slots(now);
  const channel = parts.workspace.channels.get(place.where);
  const name = parts.workspace.people.get(parts.workspace.app.person)?.name ?? "Slack app";
  const where = channel === undefined ? "Home" : channelTitle(parts, reader, channel);
  const main = channel === undefined ? homePane(parts, slot) : channelPane({ parts, reader, channel, slot });
  return shell(
    `${where} · ${reader.nameOf(place.person)} · ${name} sandbox`,
    html`<body
      data-place="${hrefOf(place)}"
      data-person="${place.person}"
      data-drawn="${drawn}"
      ${attr("data-has-thread", place.thread !== null)}${attr("data-has-panel", place.panel)}
    >
      <nav data-people aria-label="Who you are">${slot("people")}</nav>
      <div data-away role="status">
        <p data-lost hidden>The sandbox has stopped. Waiting for it…</p>
        ${slot("away")}
      </div>
      <aside data-caption-bar aria-label="The scene that is playing">
        <div role="status">${slot("caption")}</div>
      </aside>
      <nav id="sidebar" data-sidebar popover aria-label="Channels">
        <p data-workspace>
          <strong>${name} sandbox</strong><span data-note>a workspace on this machine</span>
        </p>
        ${slot("sidebar")}
        <div data-foot>${slot("status")}</div>
      </nav>
      <main data-pane>${main}</main>
      ${place.thread === null ? null : html`<aside data-pane data-thread-pane aria-label="Thread">${threadPane(parts, reader, slot)}</aside>`}
      ${panelPane(parts, place, slot)} ${slot("modal")} ${keyboardHelp()}
      <p data-toast role="alert" hidden></p>
    </body>`,
  );
}

export function drawMissing(parts: PageParts): Html {
  const first = firstPlace(parts);
  const back =
    first === undefined ? null : html`<p><a href="${hrefOf(first)}">Go to the first channel</a></p>`;
  return shell(
    "Not here · sandbox",
    html`<body>
      <main data-missing>
        <h1>Not here</h1>
        <p>There is no such person or channel, or this person cannot see it.</p>
        ${back}
      </main>
    </body>`,
  );
}

export function shell(title: string, body: Html, { script = true } = {}): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="/page/assets/icon.svg" type="image/svg+xml" />
        ${STYLES.map((name) => html`<link rel="stylesheet" href="/page/assets/${name}.css" />`)}
        ${script ? html`<script type="module" src="/page/assets/${SCRIPT}.js"></script>` : null}
      </head>
      ${body}
    </html>`;
}
