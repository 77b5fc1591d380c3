// What a person typed or chose, decoded against what the app sent: the browser names fields and numbers of options only.
import type { Block, OpenView } from "../slack/model.ts";
import { fieldName, optionsOf } from "./slot.ts";
import { record, records, string } from "./json.ts";
import type { Json } from "./json.ts";

export type Fields = readonly (readonly [name: string, value: string])[];

type Placed = { readonly block: string; readonly action: string; readonly element: Json };

function elementsOf(blocks: readonly Json[]): Placed[] {
  return blocks.flatMap((block) => [...elementsIn(block), ...elementsOf(records(block["child_blocks"]))]);
}

function elementsIn(block: Json): Placed[] {
  return [record(block["element"]), record(block["accessory"]), ...records(block["elements"])]
    .filter((element) => element["action_id"] !== undefined)
    .map((element) => ({ block: string(block["block_id"]), action: string(element["action_id"]), element }));
}

/** In the form of `OpenView.values`. */
export function valuesOf(blocks: readonly Block[], fields: Fields): OpenView["values"] {
  const values: OpenView["values"] = {};
  for (const { block, action, element } of elementsOf(blocks)) {
    if (element["type"] === "button" || element["type"] === "overflow") continue;
    const name = fieldName(block, action);
    const raw = fields.filter(([field]) => field === name).map(([, value]) => value);
    values[block] = { ...values[block], [action]: chosen(element, raw) };
  }
  return values;
}

/** Undefined when the element is not there any more, as after an update of the message. */
export function chosenAt(
  blocks: readonly Block[],
  at: { block: string; action: string },
  raw: readonly string[],
): { readonly chosen: unknown } | undefined {
  const found = elementsOf(blocks).find((one) => one.block === at.block && one.action === at.action);
  return found && { chosen: chosen(found.element, raw) };
}

function chosen(element: Json, raw: readonly string[]): unknown {
  const optionAt = (index: string): unknown =>
    optionsOf(element)[index === "" ? -1 : Number(index)]?.["value"] ?? null;
  switch (element["type"]) {
    case "button":
      return undefined;
    case "checkboxes":
      return raw.map(optionAt).filter((value) => value !== null);
    case "static_select":
    case "radio_buttons":
    case "overflow":
      return optionAt(raw[0] ?? "");
    default:
      // A browser sends line breaks as CR LF; Slack hands apps LF.
      return raw[0]?.replaceAll("\r\n", "\n") || null;
  }
}
