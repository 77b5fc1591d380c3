// Block elements, field by field, and where each may stand.

import {
  anything,
  type Fields,
  list,
  pick,
  row,
  type Rows,
  type Rule,
  rulesOf,
  shape,
  string,
} from "./rules-check.ts";
import { actionable, confirmation, exactlyOne, plainText } from "./rules-fields.ts";
import { inputs } from "./rules-inputs.ts";
import { menus } from "./rules-menus.ts";
import { link, webAddress } from "./rules-values.ts";

const style = string(1, 20, ["primary", "danger"]);
const label = string(1, 75);

/** @slack/types FeedbackButtons: its two buttons have no limits of their own; those of buttons are taken. */
const feedback: Rule = shape({ text: plainText(75), value: string(1, 2000) }, { accessibility_label: label });

/** @slack/types WorkflowButton. */
const workflow: Rule = shape({
  trigger: shape(
    { url: webAddress },
    { customizable_input_parameters: list(shape({ name: string(1, 255), value: anything }), 1, 100) },
  ),
});

/** A URL or a Slack file, by its id or address. */
export const pictured: Fields = {
  image_url: webAddress,
  slack_file: shape({}, { id: string(1, 255), url: webAddress }, exactlyOne("id", "url")),
};

const buttons: Rows = {
  button: row(
    "@slack/types 3.2, Button",
    shape(
      { text: plainText(75) },
      {
        ...actionable,
        value: string(0, 2000),
        url: link,
        style,
        confirm: confirmation,
        accessibility_label: label,
      },
    ),
  ),
  image: row(
    "@slack/types 3.2, ImageElement",
    shape({ alt_text: string(1, 2000) }, pictured, exactlyOne("image_url", "slack_file")),
  ),
  workflow_button: row(
    "@slack/types 3.2, WorkflowButton",
    shape(
      { text: plainText(75), workflow },
      { ...actionable, style, accessibility_label: label, confirm: confirmation },
    ),
  ),
  feedback_buttons: row(
    "@slack/types 3.2, FeedbackButtons",
    shape({ positive_button: feedback, negative_button: feedback }, actionable),
  ),
  icon_button: row(
    "@slack/types 3.2, IconButton",
    shape(
      { icon: string(1, 100), text: plainText(75) },
      {
        ...actionable,
        value: string(0, 2000),
        confirm: confirmation,
        accessibility_label: label,
        visible_to_user_ids: list(string(1, 255), 1, 100),
      },
    ),
  ),
};

export const elementRows: Rows = { ...buttons, ...menus, ...inputs };

export const elements: Fields = rulesOf(elementRows);

const selects = Object.keys(elements).filter((type) => type.endsWith("_select"));
const pickers = [...selects, "datepicker", "timepicker", "radio_buttons", "checkboxes"];

/** @slack/types ActionsBlockElement, SectionBlockAccessory, InputBlockElement, ContextActionsBlockElement. */
export const inActions = pick(elements, [
  ...pickers,
  "button",
  "overflow",
  "datetimepicker",
  "rich_text_input",
  "workflow_button",
]);
export const asAccessory = pick(elements, [...pickers, "button", "overflow", "image", "workflow_button"]);
export const inInput = pick(elements, [
  ...pickers,
  "plain_text_input",
  "datetimepicker",
  "email_text_input",
  "url_text_input",
  "number_input",
  "rich_text_input",
  "file_input",
]);
export const inContextActions = pick(elements, ["feedback_buttons", "icon_button"]);
