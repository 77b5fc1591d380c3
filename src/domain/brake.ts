// Two brakes. A stop holds for one run: everything that it asks is denied. A freeze holds for a channel, or everywhere: no run starts
// and no approval is sent; denials are. Neither calls back what the service already has.
//
// `applyBrake` is applied to a run at every save, and again right before an effect begins.

import { ruleOf } from "./applied-rule.ts";
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
import { isStopped, isWatched, type Run } from "./run.ts";

/** The reason that the service gets. */
export const STOP_REASON = "This run was stopped in Slack. Everything it asks for is denied.";

/** The same object when neither brake changes anything. */
export function applyBrake(run: Run, ctx: Context): Run {
  const freeze = freezeIn(ctx.freezes, run.channel);
  const marked = withFreeze(run, freeze);
  const cause = isStopped(run) ? "stopped" : freeze === null ? null : "frozen";
  if (cause === null) return marked;
  const unsent = marked.approvals.reduce((next, { id }) => withdrawApproval(next, id, cause, ctx), marked);
  const never = notStarted(unsent, cause, ctx);
  return cause === "stopped" ? denyWaiting(never, ctx) : never;
}

/** The run carries the freeze for its cards, once it has an approval that waits. */
function withFreeze(run: Run, freeze: Freeze | null): Run {
  const known = run.frozen ?? null;
  const wanted = freeze !== null && (known !== null || run.approvals.some(isOpen)) ? freeze : null;
  if (isSameJson(known, wanted)) return run;
  const { frozen: _before, ...rest } = run;
  return wanted === null ? rest : { ...rest, frozen: wanted };
}

/** Whether a freeze changes what becomes of it. */
const isOpen = (approval: Approval): boolean =>
  !isSettled(approval) &&
  (approval.state.type !== "decided" || approval.state.decision.verdict === "approve");

/** A start that was not sent is given up. One that is being sent is not: the service may have it. */
function notStarted(run: Run, cause: "stopped" | "frozen", { monotonic }: Context): Run {
  if (run.creation.type !== "planned") return run;
  const words =
    cause === "stopped"
      ? "the run was stopped before its task was sent."
      : "Countersign is frozen: no run starts until the freeze is lifted. Start it again then.";
  return { ...run, creation: { type: "refused", words, at: monotonic } };
}

/** Denies what waits, now and whenever the run asks again. A denial that the service refused is not repeated: it would refuse it again. */
function denyWaiting(run: Run, ctx: Context): Run {
  const { stop } = run;
  if (stop === undefined || !isWatched(run)) return run;
  const approvals = run.approvals.map((approval) => {
    if (approval.state.type !== "pending" || wasDenialRefused(approval)) return approval;
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
  return approvals.some((each, at) => each !== run.approvals[at]) ? { ...run, approvals } : run;
}

/** The service has refused a denial of this request that no person gave. */
export function wasDenialRefused({ past, request }: Approval): boolean {
  return past.some(
    ({ decision, cause }) =>
      cause === "refused" && decision.by === null && decision.digest === request.digest,
  );
}

/** The requests that were denied because of the stop, and how many of these denials the service confirmed. */
export function deniedByStop({ stop, approvals }: Pick<Run, "stop" | "approvals">): {
  readonly denied: number;
  readonly confirmed: number;
} {
  const since = stop?.at ?? Number.POSITIVE_INFINITY;
  const denials = approvals.flatMap(({ state }) =>
    state.type === "decided" && state.decision.stoppedBy !== undefined && state.decision.at >= since
      ? [state.delivery.type]
      : [],
  );
  return { denied: denials.length, confirmed: denials.filter((type) => type === "confirmed").length };
}

/** The same run if it is stopped already. */
export function stopRun(run: Run, by: UserId, ctx: Context): Run {
  return isStopped(run) ? run : applyBrake({ ...run, stop: { by, at: ctx.now } }, ctx);
}

/** Requests that the stop denied stay denied. The same run if it is not stopped. */
export function liftStop(run: Run, by: UserId, { now }: Context): Run {
  return run.stop === undefined || !isStopped(run)
    ? run
    : { ...run, stop: { ...run.stop, lifted: { by, at: now } } };
}

/** Null: they may stop the run. Its requester may, and everyone who may decide something of it. */
export function refusalToStop(person: Person, run: Run, ctx: PolicyNow): Refusal | null {
  const isRequester = person.user === run.requester && person.team === run.team;
  if (isRequester && person.kind === "member" && person.seesChannel) return null;
  return refusalToLift(person, run, ctx);
}

/** Null: they may decide something of the run, and so may lift its stop. */
export function refusalToLift(person: Person, run: Run, ctx: PolicyNow): Refusal | null {
  const refusals = rulesFor(run, ctx).map((rule) => refusalToDecide(person, run, rule));
  if (refusals.includes(null)) return null;
  return refusals.find((each) => each?.type === "unverified") ?? refusals[0] ?? { type: "unknown" };
}

/** The rules of its requests; before it asks for anything, those that could apply in its channel. */
export function rulesFor(run: Run, ctx: PolicyNow): readonly Rule[] {
  if (run.approvals.length > 0)
    return [...new Set(run.approvals.map((approval) => ruleOf(ctx, run, approval)))];
  return ctx.policy.rules.filter(({ when }) => when.channels === null || when.channels.includes(run.channel));
}
