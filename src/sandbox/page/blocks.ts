// Block Kit → HTML. Pure; what it cannot draw it says, so that nothing an app sends can vanish.
import { attr, html } from "./html.ts";
import type { Html, Part } from "./html.ts";
import { drawElement, picture, undrawn } from "./elements.ts";
import type { Slot } from "./slot.ts";
import { record, records, string } from "./json.ts";
import type { Json } from "./json.ts";
import { markdown } from "./markdown.ts";
import { drawText } from "./mrkdwn.ts";
import type { Reader } from "./reader.ts";
import { richText } from "./rich-text.ts";
import { plan, taskCard } from "./plan.ts";
import type { Block, OpenView } from "../slack/model.ts";

/** `id` is unique on the page; a view brings the errors and the values its inputs show. */
export type Surface = { readonly reader: Reader; readonly id: string; readonly view?: OpenView };

export function drawBlocks(blocks: readonly Block[], surface: Surface): Html {
  return html`${blocks.map((block, i) => {
    const id = `${surface.id}-${i}`;
    return html`<div data-kind="${block.type}" ${attr("data-block-id", block.block_id)}>
      ${drawBlock(block, id, surface)}
    </div>`;
  })}`;
}

function drawBlock(block: Block, id: string, surface: Surface): Part {
  const { reader } = surface;
  switch (block.type) {
    case "section":
      return section(block, id, surface);
    case "header":
      return html`<h3>${drawText(record(block["text"]), reader)}</h3>`;
    case "context":
      return records(block["elements"]).map((one) => contextElement(one, reader));
    case "actions":
      return records(block["elements"]).map((one, i) =>
        drawElement(one, slotOf(block, one, `${id}-${i}`, surface)),
      );
    case "divider":
      return html`<hr />`;
    case "rich_text":
      return richText(block["elements"], reader);
    case "markdown":
      return markdown(string(block["text"]), reader);
    case "image":
      return html`${drawText(record(block["title"]), reader)}${picture(block)}`;
    case "input":
      return input(block, id, surface);
    case "plan":
      return plan(block, reader);
    case "task_card":
      return taskCard(block, reader);
    case "container":
      return container(block, id, surface);
    case "alert":
      return html`<div data-level="${string(block["level"]) || "default"}">
        ${drawText(record(block["text"]), reader)}
      </div>`;
    default:
      return undrawn("a block", block.type);
  }
}

function container(block: Block, id: string, surface: Surface): Html {
  const inner = drawBlocks(records(block["child_blocks"]).map(asBlock), { ...surface, id });
  const title = drawText(record(block["title"]), surface.reader);
  if (block["is_collapsible"] !== true)
    return html`<div data-title>${title}</div>
      ${inner}`;
  return html`<details ${attr("open", block["default_collapsed"] !== true)}>
    <summary>${title}</summary>
    ${inner}
  </details>`;
}

function asBlock(child: Json): Block {
  return { ...child, type: string(child["type"]) };
}

function section(block: Block, id: string, surface: Surface): Html {
  const fields = records(block["fields"]).map((field) => html`<div>${drawText(field, surface.reader)}</div>`);
  const accessory = record(block["accessory"]);
  return html`<div data-body>
      ${block["text"] === undefined ? null : html`<div data-text>${drawText(record(block["text"]), surface.reader)}</div>`}
      ${fields.length > 0 ? html`<div data-fields>${fields}</div>` : null}
    </div>
    ${
      block["accessory"] === undefined
        ? null
        : html`<div data-accessory>${drawElement(accessory, slotOf(block, accessory, id, surface))}</div>`
    }`;
}

function contextElement(element: Json, reader: Reader): Part {
  return element["type"] === "image"
    ? picture(element)
    : html`<span data-text>${drawText(element, reader)}</span>`;
}

function slotOf(block: Block, element: Json, id: string, surface: Surface): Slot {
  const name = block.block_id ?? "";
  return {
    reader: surface.reader,
    block: name,
    id,
    kept: surface.view?.values[name]?.[string(element["action_id"])] ?? undefined,
    describedBy: null,
    invalid: false,
    required: false,
    tells: true,
  };
}

function input(block: Block, id: string, surface: Surface): Html {
  const element = record(block["element"]);
  const error = surface.view?.errors[block.block_id ?? ""];
  const hint =
    block["hint"] === undefined
      ? null
      : html`<p id="${id}-hint" data-hint>${drawText(record(block["hint"]), surface.reader)}</p>`;
  const fault = error === undefined ? null : html`<p id="${id}-error" data-error>${error}</p>`;
  const described = [error === undefined ? "" : `${id}-error`, hint === null ? "" : `${id}-hint`].filter(
    Boolean,
  );
  const control = drawElement(element, {
    ...slotOf(block, element, id, surface),
    describedBy: described.length > 0 ? described.join(" ") : null,
    invalid: error !== undefined,
    required: block["optional"] !== true,
    tells: block["dispatch_action"] === true,
  });
  const label = html`${drawText(record(block["label"]), surface.reader)}${block["optional"] === true ? html` <small>(optional)</small>` : null}`;
  const group = ["radio_buttons", "checkboxes"].includes(string(element["type"]));
  return group
    ? html`<fieldset>
        <legend>${label}</legend>
        ${control}${fault}${hint}
      </fieldset>`
    : html`<label for="${id}">${label}</label>${control}${fault}${hint}`;
}
