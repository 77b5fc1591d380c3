// The approvals that a run asks for, and what an operator can do about them.
import { attr, controlButton, html, type Html, long } from "../page/base/html.ts";
import type { Times } from "../page/base/times.ts";
import type { Approval, Run } from "../service/service-run.ts";

const STATES = { pending: "pending", withdrawn: "withdrawn" } as const;

/** Colors for the phase of a run or the state of an approval. All others have no color. */
const TONES: Readonly<Record<string, "waiting" | "good" | "bad">> = {
  awaiting_approval: "waiting",
  pending: "waiting",
  succeeded: "good",
  approved: "good",
  failed: "bad",
  denied: "bad",
  gone: "bad",
};

export const phaseBadge = (phase: string, words: string): Html =>
  html`<span data-phase="${phase}" ${attr("data-tone", TONES[phase] ?? null)}>${words}</span>`;

export function drawApproval(run: Run, approval: Approval, times: Times): Html {
  const { id, action, state } = approval;
  const result =
    state.type === "decided" ? (state.verdict === "approve" ? "approved" : "denied") : STATES[state.type];
  const reason =
    state.type === "decided" && state.reason !== null ? html` <q>${long(state.reason)}</q>` : null;
  return html`<div data-request="${result}">
      <p>
        ${phaseBadge(result, result)} <code>${id}</code>
        ${"at" in state ? html`<time title="${times.full(state.at)}">${times.clock(state.at)}</time>` : null}
      </p>
      <div>${long(action)}${reason}</div>
    </div>
    ${run.ending === null ? approvalForm(run, approval) : null}`;
}

function approvalForm(run: Run, { id, action, state }: Approval): Html {
  const at = { run: run.id, approval: id };
  const of = (act: string, words: string, args = {}): Html =>
    controlButton({ act, words, label: `${words}: ${id}`, args: { ...at, ...args } });
  if (state.type !== "pending") return html`<p data-buttons>${of("service.returnApproval", "Ask again")}</p>`;
  return html`<p data-buttons>
      ${of("service.withdrawApproval", "Withdraw")}
      ${of("service.resolveElsewhere", "Approve elsewhere", { verdict: "approve", reason: ELSEWHERE })}
      ${of("service.resolveElsewhere", "Deny elsewhere", { verdict: "deny", reason: ELSEWHERE })}
    </p>
    <details>
      <summary>Change it</summary>
      <form data-control="service.changeApproval" data-args="${JSON.stringify(at)}" data-inline>
        <label>
          <span class="unseen">The action that ${id} asks for</span>
          <input type="text" name="action" id="change-${id}" value="${action}" required data-takes="text" />
        </label>
        <button type="submit" data-look="plain">Change</button>
      </form>
    </details>`;
}

const ELSEWHERE = "Decided in the service's own console.";
