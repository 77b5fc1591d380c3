// What Slack's client checks in a form before it sends it. Its words are not documented; these are ours.

import type { Block, OpenView } from "./model.ts";
import type { Json } from "./json.ts";
import { chosenIn, elementsIn } from "./state-values.ts";
import type { Found } from "./state-values.ts";

const nothing = (chosen: Json): boolean =>
  Object.values(chosen).every((one) => one === null || (Array.isArray(one) && one.length === 0));

const lengthError = (text: string, element: Found["element"]): string | null => {
  const most = Number(element["max_length"] ?? 3000);
  const least = Number(element["min_length"] ?? 0);
  if (text.length > most) return `This can be at most ${most} characters.`;
  return text.length < least ? `This must be at least ${least} characters.` : null;
};

/** By block_id: the fields whose faults stop the form. */
export const clientErrors = (
  blocks: readonly Block[],
  values: OpenView["values"],
): Record<string, string> => {
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
};
