// Block Kit's elements, each with its drawing function.
import type { Part } from "../base/html.ts";
import { type Json, string } from "../base/read-blocks.ts";
import { button, overflow } from "./buttons.ts";
import type { ElementContext } from "./element-context.ts";
import { choices, textInput } from "./fields.ts";
import { thumbnail, undrawn } from "./media.ts";
import { picker } from "./pickers.ts";

type Drawing = (element: Json, context: ElementContext) => Part;

const DRAWINGS: ReadonlyMap<string, Drawing> = new Map<string, Drawing>([
  ["button", button],
  ["overflow", overflow],
  ["static_select", picker],
  ["users_select", picker],
  ["channels_select", picker],
  ["conversations_select", picker],
  ["multi_static_select", picker],
  ["multi_users_select", picker],
  ["radio_buttons", choices],
  ["checkboxes", choices],
  ["plain_text_input", textInput],
  ["datepicker", textInput],
  ["image", thumbnail],
]);

export function drawElement(element: Json, context: ElementContext): Part {
  const drawing = DRAWINGS.get(string(element["type"]));
  return drawing === undefined ? undrawn("an element", element) : drawing(element, context);
}
