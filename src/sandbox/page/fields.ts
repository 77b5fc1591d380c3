// Elements that hold a value.
import { attr, escapeHtml, html, Html } from "./html.ts";
import { number, record, records, string, textOf } from "./json.ts";
import type { Json } from "./json.ts";
import { drawText } from "./mrkdwn.ts";
import { act, fieldName, optionsOf } from "./slot.ts";
import type { Slot } from "./slot.ts";

function common(element: Json, slot: Slot): Html {
  const name = attr("name", fieldName(slot.block, string(element["action_id"])));
  return html`${name}${attr("aria-describedby", slot.describedBy)}${attr("aria-invalid", slot.invalid ? "true" : null)}${slot.tells ? act(element, slot) : null}`;
}

/** Outside of an input block nothing labels a select but its own placeholder. */
function naming(element: Json, slot: Slot): Html | null {
  return slot.tells ? attr("aria-label", textOf(element["placeholder"]) || "Choose") : null;
}

export function select(element: Json, slot: Slot): Html {
  const chosen = string(slot.kept ?? record(element["initial_option"])["value"]);
  return html`<select
    id="${slot.id}"
    ${common(element, slot)}${naming(element, slot)}${attr("required", slot.required)}
  >
    <option value="">${textOf(element["placeholder"]) || "Choose an option"}</option>
    ${optionsOf(element).map(
      (option, i) =>
        html`<option value="${i}" ${attr("selected", chosen !== "" && option["value"] === chosen)}>
          ${textOf(option["text"])}
        </option>`,
    )}
  </select>`;
}

export function usersSelect(element: Json, slot: Slot): Html {
  const chosen = string(slot.kept ?? element["initial_user"]);
  return html`<select
    id="${slot.id}"
    ${common(element, slot)}${naming(element, slot)}${attr("required", slot.required)}
  >
    <option value="">${textOf(element["placeholder"]) || "Choose a person"}</option>
    ${slot.reader
      .people()
      .map(
        (one) => html`<option value="${one.id}" ${attr("selected", one.id === chosen)}>${one.name}</option>`,
      )}
  </select>`;
}

export function choices(element: Json, slot: Slot): Html {
  const many = element["type"] === "checkboxes";
  const initial = many ? records(element["initial_options"]) : [record(element["initial_option"])];
  const chosen: unknown[] = [slot.kept ?? initial.map((option) => option["value"])].flat();
  return html`<div data-choices>
    ${optionsOf(element).map((option, i) => {
      const checked = attr("checked", chosen.includes(option["value"]));
      const more =
        option["description"] === undefined
          ? null
          : html`<small>${drawText(record(option["description"]), slot.reader)}</small>`;
      return html`<label
        ><input
          type="${many ? "checkbox" : "radio"}"
          value="${i}"
          ${common(element, slot)}${checked}${attr("required", slot.required && !many)}
        />
        <span>${drawText(record(option["text"]), slot.reader)}${more}</span></label
      >`;
    })}
  </div>`;
}

const INPUT_TYPES: Record<string, string> = {
  email_text_input: "email",
  url_text_input: "url",
  number_input: "number",
  datepicker: "date",
  timepicker: "time",
};

export function textInput(element: Json, slot: Slot): Html {
  const initial = element["initial_value"] ?? element["initial_date"] ?? element["initial_time"];
  const value = string(slot.kept ?? initial);
  const limits = html`${attr("maxlength", number(element["max_length"]))}${attr("minlength", number(element["min_length"]))}${attr("placeholder", textOf(element["placeholder"]) || null)}${attr("required", slot.required)}${attr("autofocus", element["focus_on_load"] === true)}`;
  if (element["multiline"] === true) {
    const open = html`<textarea id="${slot.id}" rows="4" ${common(element, slot)}${limits}></textarea>`;
    // A parser drops the line break right after the tag, so that one of the value's own is not lost.
    return new Html(open.toString().replace("></textarea>", () => `>\n${escapeHtml(value)}</textarea>`));
  }
  return html`<input
    type="${INPUT_TYPES[string(element["type"])] ?? "text"}"
    id="${slot.id}"
    ${common(element, slot)}${limits}
    value="${value}"
  />`;
}
