// What a request waits for, in words: its deadline, its pauses, the people called by its escalation, and the parts of its rule that have
// not approved yet.

import type { RichTextElement, RichTextSection } from "@slack/types";
import { deadlineOf, missingParts, outcomeAtDeadline } from "../../../domain/applied-rule.ts";
import type { Approval } from "../../../domain/approval.ts";
import { reachedStages, rightsOfCalled } from "../../../domain/escalation.ts";
import type { Pause } from "../../../domain/follow-up.ts";
import { hasClock } from "../../../domain/follow-up-due.ts";
import {
  isNobody,
  type ListedPeople,
  listsOf,
  type NamedPeople,
  type Part,
  partName,
} from "../../../domain/policy/named-people.ts";
import type { KeptRule } from "../../../domain/policy/policy.ts";
import { awaitsAnswerUntil } from "../../../domain/question.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { ago, duration, line, moment, person, span } from "./rich.ts";

/** The most names of an escalation stage that a card shows. */
const MAX_NAMES = 6;

export function waitingLines(approval: Approval): readonly RichTextSection[] {
  return [...stageLines(approval), ...deadlineLine(approval), ...pauseLines(approval)];
}

/** While a question is open, its whole pause is part of the deadline, and an earlier answer takes the rest of it away. */
export function deadlineLine(approval: Approval): readonly RichTextSection[] {
  const deadline = deadlineOf(approval);
  if (deadline === null) return [];
  const then =
    outcomeAtDeadline(approval) === "deny"
      ? ". After that, it is denied."
      : ". After that, it closes, and nothing is sent.";
  const name = awaitsAnswerUntil(approval) === null ? "Deadline" : "Deadline, if no one answers the question";
  return [line(span(`${name}: `), moment(deadline), span(", "), ago(deadline), span(then))];
}

function stageLines(approval: Approval): readonly RichTextSection[] {
  return reachedStages(approval).flatMap((reached) => {
    const { decide, denyOnly, others } = rightsOfCalled(reached, approval.appliedRule.rule);
    return [
      ...stageLine("⏫ Escalated to ", decide, ", who can decide too, ", reached.at),
      ...stageLine("⏫ Escalated to ", denyOnly, ", who can deny it, ", reached.at),
      ...stageLine("📣 Called ", others, " ", reached.at),
    ];
  });
}

/** Returns no line if the stage names no one. */
function stageLine(title: string, who: ListedPeople, may: string, at: number): readonly RichTextSection[] {
  if (isNobody(who)) return [];
  const [first = [], ...others] = listsOf(who).map(namesOf);
  const names =
    others.length === 0
      ? first
      : [
          span("people who are in every one of these lists: ("),
          ...[first, ...others].flatMap((list, nth) => (nth === 0 ? list : [span(") and ("), ...list])),
          span(")"),
        ];
  return [line(span(title, { bold: true }), ...names, span(may), moment(at))];
}

function namesOf({ users, groups, channels }: NamedPeople): readonly RichTextElement[] {
  const names: readonly RichTextElement[] = [
    ...groups.map((usergroup_id): RichTextElement => ({ type: "usergroup", usergroup_id })),
    ...channels.map((channel_id): RichTextElement => ({ type: "channel", channel_id })),
    ...users.map(person),
  ];
  const more = names.length - MAX_NAMES;
  return [
    ...names.slice(0, MAX_NAMES).flatMap((name, nth) => (nth === 0 ? [name] : [span(" "), name])),
    ...(more > 0 ? [span(` and ${more} more`)] : []),
  ];
}

const CAUSES: { readonly [why in Exclude<Pause["why"], "question">]: { is: string; was: string } } = {
  slack: { is: "Slack can't be reached", was: "Slack could not be reached" },
  service: { is: "the agent service can't be reached", was: "the agent service could not be reached" },
  stopped: { is: "Countersign is unavailable", was: "Countersign was unavailable" },
};

/** One line for each cause. A pause for a question is shown with the question instead. */
function pauseLines(approval: Approval): readonly RichTextSection[] {
  const pauses = approval.followUp?.pauses ?? [];
  if (pauses.length === 0 || !hasClock(approval)) return [];
  return (["service", "slack", "stopped"] as const).flatMap((why) => {
    const sameCause = pauses.filter((pause) => pause.why === why);
    if (sameCause.length === 0) return [];
    if (sameCause.some(({ until }) => until === null))
      return [line(span(`⏸ Its clock is paused while ${CAUSES[why].is}.`))];
    const total = sameCause.reduce((sum, { from, until }) => sum + (until ?? from) - from, 0);
    return [line(span(`⏸ Its clock was paused for ${duration(total)}: ${CAUSES[why].was}.`))];
  });
}

// The parts of a rule that have not approved yet.

const PARTS_CHARS = 300;

/** For example "operations and security". */
export function partsInWords(parts: readonly Part[]): string {
  const names = parts.map(partName);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

/** The card's line about the parts that are missing. */
export function missingLine(
  approval: Pick<Approval, "votes">,
  rule: Pick<KeptRule, "parts" | "needs">,
): readonly RichTextSection[] {
  const missing = missingParts(approval, rule);
  if (missing.length === 0) return [];
  const approvals = missing.length === 1 ? "an approval" : "one approval each";
  const parts = span(oneLine(partsInWords(missing), PARTS_CHARS), { bold: true });
  return [line(span(`Still missing: ${approvals} from `), parts, span("."))];
}

/** The missing parts in words. Empty if no part is missing or the rule has none. */
export function missingInWords(
  approval: Pick<Approval, "votes">,
  rule: Pick<KeptRule, "parts" | "needs">,
): string {
  return partsInWords(missingParts(approval, rule));
}
