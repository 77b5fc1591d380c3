// Elements that hold a value.
import { attr, escapeHtml, html, Html } from "../base/html.ts";
import { type Json, number, record, records, string, textOf } from "../base/read-blocks.ts";
import { asksFirst, confirm, description } from "./buttons.ts";
import { act, type ElementContext, fieldName, optionsOf } from "./element-context.ts";
import { drawText } from "./mrkdwn.ts";

export function common(element: Json, context: ElementContext): Html {
  const name = attr("name", fieldName(context.block, string(element["action_id"])));
  const focus = attr("autofocus", context.labelled && element["focus_on_load"] === true);
  return html`${name}${attr("aria-describedby", context.describedBy)}${attr("aria-invalid", context.invalid ? "true" : null)}${focus}${context.dispatches ? act(element, context) : null}`;
}

/** Outside an input block, the placeholder is the only label of a field. */
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

export function textInput(element: Json, context: ElementContext): Html {
  const value = valueOf(element, context);
  const placeholder = attr("placeholder", textOf(element["placeholder"]) || null);
  const rules = html`${limits(element)}${placeholder}${attr("required", context.required)}${asksFirst(element, context)}`;
  const asks = confirm(element, context);
  if (element["multiline"] === true) return area(element, context, { rules, value });
  return html`<input
      type="${element["type"] === "datepicker" ? "date" : "text"}"
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
  // HTML drops a line break right after the tag. This one is dropped, so that the value keeps its own first line break.
  return new Html(open.toString().replace("></textarea>", () => `>\n${escapeHtml(value)}</textarea>`));
}

/** There is no `maxlength`: a browser would silently truncate pasted text, whereas Slack reports that it is too long. */
function limits(element: Json): Html | null {
  return attr("minlength", number(element["min_length"]));
}

function valueOf(element: Json, context: ElementContext): string {
  const initial = [string(element["initial_value"]), string(element["initial_date"])];
  return string(context.kept === undefined ? initial.find((one) => one !== "") : context.kept);
}
