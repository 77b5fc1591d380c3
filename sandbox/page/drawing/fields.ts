// Elements that hold a value.
import { attr, escapeHtml, html, Html } from "../base/html.ts";
import { type Json, number, record, records, string, textOf } from "../base/json.ts";
import { asksFirst, confirm, description } from "./buttons.ts";
import { act, type ElementContext, fieldName, optionsOf } from "./element-context.ts";
import { drawText } from "./mrkdwn.ts";
import { asTyped } from "./typed-rich-text.ts";

export function common(element: Json, context: ElementContext): Html {
  const name = attr("name", fieldName(context.block, string(element["action_id"])));
  const focus = attr("autofocus", context.labelled && element["focus_on_load"] === true);
  return html`${name}${attr("aria-describedby", context.describedBy)}${attr("aria-invalid", context.invalid ? "true" : null)}${focus}${context.tells ? act(element, context) : null}`;
}

/** Outside of an input block, the placeholder is a field's only label. */
export function naming(element: Json, context: ElementContext): Html | null {
  return context.labelled ? null : attr("aria-label", textOf(element["placeholder"]) || "Choose");
}

export function choices(element: Json, context: ElementContext): Html {
  const many = element["type"] === "checkboxes";
  const initial = many ? records(element["initial_options"]) : [record(element["initial_option"])];
  const kept = context.kept === undefined ? initial.map((option) => option["value"]) : context.kept;
  const chosen: unknown[] = [kept].flat();
  const rows = optionsOf(element).map((option, i) => {
    const checked = attr("checked", chosen.includes(option["value"]));
    return html`<label
      ><input
        type="${many ? "checkbox" : "radio"}"
        value="${i}"
        ${common(element, context)}${asksFirst(element, context)}${checked}${attr("required", context.required && !many)}
      />
      <span
        >${drawText(record(option["text"]), context.reader)}${description(option, context.reader)}</span
      ></label
    >`;
  });
  const grouped = context.labelled ? null : html` role="group" aria-label="Choose"`;
  return html`<div data-choices${grouped}${attr("data-required", context.required && many)}>${rows}</div>
    ${confirm(element, context)}`;
}

const INPUT_TYPES: Record<string, string> = {
  email_text_input: "email",
  url_text_input: "url",
  number_input: "number",
  datepicker: "date",
  timepicker: "time",
  datetimepicker: "datetime-local",
};

export function textInput(element: Json, context: ElementContext): Html {
  const value = valueOf(element, context);
  const placeholder = attr("placeholder", textOf(element["placeholder"]) || null);
  const rules = html`${limits(element)}${placeholder}${attr("required", context.required)}${asksFirst(element, context)}`;
  const asks = confirm(element, context);
  if (element["multiline"] === true) return area(element, context, { rules, value });
  return html`<input
      type="${INPUT_TYPES[string(element["type"])] ?? "text"}"
      id="${context.id}"
      ${common(element, context)}${naming(element, context)}${rules}
      value="${value}"
    />${asks}`;
}

function area(
  element: Json,
  context: ElementContext,
  { rules, value }: { rules: Html; value: string },
): Html {
  const open = html`<textarea
    id="${context.id}"
    rows="4"
    ${common(element, context)}${naming(element, context)}${rules}
  ></textarea>`;
  // A parser drops the line break right after the tag, so the value's own first line break stays.
  return new Html(open.toString().replace("></textarea>", () => `>\n${escapeHtml(value)}</textarea>`));
}

/** Typed as in a composer that formats with markup; see `typed-rich-text.ts`. */
export function richTextInput(element: Json, context: ElementContext): Html {
  const value = asTyped(context.kept === undefined ? element["initial_value"] : context.kept);
  const placeholder = attr("placeholder", textOf(element["placeholder"]) || null);
  const rules = html`${placeholder}${attr("required", context.required)}`;
  return html`${area(element, context, { rules, value })}
    <p data-hint>*bold*, _italic_, ~strike~, \`code\`, > quote.</p>`;
}

/** Files come into this workspace from the app only. */
export function fileInput(element: Json, context: ElementContext): Html {
  return html`<p data-no-upload id="${context.id}" tabindex="-1">
    Up to ${number(element["max_files"]) ?? 10} files could be added here. This sandbox takes no files from
    people.
  </p>`;
}

/** No `maxlength`: a browser would silently cut what is pasted, while Slack says that it is too long. */
function limits(element: Json): Html {
  const bound = (name: string): string | null => string(element[`${name}_value`]) || null;
  const step = element["type"] === "number_input" && element["is_decimal_allowed"] === true ? "any" : null;
  return html`${attr("minlength", number(element["min_length"]))}${attr("min", bound("min"))}${attr("max", bound("max"))}${attr("step", step)}`;
}

function valueOf(element: Json, context: ElementContext): string {
  const initial = ["value", "date", "time"].map((what) => string(element[`initial_${what}`]));
  if (element["type"] !== "datetimepicker")
    return string(context.kept === undefined ? initial.find((one) => one !== "") : context.kept);
  const seconds = number(context.kept === undefined ? element["initial_date_time"] : context.kept);
  return seconds === undefined ? "" : context.reader.times.tokens("{date_num}T{time}", seconds * 1000);
}
