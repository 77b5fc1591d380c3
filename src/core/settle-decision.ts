// What became of one POST of a decision. The rule (DESIGN.md, «POST decision»): the one content is sent again only when it
// was surely not applied, or when the approval is still listed well after a lost answer.

import type { Approval, Decision, Delivery, PastDecision } from "./approval.ts";
import { voidAndClose, withDelivery } from "./approval-moves.ts";
import type { Context } from "./context.ts";
import type { Outcome } from "./effect.ts";
import type { ApprovalId } from "./ids.ts";
import { backoffMs } from "./post.ts";
import { findApproval, isWatched, replaceApproval, type Run, type Said } from "./run.ts";
import { deciders } from "./vote.ts";

/** A decision waits at most this long (ms) for its next attempt, unless the service asks for more. */
const MAX_BACKOFF_MS = 15_000;

type Sending = Extract<Delivery, { is: "held" | "sending" | "recorded" | "retry" }>;
const isSending = (delivery: Delivery): delivery is Sending =>
  ["held", "sending", "recorded", "retry"].includes(delivery.is);

export function settleDecision(run: Run, id: ApprovalId, outcome: Outcome, ctx: Context): Run {
  const approval = findApproval(run, id);
  if (approval?.state.is !== "decided") return run;
  const { decision, delivery } = approval.state;
  if (!isSending(delivery)) return run;
  const next = nextDelivery(delivery, outcome, isWatched(run), ctx.now);
  if (next === null) return run;
  const settled =
    next === "void"
      ? voidAndClose(approval, decision, "run-over", ctx.now)
      : withDelivery(approval, decision, next);
  return inform(replaceApproval(run, settled), settled, decision, ctx);
}

function nextDelivery(
  before: Sending,
  outcome: Outcome,
  watched: boolean,
  now: number,
): Delivery | "void" | null {
  // What an earlier look for a decision that was taken back says is no news of this one.
  if (before.is === "held" && now < before.until) return null;
  const unsent = before.is === "held" || before.is === "recorded";
  const tries = unsent ? 1 : before.is === "retry" ? before.tries + 1 : before.tries;
  const lost = unsent ? false : before.lost;
  switch (outcome.is) {
    case "confirmed":
      return { is: "confirmed", at: now, stillListed: null };
    case "elsewhere":
      // After a lost answer of ours, «already resolved» may be our own doing.
      return lost ? unconfirmed(now) : { is: "elsewhere", at: now, words: outcome.words };
    case "later": {
      if (!watched) return lost ? unconfirmed(now) : "void";
      const notBefore =
        now + Math.max(Math.min(backoffMs(tries, null), MAX_BACKOFF_MS), outcome.afterMs ?? 0);
      return { is: "retry", notBefore, tries, lost, why: outcome.why };
    }
    case "refused":
      if (lost) return { is: "unconfirmed", at: now, because: "refused-after-lost-answer" };
      return { is: "refused", at: now, words: outcome.words, absent: false };
    case "unsure":
      // Only what was on its way can have arrived.
      if (before.is !== "sending") return null;
      if (!watched) return unconfirmed(now);
      return { is: "unsure", since: now, notBefore: now + (outcome.afterMs ?? 0), tries, why: outcome.why };
    default:
      return null;
  }
}

function unconfirmed(at: number): Delivery {
  return { is: "unconfirmed", at, because: "no-longer-listed" };
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
    return past === undefined ? null : { is: "decision-void", approval: id, because: "run-over" };
  }
  if (state.is !== "decided") return null;
  if (state.delivery.is === "refused")
    return { is: "decision-refused", approval: id, words: state.delivery.words };
  if (state.delivery.is === "elsewhere")
    return { is: "decision-elsewhere", approval: id, words: state.delivery.words };
  return null;
}
