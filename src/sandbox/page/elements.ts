// Block Kit's interactive elements.
import { choices, select, textInput, usersSelect } from "./fields.ts";
import { attr, html } from "./html.ts";
import type { Html, Part } from "./html.ts";
import { record, string, textOf } from "./json.ts";
import type { Json } from "./json.ts";
import { drawText } from "./mrkdwn.ts";
import { act, optionsOf } from "./slot.ts";
import type { Slot } from "./slot.ts";

export function drawElement(element: Json, slot: Slot): Part {
  switch (element["type"]) {
    case "button":
      return button(element, slot);
    case "overflow":
      return overflow(element, slot);
    case "static_select":
      return select(element, slot);
    case "users_select":
      return usersSelect(element, slot);
    case "radio_buttons":
    case "checkboxes":
      return choices(element, slot);
    case "plain_text_input":
    case "email_text_input":
    case "url_text_input":
    case "number_input":
    case "datepicker":
    case "timepicker":
      return textInput(element, slot);
    case "image":
      return picture(element);
    default:
      return undrawn("an element", element["type"]);
  }
}

export function undrawn(what: string, type: unknown): Html {
  return html`<p data-undrawn>This sandbox cannot draw ${what} of type ${string(type) || "?"}.</p>`;
}

/** Never loaded: a page that fetches pictures tells their host who looks, and when. */
export function picture(element: Json): Html {
  const address = string(element["image_url"]) || textOf(element["slack_file"]);
  return html`<figure data-picture>
    <span data-alt>${string(element["alt_text"]) || "A picture without a description"}</span>
    <figcaption>${address}</figcaption>
  </figure>`;
}

function button(element: Json, slot: Slot): Html {
  const look = ["primary", "danger"].includes(string(element["style"])) ? string(element["style"]) : "plain";
  const label = attr("aria-label", string(element["accessibility_label"]) || null);
  const words = drawText(record(element["text"]), slot.reader);
  const href = slot.reader.linkTo(string(element["url"]));
  if (href !== null) {
    return html`<a
      href="${href}"
      target="_blank"
      rel="noopener noreferrer"
      data-look="${look}"
      ${act(element, slot)}${label}
      >${words}</a
    >`;
  }
  const asks =
    element["confirm"] === undefined
      ? null
      : confirm(record(element["confirm"]), slot, string(element["action_id"]));
  return html`<button
      type="button"
      data-look="${look}"
      ${act(element, slot)}${label}${attr("data-asks", asks !== null)}
    >
      ${words}</button
    >${asks}`;
}

function confirm(dialog: Json, slot: Slot, action: string): Html {
  const id = `${slot.id}-${action}-confirm`;
  const look = dialog["style"] === "danger" ? "danger" : "primary";
  return html`<dialog data-confirm aria-labelledby="${id}">
    <p id="${id}" data-title>${drawText(record(dialog["title"]), slot.reader)}</p>
    <div data-text>${drawText(record(dialog["text"]), slot.reader)}</div>
    <footer>
      <button type="button" data-look="plain" data-answer="deny">
        ${textOf(dialog["deny"]) || "Cancel"}
      </button>
      <button type="button" data-look="${look}" data-answer="confirm">
        ${textOf(dialog["confirm"]) || "Yes"}
      </button>
    </footer>
  </dialog>`;
}

function overflow(element: Json, slot: Slot): Html {
  const items = optionsOf(element).map(
    (option, i) =>
      html`<li>
        <button type="button" ${act(element, slot)} data-chosen="${i}">
          ${drawText(record(option["text"]), slot.reader)}
        </button>
      </li>`,
  );
  return html`<details data-overflow>
    <summary data-look="plain" aria-label="More actions">⋯</summary>
    <ul>
      ${items}
    </ul>
  </details>`;
}
