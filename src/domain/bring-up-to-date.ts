// Brings a stored run up to date with the requester's groups, the brakes (a stop or a freeze), the time and the policy, in a fixed order. A
// run is saved only when it changes, so until then it lags behind all of them. What the service says is applied earlier (`observe`).
//
// Each function here returns the same object if nothing changes.

import { applyPolicy } from "./applied-rule.ts";
import { applyBrake } from "./brake.ts";
import type { Context } from "./context.ts";
import { expire, withdrawSurplusVotes } from "./decide.ts";
import { applyFollowUp } from "./follow-up-due.ts";
import { lapseClaims } from "./handling.ts";
import { applyListing } from "./listing.ts";
import { withFreshRequester } from "./rule-facts.ts";
import type { Run } from "./run.ts";

/** The requester's groups, as Slack has just listed them. Null if no rule depends on them, or if Countersign did not ask Slack. */
type FreshGroups = Parameters<typeof withFreshRequester>[1];

/**
 * Called before a person is judged, and before they see the run in a form or in their queue. The groups come first, because they determine
 * the rule. The brakes reopen requests, and only a request that waits has a claim and gets the current rule, so both come after them.
 *
 * It expires nothing, because `refusalToOpen` and `refusalToHandle` refuse what is too old. It withdraws no surplus votes, because the
 * approval that is judged completes them.
 */
export function asOfNow(stored: Run, groups: FreshGroups, ctx: Context): Run {
  return withTimeAndRule(beforeMark(stored, groups, ctx), ctx);
}

const withTimeAndRule = (run: Run, ctx: Context): Run => applyPolicy(lapseClaims(run, ctx), ctx);

/**
 * Called when a timer of the run fires. It does not ask Slack for the requester's groups: another effect does. It leaves the brakes to the
 * save, because the audit has one entry for what a save does to a decision. A request that the brakes reopen then expires at the next timer.
 * `isCounted`: whether the time until now counts. If not, the machine may have been suspended, and nothing expires.
 */
export function asOfTimer(stored: Run, ctx: Context, isCounted: boolean): Run {
  const current = withTimeAndRule(stored, ctx);
  return isCounted ? expire(current, ctx) : current;
}

/**
 * Called before an effect is marked, also for each message of a run with thousands of requests. So it leaves out what stops no effect: a
 * decision keeps its rule, and those who gave it are judged by the current one (`recheckAuthority`).
 */
export function beforeMark(stored: Run, groups: FreshGroups, ctx: Context): Run {
  return applyBrake(withFreshRequester(stored, groups, ctx), ctx);
}

/**
 * Called at every save, also at those of a poll that brings nothing new, so it does only what must hold of every stored run. The rule is
 * applied by `observe`, by a timer and after a new policy. The brakes come first: they reopen requests and deny them. A request whose vote is
 * withdrawn waits again, so follow-up comes after that. Listings come last, because they show the result. `isCounted`: as in `asOfTimer`. If
 * follow-up must wait, the plan wakes the run at once, and the wake first makes up for the time that was missed.
 */
export function beforeSave(changed: Run, ctx: Context, isCounted: boolean): Run {
  const valid = withdrawSurplusVotes(applyBrake(changed, ctx), ctx);
  return applyListing(isCounted ? applyFollowUp(valid, ctx) : valid);
}
