// The steps of a run, from `plan` and `task_card` blocks.
import { html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import { record, records, string } from "../base/json.ts";
import type { Json } from "../base/json.ts";
import { link } from "./mention.ts";
import type { Reader } from "../base/reader.ts";
import { richText } from "./rich-text.ts";

const STATES: Record<string, string> = {
  pending: "to do",
  in_progress: "under way",
  complete: "done",
  error: "failed",
};

export function plan(block: Json, reader: Reader): Html {
  const tasks = records(block["tasks"]).map((task) => html`<li>${taskCard(task, reader)}</li>`);
  return html`<p data-title>${string(block["title"])}</p>
    <ol data-steps>
      ${tasks}
    </ol>`;
}

export function taskCard(task: Json, reader: Reader): Html {
  const state = string(task["status"]) in STATES ? string(task["status"]) : "pending";
  const more = ["details", "output"]
    .filter((part) => task[part] !== undefined)
    .map((part) => html`<div data-more>${richText(record(task[part])["elements"], reader)}</div>`);
  const sources = records(task["sources"]).map(
    (one) => html`<li>${link(reader, string(one["url"]), string(one["text"]) || string(one["url"]))}</li>`,
  );
  return html`<div data-step="${state}">
    <span data-bullet aria-hidden="true"></span>
    <div>
      <span data-text>${string(task["title"])}</span><span class="unseen"> (${STATES[state]})</span>${more}
      ${
        sources.length === 0
          ? null
          : html`<ul data-sources aria-label="Sources">
              ${sources}
            </ul>`
      }
    </div>
  </div>`;
}
