// Block Kit for scripts: the text that a reader sees, and the controls with their labels.

import type { Block, OpenView } from "../slack/model.ts";
import { isJson } from "../slack/json-object.ts";
import type { Json } from "../slack/json-object.ts";
import { elementsIn } from "../slack/state-values.ts";
import type { Found } from "../slack/state-values.ts";

/** Returns all text that a reader sees in the blocks. People appear as `@U…`. */
export function wordsOf(value: unknown): string {
  return pieces(value).join("").trim();
}

/** Returns the text of a modal or a Home tab, including the errors of its fields. */
export function viewWords({ view, ...rest }: Pick<OpenView, "view"> & Partial<OpenView>): string {
  const errors = Object.values(rest.errors ?? {});
  return [wordsOf(view["title"]), wordsOf(view.blocks), ...errors, rest.trouble ?? ""]
    .filter((part) => part !== "")
    .join("\n");
}

const SPOKEN = [
  "text",
  "elements",
  "fields",
  "element",
  "label",
  "hint",
  "child_blocks",
  "accessory",
  "title",
];

function pieces(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((item: unknown) => pieces(item));
  if (!isJson(value)) return [];
  if (value["type"] === "user") return [`@${String(value["user_id"])}`];
  if (value["type"] === "date") return pieces(value["fallback"]);
  const spoken = SPOKEN.flatMap((name) => (name in value ? pieces(value[name]) : []));
  return endsLine(value) ? [...spoken, "\n"] : spoken;
}

const endsLine = ({ type, block_id }: Json): boolean =>
  block_id !== undefined || (typeof type === "string" && /^rich_text_|^input$|^button$/.test(type));

/** An element that can be pressed or chosen, with its label. */
export type Usable = Found & { readonly label: string };

export function usableIn(blocks: readonly Block[]): Usable[] {
  return elementsIn(blocks)
    .filter(({ block }) => block["type"] !== "input")
    .map((found) => ({ ...found, label: labelOf(found) }));
}

export function fieldsIn(blocks: readonly Block[]): Usable[] {
  return elementsIn(blocks)
    .filter(({ block }) => block["type"] === "input")
    .map((found) => ({ ...found, label: labelOf(found) }));
}

/** The name that Slack's client gives the menu with three dots. */
const OVERFLOW = "More actions";

function labelOf({ block, element }: Found): string {
  if (element.type === "overflow") return OVERFLOW;
  return wordsOf(block["type"] === "input" ? block["label"] : (element["text"] ?? element["placeholder"]));
}

/** Finds an element by its label, ignoring case, or by its action or block id. */
export function called(all: readonly Usable[], name: string): Usable | undefined {
  const matches = ({ block, element, label }: Usable): boolean =>
    label.toLowerCase() === name.toLowerCase() || element["action_id"] === name || block.block_id === name;
  return all.find(matches);
}

/** Throws an error that lists what is there. */
export function missing(what: string, name: string, there: readonly Usable[]): never {
  const labels = there.map(
    ({ label, element }) => `"${label === "" ? String(element["action_id"]) : label}"`,
  );
  throw new Error(
    `There is no ${what} "${name}" here. Available: ${labels.length === 0 ? "none" : labels.join(", ")}.`,
  );
}
