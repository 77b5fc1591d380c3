// Creates the audit entries about a waiting request: for each stage of its escalation that it reaches, and for each reminder, with the
// people that the reminder mentions.

import type { Approval } from "../domain/approval.ts";
import { isReminder } from "../domain/call.ts";
import { reachedStages, rightsOfCalled } from "../domain/escalation.ts";
import { type Call, type ReachedStage, withFollowUp } from "../domain/follow-up.ts";
import { ruleRefOf } from "../domain/applied-rule.ts";
import { idsOf, isNobody, listsOf } from "../domain/policy/named-people.ts";
import type { KeptRule } from "../domain/policy/policy.ts";
import type { Run } from "../domain/run.ts";
import { type AuditEntry, auditEntry } from "./entry.ts";

/** `previous` is null if the request is new. */
export function auditOfFollowUp(
  run: Run,
  previous: Approval | null,
  next: Approval,
  at: number,
): AuditEntry[] {
  return [...stagesReached(run, previous, next, at), ...peopleReminded(run, previous, next, at)];
}

function stagesReached(run: Run, previous: Approval | null, next: Approval, at: number): AuditEntry[] {
  const known =
    previous === null || previous.request.digest !== next.request.digest ? [] : reachedStages(previous);
  return reachedStages(next)
    .slice(known.length)
    .map((reached) => {
      const outcome = outcomeOf(reached, next.appliedRule.rule);
      const mentioned = idsOf(reached.called);
      const facts = { what: "escalated", outcome, stageMs: reached.afterMs, mentioned } as const;
      return auditEntry(run, { at, ...facts, ...aboutIt(next) });
    });
}

function outcomeOf(reached: ReachedStage, rule: KeptRule): string {
  const { decide, denyOnly } = rightsOfCalled(reached, rule);
  if (isNobody(decide) && isNobody(denyOnly)) return "called";
  const only = idsOf(denyOnly);
  const lists = listsOf(isNobody(decide) ? denyOnly : decide).map((list) => `(${idsOf(list).join(", ")})`);
  const who = lists.length < 2 ? "" : `people who are in each of the lists ${lists.join(" and ")} `;
  if (only.length === 0) return `${who}may decide from here on`;
  return idsOf(decide).length === 0
    ? `${who}may deny from here on`
    : `${who}may decide from here on; ${only.join(", ")} may only deny`;
}

function peopleReminded(run: Run, previous: Approval | null, next: Approval, at: number): AuditEntry[] {
  return (next.calls ?? []).flatMap((call) => {
    if (call.who === null || !isReminder(call) || wasKnown(previous, call)) return [];
    const mentioned = [...call.who.groups, ...call.who.users];
    const outcome = reminderOutcome(call);
    return [auditEntry(run, { at, what: "reminded", outcome, mentioned, ...aboutIt(next) })];
  });
}

function reminderOutcome({ says }: Call): string {
  if (says === "reopened") return "it is open again";
  return says === "last" ? "the last one before the deadline" : "it still waits";
}

const wasKnown = (previous: Approval | null, { n }: Call): boolean =>
  (previous?.calls ?? []).some((call) => call.n === n && call.who !== null);

const aboutIt = ({ id, request, appliedRule }: Approval) => ({
  approval: id,
  digest: request.digest,
  policy: ruleRefOf(appliedRule, appliedRule.rule),
});

/** Gives the stage the number of its entry. Its people may decide only if that entry confirms the stage. */
export function withStageEntry(approval: Approval, entry: AuditEntry, seq: number): Approval {
  const stages = reachedStages(approval).map((stage): ReachedStage =>
    stage.entry === undefined && stage.afterMs === entry.stageMs ? { ...stage, entry: seq } : stage,
  );
  return stages.length === 0 ? approval : withFollowUp(approval, { stages });
}
