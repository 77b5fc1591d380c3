// What Slack's client checks before it submits a form. Its messages are not documented, so these are ours.

import type { Block, OpenView } from "./model.ts";
import type { Json } from "./json-object.ts";
import { chosenIn, elementsIn } from "./state-values.ts";
import type { Found } from "./state-values.ts";

const nothing = (chosen: Json): boolean =>
  Object.values(chosen).every((one) => one === null || (Array.isArray(one) && one.length === 0));

function lengthError(text: string, element: Found["element"]): string | null {
  const most = Number(element["max_length"] ?? 3000);
  const least = Number(element["min_length"] ?? 0);
  if (text.length > most) return `This can be at most ${most} characters.`;
  return text.length < least ? `This must be at least ${least} characters.` : null;
}

/** The errors that prevent the submit, keyed by block_id. */
export function clientErrors(blocks: readonly Block[], values: OpenView["values"]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { block, element } of elementsIn(blocks)) {
    if (block["type"] !== "input") continue;
    const chosen = chosenIn(element, values[block.block_id]?.[String(element["action_id"])]);
    const text = typeof chosen["value"] === "string" ? chosen["value"] : "";
    const wrong = text === "" ? null : lengthError(text, element);
    if (nothing(chosen) && block["optional"] !== true)
      errors[block.block_id] = "Please complete this required field.";
    else if (wrong !== null) errors[block.block_id] = wrong;
  }
  return errors;
}
