// The input block: a label, a field, an error and a hint.
import { drawElement } from "./elements.ts";
import { html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import { record, string } from "../base/read-blocks.ts";
import { drawText } from "./mrkdwn.ts";
import { elementContextOf } from "./element-context.ts";
import type { Surface } from "./element-context.ts";
import type { Block } from "../../slack/model.ts";

export function input(block: Block, surface: Surface, id: string): Html {
  const { reader } = surface;
  const element = record(block["element"]);
  const optional = block["optional"] === true;
  const error = surface.view?.errors[block.block_id ?? ""];
  const hint =
    block["hint"] === undefined
      ? null
      : html`<p id="${id}-hint" data-hint>${drawText(record(block["hint"]), reader)}</p>`;
  const fault = error === undefined ? null : html`<p id="${id}-error" data-error>${error}</p>`;
  const described = [error === undefined ? "" : `${id}-error`, hint === null ? "" : `${id}-hint`].filter(
    Boolean,
  );
  const control = drawElement(element, {
    ...elementContextOf(block, element, { id, surface }),
    describedBy: described.length > 0 ? described.join(" ") : null,
    invalid: error !== undefined,
    required: !optional,
    dispatches: block["dispatch_action"] === true,
    labelled: true,
  });
  const label = html`${drawText(record(block["label"]), reader)}${optional ? html` <small>(optional)</small>` : null}`;
  return isGroup(string(element["type"]))
    ? html`<fieldset>
        <legend>${label}</legend>
        ${control}${fault}${hint}
      </fieldset>`
    : html`<label for="${id}">${label}</label>${control}${fault}${hint}`;
}

function isGroup(type: string): boolean {
  return ["radio_buttons", "checkboxes"].includes(type) || type.startsWith("multi_");
}
