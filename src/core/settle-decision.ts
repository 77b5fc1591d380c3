// What became of one POST of a decision. The rule (DESIGN.md, «POST decision»): the one content is sent again only when it
// was surely not applied, or when the approval is still listed well after a lost answer.

import {
  answeredBefore,
  type Approval,
  type Decision,
  type Delivery,
  type PastDecision,
} from "./approval.ts";
import { voidAndClose, withDelivery } from "./approval-moves.ts";
import type { Context } from "./context.ts";
import type { Outcome } from "./effect.ts";
import type { ApprovalId } from "./ids.ts";
import { backoffMs } from "./post.ts";
import { findApproval, isWatched, replaceApproval, type Run, type Said } from "./run.ts";
import { deciders } from "./vote.ts";

type Sending = Extract<Delivery, { is: "held" | "sending" | "recorded" | "retry" }>;
const isSending = (delivery: Delivery): delivery is Sending =>
  ["held", "sending", "recorded", "retry"].includes(delivery.is);

export function settleDecision(run: Run, id: ApprovalId, outcome: Outcome, ctx: Context): Run {
  const approval = findApproval(run, id);
  if (approval?.state.is !== "decided") return run;
  const { decision, delivery } = approval.state;
  if (!isSending(delivery)) return run;
  const next = nextDelivery(delivery, outcome, isWatched(run), ctx);
  if (next === null) return run;
  const settled =
    next === "void" || next === "tampered"
      ? voidAndClose(approval, decision, next === "void" ? "run-over" : next, ctx.now)
      : withDelivery(approval, decision, next);
  return inform(replaceApproval(run, settled), settled, decision, ctx);
}

function nextDelivery(
  before: Sending,
  outcome: Outcome,
  watched: boolean,
  { now, monotonic, slowestRetryMs }: Context,
): Delivery | "void" | "tampered" | null {
  // What an earlier look for a decision that was taken back says is no news of this one.
  if (before.is === "held" && monotonic < before.sendAt) return null;
  const unsent = before.is === "held" || before.is === "recorded";
  const tries = unsent ? 1 : before.is === "retry" ? before.tries + 1 : before.tries;
  const lost = unsent ? false : before.lost;
  const answered = answeredBefore(before);
  const again = { is: "retry", tries, lost, ...answered } as const;
  const unconfirmed = (because: Because): Delivery => ({ is: "unconfirmed", at: now, because, ...answered });
  switch (outcome.is) {
    case "confirmed":
      return { is: "confirmed", at: monotonic, stillListed: null };
    case "elsewhere":
      // After a lost answer of ours, «already resolved» may be our own doing.
      return lost ? unconfirmed("no-longer-listed") : { is: "elsewhere", at: now, words: outcome.words };
    case "later": {
      if (!watched) return lost ? unconfirmed("no-longer-listed") : "void";
      const wait = Math.max(Math.min(backoffMs(tries, null), slowestRetryMs), outcome.afterMs ?? 0);
      const { why, heldBack } = outcome;
      return { ...again, notBefore: monotonic + wait, why, ...(heldBack === true ? { heldBack } : {}) };
    }
    case "unproven":
      // What went before may have arrived; what is there now must not go.
      return lost ? unconfirmed("tampered") : "tampered";
    case "refused":
      if (lost) return unconfirmed("refused-after-lost-answer");
      return { is: "refused", at: monotonic, words: outcome.words, absent: false };
    case "unsure":
      // Only what was on its way can have arrived.
      return before.is === "sending" ? unclear(outcome, watched, { now, monotonic, tries }) : null;
    default:
      return null;
  }
}

type Because = Extract<Delivery, { is: "unconfirmed" }>["because"];

/** No answer came, or one that says neither yes nor no: the service is asked what it lists, while its run is watched. */
function unclear(
  { why, afterMs, answered }: Extract<Outcome, { is: "unsure" }>,
  watched: boolean,
  { now, monotonic, tries }: { now: number; monotonic: number; tries: number },
): Delivery {
  const said = answered === undefined ? {} : { answered };
  if (!watched) return { is: "unconfirmed", at: now, because: "no-longer-listed", ...said };
  return { is: "unsure", since: monotonic, notBefore: monotonic + (afterMs ?? 0), tries, why, ...said };
}

/** The approver hears privately of a decision that did not take effect; everybody else sees it on the card. */
function inform(run: Run, settled: Approval, decision: Decision, ctx: Context): Run {
  const says = said(settled, settled.past.at(-1));
  if (says === null) return run;
  const people = deciders({ ...settled, state: { is: "decided", decision, delivery: { is: "recorded" } } });
  const tells = people.map((to) => ({ id: ctx.nonce(), to, says, state: "planned", notBefore: 0 }) as const);
  return { ...run, tells: [...run.tells, ...tells] };
}

function said({ id, state }: Approval, past: PastDecision | undefined): Said | null {
  if (state.is === "closed") {
    const because = past?.because === "tampered" ? "tampered" : "run-over";
    return past === undefined ? null : { is: "decision-void", approval: id, because };
  }
  if (state.is !== "decided") return null;
  if (state.delivery.is === "refused")
    return { is: "decision-refused", approval: id, words: state.delivery.words };
  if (state.delivery.is === "elsewhere")
    return { is: "decision-elsewhere", approval: id, words: state.delivery.words };
  return null;
}
