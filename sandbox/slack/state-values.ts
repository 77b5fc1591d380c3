// The values of all fields of a surface, in the format of Slack's `state.values`.

import type { Block, OpenView } from "./model.ts";
import { isJson } from "./json-object.ts";
import type { Json } from "./json-object.ts";

export type Found = {
  readonly block: Json & { block_id: string };
  readonly element: Json & { type: string };
};

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** Returns every element with an action_id, in inputs, actions and accessories, with its block. */
export const elementsIn = (blocks: readonly unknown[]): Found[] =>
  blocks.flatMap((block) => {
    if (!isJson(block)) return [];
    const held = [block["element"], block["accessory"], ...listed(block["elements"])];
    const own = held.filter((one) => isJson(one) && typeof one["action_id"] === "string");
    return own.map((element) => ({ block, element }) as Found);
  });

export const optionsOf = (element: Json): Json[] =>
  [element, ...listed(element["option_groups"])].flatMap((one) =>
    isJson(one) ? listed(one["options"]).filter(isJson) : [],
  );

const optionWith = (element: Json, value: unknown): Json | null =>
  optionsOf(element).find((option) => option["value"] === value) ?? null;

const oneOption = new Set(["static_select", "radio_buttons", "overflow"]);
const manyOptions = new Set(["multi_static_select", "checkboxes"]);

/** For each type, the field of the payload that has the choice, and the field of the element that has the initial value. */
const fields: Record<string, readonly [chosen: string, initial: string]> = {
  plain_text_input: ["value", "initial_value"],
  users_select: ["selected_user", "initial_user"],
  channels_select: ["selected_channel", "initial_channel"],
  conversations_select: ["selected_conversation", "initial_conversation"],
  multi_users_select: ["selected_users", "initial_users"],
  datepicker: ["selected_date", "initial_date"],
};

/** Returns the choice in one element in Slack's format. `raw` has the format of one value in `OpenView.values`. */
export function chosenIn(element: Json & { type: string }, raw: unknown): Json {
  const { type } = element;
  if (oneOption.has(type))
    return {
      selected_option: raw === undefined ? (element["initial_option"] ?? null) : optionWith(element, raw),
    };
  if (manyOptions.has(type)) {
    const initial = listed(element["initial_options"]);
    const chosen = listed(raw).flatMap((value) => optionWith(element, value) ?? []);
    return { selected_options: raw === undefined ? initial : chosen };
  }
  const [field, initial] = fields[type] ?? ["value", "initial_value"];
  const empty = field.endsWith("s") ? [] : null;
  return { [field]: raw === undefined ? (element[initial] ?? empty) : raw === "" ? empty : raw };
}

/** Element types without state. */
const stateless = new Set(["button", "overflow", "image"]);

export function stateOf(blocks: readonly Block[], values: OpenView["values"]): Record<string, Json> {
  const state: Record<string, Json> = {};
  for (const { block, element } of elementsIn(blocks)) {
    if (stateless.has(element.type)) continue;
    const id = String(element["action_id"]);
    const held = { type: element.type, ...chosenIn(element, values[block.block_id]?.[id]) };
    state[block.block_id] = { ...state[block.block_id], [id]: held };
  }
  return state;
}
