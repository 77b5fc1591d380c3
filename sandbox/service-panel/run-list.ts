// The runs of the service, each with its script and with what an operator can do to it.
import { type Act, attr, controlButton, html, type Html, long, type Part } from "../page/base/html.ts";
import type { Memory } from "../page/base/tab-memory.ts";
import type { Item } from "../page/base/regions.ts";
import type { Times } from "../page/base/times.ts";
import type { Run } from "../service/service-run.ts";
import { scriptFor } from "../service/tasks.ts";
import { drawApproval, phaseBadge } from "./approvals.ts";
import type { ServiceState } from "./shown-state.ts";

/** How many runs the panel shows; more would slow it down. It only counts older runs. */
const RUNS = 50;

export function runItems({ runs, vanished }: ServiceState, times: Times, memory: Memory): Item[] {
  const gone = new Set(vanished);
  const items = runs.slice(0, RUNS).map((run) => {
    const isGone = gone.has(run.id);
    return memory.item({ list: "runs", key: run.id }, [run, isGone], () => drawRun(run, isGone, times));
  });
  if (items.length === 0)
    return [{ key: "none", inner: html`<p data-empty>No runs yet. Start one in a channel.</p>` }];
  const rest = runs.length - items.length;
  const more = html`<p data-empty>${rest} older runs are not shown.</p>`;
  return rest > 0 ? [...items, { key: "more", inner: more }] : items;
}

const PHASES: Readonly<Record<Run["phase"], string>> = {
  queued: "queued",
  working: "working",
  awaiting_approval: "awaits approval",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "canceled",
};

function drawRun(run: Run, gone: boolean, times: Times): Html {
  const { id, input, phase, createdAt, approvals } = run;
  return html`<article data-run="${phase}" ${attr("data-gone", gone)} aria-label="Run ${id}">
    <p data-run-bar>
      <code>${id}</code> ${phaseBadge(phase, PHASES[phase])}
      ${gone ? phaseBadge("gone", "answers 404") : null}
      <time datetime="${new Date(createdAt).toISOString()}" title="${times.full(createdAt)}"
        >${times.clock(createdAt)}</time
      >
    </p>
    <div data-task>${long(input)}</div>
    ${script(run)}
    ${
      approvals.length === 0
        ? null
        : html`<ul data-requests>
            ${approvals.map((approval) => html`<li>${drawApproval(run, approval, times)}</li>`)}
          </ul>`
    }
    ${run.ending === null ? null : html`<div data-ending>${endingOf(run.ending)}</div>`} ${runForm(run, gone)}
  </article>`;
}

function endingOf(ending: NonNullable<Run["ending"]>): Part {
  if (ending.type === "succeeded") return ending.output === "" ? "No output." : long(ending.output);
  return ending.type === "failed"
    ? html`<code>${ending.code}</code> ${long(ending.message)}`
    : long(ending.reason);
}

/** The script that the task selected. Each step is past, current or still to come. */
function script({ input, step, ending }: Run): Html {
  const { words, what, steps } = scriptFor(input);
  const place = (i: number): string =>
    ending !== null || i < step ? "past" : i === step ? "now" : "to come";
  return html`<details data-script>
    <summary>
      ${words.startsWith("(") ? "Default script" : html`Script of "${words}"`}: <span>${what}</span>
    </summary>
    <ol>
      ${steps.map(
        (one, i) =>
          html`<li data-when="${place(i)}" ${attr("aria-current", place(i) === "now" ? "step" : null)}>
            ${one}
          </li>`,
      )}
    </ol>
  </details>`;
}

function runForm(run: Run, gone: boolean): Html {
  const at = { run: run.id };
  const seen: Act = gone
    ? { act: "service.reappear", words: "Make it reappear", args: at }
    : { act: "service.vanish", words: "Make it vanish (404)", args: at };
  const vanish = controlButton({ ...seen, label: `${seen.words}: ${run.id}`, id: `seen-${run.id}` });
  if (run.ending !== null) return html`<p data-buttons>${vanish}</p>`;
  const ends: readonly (readonly [act: string, name: string, words: string])[] = [
    ["service.finish", "output", "Finish"],
    ["service.fail", "message", "Fail"],
    ["service.cancel", "reason", "Cancel"],
  ];
  return html`<form data-control="" data-args="${JSON.stringify(at)}" data-inline>
      <label>
        <span class="unseen">Output, message or reason for ${run.id}</span>
        <input type="text" name="words" id="end-${run.id}" value="An operator ended it." data-takes="text" />
      </label>
      ${ends.map(
        ([act, name, words]) =>
          html`<button
            type="submit"
            data-look="plain"
            data-control="${act}"
            data-words-as="${name}"
            aria-label="${words} ${run.id}"
          >
            ${words}
          </button>`,
      )}
      ${vanish}
    </form>
    ${askForm(run.id)}`;
}

function askForm(run: string): Html {
  return html`<details>
    <summary>Ask for one more approval</summary>
    <form data-control="service.addApproval" data-args="${JSON.stringify({ run })}" data-inline>
      <label>
        <span class="unseen">What else ${run} asks for</span>
        <input
          type="text"
          name="action"
          id="ask-${run}"
          value="Restart the mail queue"
          required
          data-takes="text"
        />
      </label>
      <button type="submit" data-look="plain">Ask</button>
    </form>
  </details>`;
}
