// Elements that hold a value.
import { asksFirst, confirm, description } from "./buttons.ts";
import { attr, escapeHtml, html, Html } from "../html.ts";
import { number, record, records, string, textOf } from "../json.ts";
import type { Json } from "../json.ts";
import { drawText } from "./mrkdwn.ts";
import type { Seat } from "./seat.ts";
import { act, fieldName, optionsOf } from "./slot.ts";
import { asTyped } from "./typed-rich-text.ts";

export function common(element: Json, seat: Seat): Html {
  const name = attr("name", fieldName(seat.block, string(element["action_id"])));
  const focus = attr("autofocus", seat.labelled && element["focus_on_load"] === true);
  return html`${name}${attr("aria-describedby", seat.describedBy)}${attr("aria-invalid", seat.invalid ? "true" : null)}${focus}${seat.tells ? act(element, seat) : null}`;
}

/** Outside of an input block nothing labels a field but its own placeholder. */
export function naming(element: Json, seat: Seat): Html | null {
  return seat.labelled ? null : attr("aria-label", textOf(element["placeholder"]) || "Choose");
}

export function choices(element: Json, seat: Seat): Html {
  const many = element["type"] === "checkboxes";
  const initial = many ? records(element["initial_options"]) : [record(element["initial_option"])];
  const kept = seat.kept === undefined ? initial.map((option) => option["value"]) : seat.kept;
  const chosen: unknown[] = [kept].flat();
  const rows = optionsOf(element).map((option, i) => {
    const checked = attr("checked", chosen.includes(option["value"]));
    return html`<label
      ><input
        type="${many ? "checkbox" : "radio"}"
        value="${i}"
        ${common(element, seat)}${asksFirst(element, seat)}${checked}${attr("required", seat.required && !many)}
      />
      <span>${drawText(record(option["text"]), seat.reader)}${description(option, seat.reader)}</span></label
    >`;
  });
  const grouped = seat.labelled ? null : html` role="group" aria-label="Choose"`;
  return html`<div data-choices${grouped}${attr("data-required", seat.required && many)}>${rows}</div>
    ${confirm(element, seat)}`;
}

const INPUT_TYPES: Record<string, string> = {
  email_text_input: "email",
  url_text_input: "url",
  number_input: "number",
  datepicker: "date",
  timepicker: "time",
  datetimepicker: "datetime-local",
};

export function textInput(element: Json, seat: Seat): Html {
  const value = valueOf(element, seat);
  const placeholder = attr("placeholder", textOf(element["placeholder"]) || null);
  const rules = html`${limits(element)}${placeholder}${attr("required", seat.required)}${asksFirst(element, seat)}`;
  const asks = confirm(element, seat);
  if (element["multiline"] === true) return area(element, seat, { rules, value });
  return html`<input
      type="${INPUT_TYPES[string(element["type"])] ?? "text"}"
      id="${seat.id}"
      ${common(element, seat)}${naming(element, seat)}${rules}
      value="${value}"
    />${asks}`;
}

function area(element: Json, seat: Seat, { rules, value }: { rules: Html; value: string }): Html {
  const open = html`<textarea
    id="${seat.id}"
    rows="4"
    ${common(element, seat)}${naming(element, seat)}${rules}
  ></textarea>`;
  // A parser drops the line break right after the tag, so that one of the value's own is not lost.
  return new Html(open.toString().replace("></textarea>", () => `>\n${escapeHtml(value)}</textarea>`));
}

/** Typed as in a composer that formats with markup; see `typed-rich-text.ts`. */
export function richTextInput(element: Json, seat: Seat): Html {
  const value = asTyped(seat.kept === undefined ? element["initial_value"] : seat.kept);
  const placeholder = attr("placeholder", textOf(element["placeholder"]) || null);
  const rules = html`${placeholder}${attr("required", seat.required)}`;
  return html`${area(element, seat, { rules, value })}
    <p data-hint>*bold*, _italic_, ~strike~, \`code\`, > quote.</p>`;
}

/** Files come into this workspace from the app only. */
export function fileInput(element: Json, seat: Seat): Html {
  return html`<p data-no-upload id="${seat.id}" tabindex="-1">
    Up to ${number(element["max_files"]) ?? 10} files could be added here. This sandbox takes no files from
    people.
  </p>`;
}

/** No `maxlength`: a browser would cut what is pasted and say nothing, while Slack says that it is too long. */
function limits(element: Json): Html {
  const bound = (name: string): string | null => string(element[`${name}_value`]) || null;
  const step = element["type"] === "number_input" && element["is_decimal_allowed"] === true ? "any" : null;
  return html`${attr("minlength", number(element["min_length"]))}${attr("min", bound("min"))}${attr("max", bound("max"))}${attr("step", step)}`;
}

function valueOf(element: Json, seat: Seat): string {
  const initial = ["value", "date", "time"].map((what) => string(element[`initial_${what}`]));
  if (element["type"] !== "datetimepicker")
    return string(seat.kept === undefined ? initial.find((one) => one !== "") : seat.kept);
  const seconds = number(seat.kept === undefined ? element["initial_date_time"] : seat.kept);
  return seconds === undefined ? "" : seat.reader.times.tokens("{date_num}T{time}", seconds * 1000);
}
