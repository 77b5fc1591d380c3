// Decodes what a person typed or chose. The browser sends only fields and option numbers; the options come from what the app sent.
import type { Block, OpenView } from "../../slack/model.ts";
import { type Json, record, records, string } from "../base/read-blocks.ts";
import { fieldName, optionsOf } from "./element-context.ts";

export type Fields = readonly (readonly [name: string, value: string])[];

type Placed = { readonly block: string; readonly action: string; readonly element: Json };

function elementsOf(blocks: readonly Json[]): Placed[] {
  return blocks.flatMap(elementsIn);
}

function elementsIn(block: Json): Placed[] {
  return [record(block["element"]), record(block["accessory"]), ...records(block["elements"])]
    .filter((element) => element["action_id"] !== undefined)
    .map((element) => ({ block: string(block["block_id"]), action: string(element["action_id"]), element }));
}

/** Element types that act and hold no value. */
const STATELESS = new Set(["button", "overflow"]);

/** Returns the values in the format of `OpenView.values`. */
export function valuesOf(blocks: readonly Block[], fields: Fields): OpenView["values"] {
  const values: OpenView["values"] = {};
  for (const { block, action, element } of elementsOf(blocks)) {
    if (STATELESS.has(string(element["type"]))) continue;
    const name = fieldName(block, action);
    const raw = fields.filter(([field]) => field === name).map(([, value]) => value);
    values[block] = { ...values[block], [action]: chosen(element, raw) };
  }
  return values;
}

/** Returns the blocks whose fields the browser sends. The app may have added others, which the browser has not drawn yet. */
export function drawnIn(blocks: readonly Block[], fields: Fields): Block[] {
  const sent = new Set(fields.map(([name]) => name));
  return blocks.filter((one) =>
    elementsIn(one).some(({ block, action }) => sent.has(fieldName(block, action))),
  );
}

/** Returns undefined if the element no longer exists, for example after the message was updated. */
export function chosenAt(
  blocks: readonly Block[],
  at: { block: string; action: string },
  raw: readonly string[],
): { readonly chosen: unknown } | undefined {
  const found = elementsOf(blocks).find((one) => one.block === at.block && one.action === at.action);
  return found && { chosen: chosen(found.element, raw) };
}

function chosen(element: Json, raw: readonly string[]): unknown {
  const offered = optionsOf(element);
  const optionAt = (index: string): unknown => offered[indexOf(index)]?.["value"] ?? null;
  switch (element["type"]) {
    case "button":
      return undefined;
    case "checkboxes":
    case "multi_static_select":
      return raw.map(optionAt).filter((value) => value !== null);
    case "static_select":
    case "radio_buttons":
    case "overflow":
      return optionAt(raw[0] ?? "");
    case "multi_users_select":
      return raw.filter((id) => id !== "");
    default:
      return typed(raw) || null;
  }
}

const indexOf = (index: string): number => (index === "" ? -1 : Number(index));

/** A browser sends line breaks as CR LF, but Slack sends LF to apps. */
function typed(raw: readonly string[]): string {
  return raw[0]?.replaceAll("\r\n", "\n") ?? "";
}
