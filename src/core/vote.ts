// What a decision makes of an open approval: the last one that was needed is sent, perhaps after a while; an earlier one is kept.

import type { Approval, Decision, Delivery, PastDecision } from "./approval.ts";
import type { UserId } from "./ids.ts";
import type { Rule } from "./policy.ts";
import { err, ok, type Result } from "./result.ts";
import type { Worth } from "./worth.ts";

export type Unfit = { readonly because: "unverified"; readonly of: readonly UserId[] };

/** One denial ends it, also while an approval is held. */
export function withDenial(approval: Approval, decision: Decision): Approval {
  const { state, votes, past } = approval;
  const held = state.is === "decided" ? voices(state.decision) : [];
  const gone = [...votes, ...held].map((each) => gaveWay(each, "denied"));
  return {
    ...approval,
    votes: [],
    past: [...past, ...gone],
    state: { is: "decided", decision, delivery: { is: "recorded" } },
  };
}

export function withApproval(
  approval: Approval,
  decision: Decision,
  { rule, monotonic }: { readonly rule: Rule; readonly monotonic: number },
  worthOf: (vote: Decision) => Worth,
): Result<Approval, Unfit> {
  const { votes } = approval;
  if (votes.length + 1 < rule.needs) return ok({ ...approval, votes: [...votes, decision] });
  const asked = votes.map((vote) => ({ vote, worth: worthOf(vote) }));
  const unsure = asked.flatMap(({ vote, worth }) =>
    worth === "unverified" && vote.by !== null ? [vote.by.user] : [],
  );
  if (unsure.length > 0) return err({ because: "unverified", of: unsure });
  const good = asked.filter(({ worth }) => worth === "counts").map(({ vote }) => vote);
  const gone = asked.flatMap(({ vote, worth }) =>
    worth === "counts" || worth === "unverified" ? [] : [gaveWay(vote, worth)],
  );
  const counted = { ...approval, past: [...approval.past, ...gone] };
  if (good.length + 1 < rule.needs) return ok({ ...counted, votes: [...good, decision] });
  const whole: Decision = good.length === 0 ? decision : { ...decision, votes: good };
  const delivery: Delivery =
    rule.holdMs > 0
      ? { is: "held", until: decision.at + rule.holdMs, sendAt: monotonic + rule.holdMs }
      : { is: "recorded" };
  return ok({ ...counted, votes: [], state: { is: "decided", decision: whole, delivery } });
}

/** The approvals that the decision rests on, beside its own. */
export const earlier = ({ votes = [] }: Decision): readonly Decision[] => votes;

/** Everybody's, each as a vote among others, the last one last. */
export const voices = (decision: Decision): readonly Decision[] => [...earlier(decision), alone(decision)];

/** As a vote among others. */
export function alone({ votes: _votes, ...decision }: Decision): Decision {
  return decision;
}

export function gaveWay(decision: Decision, because: PastDecision["because"]): PastDecision {
  return { decision, because, words: "" };
}

/** What the service is told: every reason that was given, byte for byte, the first one first. */
export function sentReason(decision: Decision): string {
  const reasons = [...earlier(decision), decision].map(({ reason }) => reason);
  return reasons.filter((reason) => reason !== "").join("\n\n");
}

/** Everybody whose word it was, once each. Nobody where the policy itself decided. */
export function deciders({ state, votes }: Approval): readonly UserId[] {
  const decisions = state.is === "decided" ? [...earlier(state.decision), state.decision] : votes;
  return [...new Set(decisions.flatMap(({ by }) => (by === null ? [] : [by.user])))];
}
