// People who open forms, submit them, undo approvals and lose their rights, in a simulated world.

import { ruleOf } from "#src/domain/applied-rule.ts";
import { applyOutcome } from "#src/domain/apply-outcome.ts";
import { allVotes } from "#src/domain/approval-transitions.ts";
import type { Approval, Decision, Request, Verdict } from "#src/domain/approval.ts";
import { type Person, refusalToOpen } from "#src/domain/authorization.ts";
import type { Context } from "#src/domain/context.ts";
import { decide, undo } from "#src/domain/decide.ts";
import { recheckAuthority } from "#src/domain/decision-delivery.ts";
import type { Effect } from "#src/domain/effect.ts";
import { type ApprovalId, UserId } from "#src/domain/ids.ts";
import { reasonToKeepWatching, stopWatching } from "#src/domain/end-run.ts";
import { findApproval, isWatched, type Run } from "#src/domain/run.ts";
import { APPROVER, REQUESTER, TEAM } from "../make/run.ts";

type World = { readonly run: Run; readonly ctx: Context; keep(next: Run): void };

export const PEOPLE = [APPROVER, UserId("U0SECOND"), UserId("U0THIRD")] as const;

type Modal = {
  readonly approval: ApprovalId;
  readonly version: number;
  readonly saw: Request;
  readonly by: UserId;
};
/** A decision, or one approval among several, that the answer to a form confirmed. */
type Committed = { readonly approval: ApprovalId; readonly decision: Decision };

export class SimulatedPeople {
  readonly committed: Committed[] = [];
  readonly undone: Committed[] = [];
  /** People who may no longer decide anything. */
  readonly gone = new Set<UserId>();
  /** Slack does not say who anyone is. */
  silent = false;
  readonly #world: World;
  readonly #modals: Modal[] = [];
  #said = 0;

  constructor(world: World) {
    this.#world = world;
  }

  person(user: UserId): Person {
    const kind = this.gone.has(user) ? "deactivated" : "member";
    return { team: TEAM, user, kind, seesChannel: true };
  }

  /**
   * Returns the run after a decision whose givers may no longer give it, judged by what Slack says about them. Null
   * if it may leave.
   */
  fallen(effect: Effect): Run | null {
    if (effect.type !== "send-decision") return null;
    const { run, ctx } = this.#world;
    const facts = this.silent ? [] : PEOPLE.map((user) => this.person(user));
    const judged = recheckAuthority(run, effect.approval, facts, ctx);
    if (judged.type === "void") return judged.run;
    if (judged.type === "unverified")
      return applyOutcome(run, effect, { type: "later", afterMs: null, why: "nobody can say who may" }, ctx);
    const state = findApproval(run, effect.approval)?.state;
    const approves = state?.type === "decided" && state.decision.verdict === "approve";
    if (approves && allVotes(state.decision).some(({ by }) => by === null || this.gone.has(by.user)))
      throw new Error("an approval leaves although its giver may no longer give it");
    return null;
  }

  open(id: ApprovalId, verdict: Verdict, who: number): void {
    const { run, ctx } = this.#world;
    const approval = newest(run, id);
    const by = PEOPLE[who] ?? APPROVER;
    if (approval === null) return;
    const { version, request } = approval;
    const rule = ruleOf(ctx, run, approval);
    const attempt = { run, rule, by: this.person(by), verdict, monotonic: ctx.monotonic };
    if (refusalToOpen(approval, attempt, { version, was: null }) !== null) return;
    this.#modals.push({ approval: approval.id, version, saw: request, by });
  }

  /** Submits the form that was opened `back` forms ago, after a best-effort look. */
  submit(back: number, verdict: Verdict, look: () => void): void {
    const modal = this.#modals.at(-1 - back);
    if (modal === undefined) return;
    look();
    this.#said += 1;
    const { approval, version, saw, by: user } = modal;
    const { run, ctx } = this.#world;
    const voters = (findApproval(run, approval)?.votes ?? []).flatMap(({ by }) =>
      by === null ? [] : [this.person(by.user)],
    );
    const reason = `because ${this.#said}`;
    const seen = { approval, version, digest: saw.digest, was: saw };
    const result = decide(run, { ...seen, verdict, reason, by: this.person(user), voters }, ctx);
    if (!result.ok) return;
    const decision = taken(result.value, approval, reason);
    if (decision === undefined) throw new Error("a submitted decision is not stored");
    this.committed.push({ approval, decision });
    const counted = (decision.votes ?? []).flatMap(({ by }) => (by === null ? [] : [by.user]));
    if (counted.some((each) => this.gone.has(each)))
      throw new Error("an approval counted although its giver may no longer decide");
    this.#world.keep(result.value);
  }

  unwatch(): void {
    const { run, ctx } = this.#world;
    if (isWatched(run) && reasonToKeepWatching(run) === null)
      this.#world.keep(stopWatching(run, REQUESTER, ctx));
  }

  watchAgain(): void {
    const { run } = this.#world;
    if (run.watch.type === "dropped") this.#world.keep({ ...run, watch: { type: "on" } });
  }

  undo(serviceId: ApprovalId, who: number): void {
    const { run, ctx } = this.#world;
    const approval = newest(run, serviceId);
    if (approval === null) return;
    const { id, version } = approval;
    const by = { team: TEAM, user: PEOPLE[who] ?? APPROVER };
    const result = undo(run, { approval: id, version, by }, ctx);
    if (!result.ok || result.value === run) return;
    const undone = findApproval(result.value, id)?.past.at(-1);
    if (undone === undefined) throw new Error("an undo is not recorded");
    this.undone.push({ approval: id, decision: undone.decision });
    this.#world.keep(result.value);
  }
}

/** Returns the approval that people see under this id of the service. */
export function newest({ approvals }: Run, serviceId: ApprovalId): Approval | null {
  return approvals.findLast((each) => each.serviceId === serviceId) ?? null;
}

function taken(run: Run, id: ApprovalId, reason: string): Decision | undefined {
  const approval = findApproval(run, id);
  const decided = approval?.state.type === "decided" ? [approval.state.decision] : [];
  return [...decided, ...(approval?.votes ?? [])].find((each) => each.reason === reason);
}
