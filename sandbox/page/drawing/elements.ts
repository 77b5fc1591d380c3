// Block Kit's elements, each with its drawing function.
import type { Part } from "../base/html.ts";
import { type Json, string } from "../base/json.ts";
import { button, feedbackButtons, iconButton, overflow, workflowButton } from "./buttons.ts";
import type { ElementContext } from "./element-context.ts";
import { choices, fileInput, richTextInput, textInput } from "./fields.ts";
import { thumbnail, undrawn } from "./media.ts";
import { picker } from "./pickers.ts";

type Drawing = (element: Json, context: ElementContext) => Part;

const DRAWINGS: ReadonlyMap<string, Drawing> = new Map<string, Drawing>([
  ["button", button],
  ["workflow_button", workflowButton],
  ["feedback_buttons", feedbackButtons],
  ["icon_button", iconButton],
  ["overflow", overflow],
  ["static_select", picker],
  ["external_select", picker],
  ["users_select", picker],
  ["channels_select", picker],
  ["conversations_select", picker],
  ["multi_static_select", picker],
  ["multi_external_select", picker],
  ["multi_users_select", picker],
  ["multi_channels_select", picker],
  ["multi_conversations_select", picker],
  ["radio_buttons", choices],
  ["checkboxes", choices],
  ["plain_text_input", textInput],
  ["email_text_input", textInput],
  ["url_text_input", textInput],
  ["number_input", textInput],
  ["datepicker", textInput],
  ["timepicker", textInput],
  ["datetimepicker", textInput],
  ["rich_text_input", richTextInput],
  ["file_input", fileInput],
  ["image", thumbnail],
]);

export function drawElement(element: Json, context: ElementContext): Part {
  const drawing = DRAWINGS.get(string(element["type"]));
  return drawing === undefined ? undrawn("an element", element) : drawing(element, context);
}
