// Cards, alone and in a row.
import { buttonsOf } from "./buttons.ts";
import { html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import { record, records } from "../base/json.ts";
import type { Json } from "../base/json.ts";
import { picture, thumbnail } from "./media.ts";
import { drawText } from "./mrkdwn.ts";
import type { Reader } from "../base/reader.ts";
import type { ElementContext } from "./element-context.ts";

/** The context of a card's element: its block is the card. */
type Seating = (card: Json, element: Json, at: string) => ElementContext;

export function card(block: Json, reader: Reader, context: Seating): Html {
  return one(block, reader, (element, at) => context(block, element, `${at}`));
}

export function carousel(block: Json, reader: Reader, context: Seating): Html {
  const cards = records(block["elements"]).map(
    (each, i) =>
      html`<li data-kind="card">
        ${one(each, reader, (element, at) => context(each, element, `${i}-${at}`))}
      </li>`,
  );
  return html`<div data-row tabindex="0" role="group" aria-label="Cards">
    <ul>
      ${cards}
    </ul>
  </div>`;
}

function one(block: Json, reader: Reader, context: (element: Json, at: number) => ElementContext): Html {
  const text = (name: string): Html | null =>
    block[name] === undefined
      ? null
      : html`<div data-part="${name}">${drawText(record(block[name]), reader)}</div>`;
  return html`${block["hero_image"] === undefined ? null : picture(record(block["hero_image"]), reader)}
  ${block["icon"] === undefined ? null : thumbnail(record(block["icon"]))} ${text("title")}
  ${text("subtitle")} ${text("body")} ${buttonsOf(block, context)}`;
}
