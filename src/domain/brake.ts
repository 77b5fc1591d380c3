// The two brakes. A stop applies to one run, and denies everything that the run asks for. A freeze applies to a channel or everywhere: no
// run starts and no approval is sent, but denials still are. Neither takes back what the service already has.
//
// bring-up-to-date.ts says when `applyBrake` is called: at every save, before a person is judged, and right before an effect begins.

import { onlyPeopleMayDeny, ruleOf, rulesInDoubt } from "./applied-rule.ts";
import { withPolicyDenial } from "./approval-transitions.ts";
import { type Approval, type Decision, isSettled } from "./approval.ts";
import { type Person, type Refusal, refusalToDecide } from "./authorization.ts";
import type { Context } from "./context.ts";
import { withdrawApproval } from "./decision-delivery.ts";
import { type Freeze, freezeIn } from "./freeze.ts";
import type { UserId } from "./ids.ts";
import { isSameJson } from "./json.ts";
import type { Rule } from "./policy/policy.ts";
import type { PolicyNow } from "./rule-facts.ts";
import { deniesAll, isStopped, isWatched, mapApprovals, type Run, type Stop, stopRenderKey } from "./run.ts";

/** The reason that the service receives. */
export const STOP_REASON = "This run was stopped in Slack. Everything it asks for is denied.";

/** Applies the brakes that are on. Returns the same object if they change nothing. */
export function applyBrake(run: Run, ctx: Context): Run {
  const freeze = freezeIn(ctx.freezes, run.channel);
  const marked = withFreeze(run, freeze);
  if (!isStopped(run) && freeze === null) return marked;
  const cause = isStopped(run) ? "stopped" : "frozen";
  const withdrawn = marked.approvals.reduce((next, { id }) => withdrawApproval(next, id, cause, ctx), marked);
  const canceled = cancelStart(withdrawn, cause, ctx);
  return cause === "stopped" ? denyPending(canceled, ctx) : canceled;
}

/** Adds the freeze to a run with an open approval, for its cards, or removes it. */
function withFreeze(run: Run, freeze: Freeze | null): Run {
  const before = run.frozen ?? null;
  const wanted = freeze !== null && (before !== null || run.approvals.some(isAffected)) ? freeze : null;
  if (isSameJson(before, wanted)) return run;
  const { frozen: _before, ...rest } = run;
  return wanted === null ? rest : { ...rest, frozen: wanted };
}

/** Returns whether a freeze affects the approval. */
const isAffected = (approval: Approval): boolean =>
  !isSettled(approval) &&
  (approval.state.type !== "decided" || approval.state.decision.verdict === "approve");

/** Gives up a start that was not sent. A start that is being sent stays, because the service may have it. */
function cancelStart(run: Run, cause: "stopped" | "frozen", { monotonic }: Context): Run {
  if (run.creation.type !== "planned") return run;
  const words =
    cause === "stopped"
      ? "the run was stopped before its task was sent."
      : "Countersign is frozen: no run starts until the freeze is lifted. Start it again then.";
  return { ...run, creation: { type: "refused", words, at: monotonic } };
}

/** Denies the pending requests, except those that only people may deny. */
function denyPending(run: Run, ctx: Context): Run {
  const { stop } = run;
  if (stop === undefined || !deniesAll(run) || !isWatched(run)) return run;
  return mapApprovals(run, (approval) => {
    if (approval.state.type !== "pending" || onlyPeopleMayDeny(approval)) return approval;
    const denial: Decision = {
      verdict: "deny",
      reason: STOP_REASON,
      by: null,
      stoppedBy: stop.by,
      at: ctx.now,
      digest: approval.request.digest,
    };
    return withPolicyDenial(approval, denial, "stopped");
  });
}

/** Names the brakes that are on and the newest stop, for the key of a message that offers a decision. */
export function brakeRenderKey(run: Run): string {
  const stop = stopRenderKey(run);
  const stopped = stop === null ? "" : ` ${stop}`;
  return `${stopped}${run.frozen === undefined ? "" : ` frozen ${run.frozen.entry}`}`;
}

/** Returns the same run if it is already stopped. Confirms a stop of an earlier record. */
export function stopRun(run: Run, by: UserId, ctx: Context): Run {
  return deniesAll(run) ? run : applyBrake({ ...run, stop: { by, at: ctx.now } }, ctx);
}

/**
 * Stops a run whose id the service gave as its answer to a stopped start. That may be another run, so nothing is denied. Returns the same run
 * if it is already stopped, or if `stop` does not hold.
 */
export function carryStop(run: Run, stop: Stop | undefined): Run {
  if (stop === undefined || !isStopped({ stop }) || isStopped(run)) return run;
  return { ...run, stop: { ...stop, ofEarlierRecord: true } };
}

/**
 * How long after a lift a press on Stop may be a repeated delivery of the press before it (ms). Slack documents none for presses; an event
 * that is not acknowledged comes for the last time after about 6 minutes (docs.slack.dev, Events API).
 */
export const PRESS_REPEATS_MS = 6 * 60_000;

/**
 * Returns whether a press acts on this stop, the newest of its run. `shown`: the time of the newest stop when its button was drawn. If Slack
 * refuses updates, a button shows no later stop, so a press on Stop must count again some time after the lift, or after a stop that denies
 * nothing more: a repeated stop does less harm than a refused one. The clock may have been set back.
 */
export function actsOnNewestStop(
  step: "stop" | "lift",
  { at, lifted, ofEarlierRecord }: Stop,
  shown: number | null,
  { now }: Pick<Context, "now">,
): boolean {
  if (at === shown) return true;
  const over = lifted?.at ?? (ofEarlierRecord === true ? at : null);
  return step === "stop" && over !== null && Math.abs(now - over) > PRESS_REPEATS_MS;
}

/** Lifts the stop. Requests that it denied stay denied. Returns the same run if it is not stopped. */
export function liftStop(run: Run, by: UserId, { now }: Context): Run {
  if (run.stop === undefined || !isStopped(run)) return run;
  return { ...run, stop: { ...run.stop, lifted: { by, at: now } } };
}

/** Returns null if the person may stop the run. The requester may, and so may everyone who may decide any of its requests. */
export function refusalToStop(person: Person, run: Run, ctx: PolicyNow): Refusal | null {
  const isRequester = person.user === run.requester && person.team === run.team;
  if (isRequester && person.kind === "member" && person.seesChannel) return null;
  return refusalByAll(run, ctx, (rule) => refusalToDecide(person, run, rule));
}

/**
 * Returns null if the person may lift the stop: everyone may who may decide any of the run's requests, except those who may have asked for
 * the run. No rule makes an exception for them.
 */
export function refusalToLift(person: Person, run: Run, ctx: PolicyNow): Refusal | null {
  return refusalByAll(run, ctx, (rule) => refusalToDecide(person, run, { ...rule, selfApproval: false }));
}

/** Returns null if one of the run's rules refuses nothing. */
function refusalByAll(
  run: Run,
  ctx: PolicyNow,
  refusalUnder: (rule: Rule) => Refusal | null,
): Refusal | null {
  const refusals = rulesFor(run, ctx).map(refusalUnder);
  if (refusals.includes(null)) return null;
  const inDoubt = run.approvals.flatMap((approval) => rulesInDoubt(ctx, run, approval));
  if (inDoubt.some((rule) => refusalUnder(rule) === null))
    return { type: "unverified", requester: run.requester };
  return refusals.find((refusal) => refusal?.type === "unverified") ?? refusals[0] ?? { type: "unknown" };
}

/** Returns the rules of the run's requests. Before it has any, returns all rules that could apply in its channel. */
export function rulesFor(run: Run, ctx: PolicyNow): readonly Rule[] {
  if (run.approvals.length > 0)
    return [...new Set(run.approvals.map((approval) => ruleOf(ctx, run, approval)))];
  return ctx.policy.rules.filter(({ when }) => when.channels === null || when.channels.includes(run.channel));
}
