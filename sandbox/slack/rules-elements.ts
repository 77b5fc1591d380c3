// Block elements, field by field, and where each may stand.

import { type Fields, pick, row, type Rows, rulesOf, shape, string } from "./rules-check.ts";
import { actionable, confirmation, exactlyOne, plainText } from "./rules-fields.ts";
import { inputs } from "./rules-inputs.ts";
import { menus } from "./rules-menus.ts";
import { link, webAddress } from "./rules-values.ts";

const style = string(1, 20, ["primary", "danger"]);
const label = string(1, 75);

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
};

export const elementRows: Rows = { ...buttons, ...menus, ...inputs };

export const elements: Fields = rulesOf(elementRows);

const selects = Object.keys(elements).filter((type) => type.endsWith("_select"));
const pickers = [...selects, "datepicker", "radio_buttons", "checkboxes"];

/** @slack/types ActionsBlockElement, SectionBlockAccessory, InputBlockElement. */
export const inActions = pick(elements, [...pickers, "button", "overflow"]);
export const asAccessory = pick(elements, [...pickers, "button", "overflow", "image"]);
export const inInput = pick(elements, [...pickers, "plain_text_input"]);
