// Elements that act and hold no value, and the confirmation dialog that any element can have.
import { attr, html, type Html } from "../base/html.ts";
import { type Json, record, string, textOf } from "../base/read-blocks.ts";
import type { Reader } from "../base/reader.ts";
import { act, type ElementContext, optionsOf } from "./element-context.ts";
import { withEmoji } from "./emoji.ts";
import { drawText } from "./mrkdwn.ts";

export function button(element: Json, context: ElementContext): Html {
  const look = ["primary", "danger"].includes(string(element["style"])) ? string(element["style"]) : "plain";
  const label = attr("aria-label", string(element["accessibility_label"]) || null);
  const words = drawText(record(element["text"]), context.reader);
  const href = context.reader.linkTo(string(element["url"]));
  if (href !== null) {
    return html`<a
      href="${href}"
      target="_blank"
      rel="noopener noreferrer"
      data-look="${look}"
      ${act(element, context)}${label}
      >${words} <span aria-hidden="true">↗</span></a
    >`;
  }
  const question = confirm(element, context);
  return html`<button
      type="button"
      data-look="${look}"
      ${act(element, context)}${label}${attr("data-asks", question !== null)}
    >
      ${words}</button
    >${question}`;
}

export function overflow(element: Json, context: ElementContext): Html {
  const question = confirm(element, context);
  const items = optionsOf(element).map(
    (option, i) => html`<li>${item(element, context, { option, i })}</li>`,
  );
  return html`<details data-overflow>
      <summary data-look="plain" aria-label="More actions">⋯</summary>
      <ul>
        ${items}
      </ul>
    </details>
    ${question}`;
}

function item(element: Json, context: ElementContext, { option, i }: { option: Json; i: number }): Html {
  const words = html`${drawText(record(option["text"]), context.reader)}${description(option, context.reader)}`;
  const href = context.reader.linkTo(string(option["url"]));
  if (href !== null)
    return html`<a
      href="${href}"
      target="_blank"
      rel="noopener noreferrer"
      ${act(element, context)}
      data-chosen="${i}"
      >${words}</a
    >`;
  return html`<button type="button" ${act(element, context)}${asksFirst(element, context)} data-chosen="${i}">
    ${words}
  </button>`;
}

export function description(option: Json, reader: Reader): Html | null {
  if (option["description"] === undefined) return null;
  return html`<small>${drawText(record(option["description"]), reader)}</small>`;
}

/** The attribute that names the confirmation dialog of a choice. A button needs none: its dialog follows it in the markup. */
export function asksFirst(element: Json, context: ElementContext): Html | null {
  return asks(element, context) ? attr("data-asks-first", confirmId(element, context)) : null;
}

/** Whether the element asks for confirmation. An input of a form does not, because nothing happens before the form is submitted. */
const asks = (element: Json, context: ElementContext): boolean =>
  context.dispatches && element["confirm"] !== undefined;

function confirmId(element: Json, context: ElementContext): string {
  return `${context.id}-${string(element["action_id"])}-confirm`;
}

/** The confirmation dialog. docs.slack.dev: the default texts if the app gives none. */
export function confirm(element: Json, context: ElementContext): Html | null {
  if (!asks(element, context)) return null;
  const dialog = record(element["confirm"]);
  const id = confirmId(element, context);
  const look = dialog["style"] === "danger" ? "danger" : "primary";
  return html`<dialog id="${id}" data-confirm aria-labelledby="${id}-title" aria-describedby="${id}-text">
    <p id="${id}-title" data-title>${withEmoji(textOf(dialog["title"]) || "Are you sure?")}</p>
    <div id="${id}-text" data-text>${drawText(record(dialog["text"]), context.reader)}</div>
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
