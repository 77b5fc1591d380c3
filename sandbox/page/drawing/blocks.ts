// Block Kit → HTML. Blocks that cannot be drawn are named, so that nothing that an app sends disappears.

import type { Block } from "../../slack/model.ts";
import { attr, html, type Html, type Part } from "../base/html.ts";
import { type Json, record, records, string } from "../base/read-blocks.ts";
import type { PageParts } from "../base/parts.ts";
import type { Reader } from "../base/reader.ts";
import type { Slot } from "../base/regions.ts";
import { elementContextOf, type Surface } from "./element-context.ts";
import { drawElement } from "./elements.ts";
import { input } from "./input.ts";
import { markdown } from "./markdown-block.ts";
import { picture, thumbnail, undrawn } from "./media.ts";
import { drawText } from "./mrkdwn.ts";
import { richText } from "./rich-text.ts";
import { dataTable, table } from "./tables.ts";

export function drawBlocks(blocks: readonly Block[], surface: Surface): Html {
  return html`${blocks.map((block, i) => {
    const id = `${surface.id}-${i}`;
    const drawing = DRAWINGS.get(block.type) ?? (() => undrawn("a block", block));
    return html`<div data-kind="${block.type}" ${attr("data-block-id", block.block_id)}>
      ${drawing(block, surface, id)}
    </div>`;
  })}`;
}

type Drawing = (block: Block, surface: Surface, id: string) => Part;

const DRAWINGS: ReadonlyMap<string, Drawing> = new Map<string, Drawing>([
  ["section", section],
  ["header", (block, { reader }) => html`<h3>${drawText(record(block["text"]), reader)}</h3>`],
  ["context", (block, { reader }) => records(block["elements"]).map((one) => contextElement(one, reader))],
  ["actions", elements],
  ["divider", () => html`<hr />`],
  ["rich_text", (block, { reader }) => richText(block["elements"], reader)],
  ["markdown", (block, { reader }) => markdown(string(block["text"]), reader)],
  ["image", (block, { reader }) => picture(block, reader)],
  ["input", input],
  ["table", (block, { reader }) => table(block, reader)],
  ["data_table", (block, { reader }) => dataTable(block, reader)],
  ["alert", alert],
]);

function elements(block: Block, surface: Surface, id: string): Part {
  return records(block["elements"]).map((one, i) =>
    drawElement(one, elementContextOf(block, one, { id: `${id}-${i}`, surface })),
  );
}

const LEVELS: Record<string, string> = { info: "ℹ️", warning: "⚠️", error: "⛔", success: "✅" };

function alert(block: Block, { reader }: Surface): Html {
  const level = string(block["level"]);
  const sign = LEVELS[level];
  return html`<div data-level="${sign === undefined ? "default" : level}">
    ${sign === undefined ? null : html`<span role="img" aria-label="${level}">${sign}</span>`}
    <div>${drawText(record(block["text"]), reader)}</div>
  </div>`;
}

function section(block: Block, surface: Surface, id: string): Html {
  const { reader } = surface;
  const fields = records(block["fields"]).map((field) => html`<div>${drawText(field, reader)}</div>`);
  const accessory = record(block["accessory"]);
  return html`<div data-body>
      ${block["text"] === undefined ? null : html`<div data-text>${drawText(record(block["text"]), reader)}</div>`}
      ${fields.length > 0 ? html`<div data-columns>${fields}</div>` : null}
    </div>
    ${
      block["accessory"] === undefined
        ? null
        : html`<div data-accessory="${string(accessory["type"])}">
            ${drawElement(accessory, elementContextOf(block, accessory, { id, surface }))}
          </div>`
    }`;
}

function contextElement(element: Json, reader: Reader): Part {
  if (element["type"] === "image") return thumbnail(element);
  if (element["type"] === "plain_text" || element["type"] === "mrkdwn")
    return html`<span data-text>${drawText(element, reader)}</span>`;
  return undrawn("an element of a context block", element);
}

export function homePane(parts: PageParts, slot: Slot): Html {
  const name = parts.workspace.people.get(parts.workspace.app.person)?.name ?? "The app";
  return html`<header data-bar>
      <button type="button" data-look="plain" data-menu popovertarget="sidebar" aria-label="Channels">
        ☰
      </button>
      <h1>${name}</h1>
      <span data-note>Home</span>
    </header>
    <h2 class="unseen">Home</h2>
    <div data-scroll tabindex="0" role="region" aria-label="Home">${slot("home")}</div>`;
}

export function home(parts: PageParts, reader: Reader): Html {
  const published = parts.workspace.homes.get(reader.place.person);
  if (published === undefined) {
    return html`<div data-empty>
      <p><strong>Nothing here yet.</strong></p>
      <p>The app has not published a Home tab for ${reader.nameOf(reader.place.person)}.</p>
    </div>`;
  }
  const view = { values: published.values, errors: {} };
  return html`<div data-blocks data-view="${published.id}">
    ${drawBlocks(published.view.blocks, { reader, id: "h", view, workspace: parts.workspace })}
  </div>`;
}
