// What a card says of the rule it stands under while it waits: who is called, how far it is, until when, and whether it can be.

import type { Block, RichTextElement } from "@slack/types";
import type { Approval, Decision } from "../../../domain/approval.ts";
import { tooFewApprovers, type TooFewApprovers } from "../../../domain/approver-count.ts";
import type { UserId } from "../../../domain/ids.ts";
import type { KeptRule } from "../../../domain/policy/policy.ts";
import type { Run } from "../../../domain/run.ts";
import { deadlineOf } from "../../../domain/schedule.ts";
import { count, line, moment, person, quote, rich, span, untrustedSpan } from "./rich.ts";

/** So many people and groups are called; Slack draws long lists badly. */
const CALLED_AT_MOST = 20;
const REASON_OF_VOTE_CHARS = 1_000;

export function ruleBlocks({ requester }: Run, approval: Approval): Block[] {
  if (approval.state.type !== "pending") return [];
  const { rule } = approval.appliedRule;
  const few = tooFewApprovers(approval);
  const warning =
    few === null
      ? []
      : [line(span(`⚠️ ${tooFewApproversTitle(few)}. `, { bold: true }), span(tooFewApproversWords(few)))];
  const lines = [...warning, ...calledLine(rule, requester), ...needsLine(approval), ...untilLine(approval)];
  const votes = approval.votes.flatMap(voteLines);
  return lines.length + votes.length === 0 ? [] : [rich(...lines, ...votes)];
}

/** A mention calls people when the card is posted, and not again when it is drawn anew. */
function calledLine({ mention, selfApproval }: KeptRule, requester: UserId) {
  const users = mention.users.filter((user) => selfApproval || user !== requester);
  const called: RichTextElement[] = [
    ...mention.groups.map((usergroup_id): RichTextElement => ({ type: "usergroup", usergroup_id })),
    ...users.map(person),
  ];
  if (called.length === 0) return [];
  const shown = called.slice(0, CALLED_AT_MOST).flatMap((each) => [each, span(" ")]);
  const more = called.length - CALLED_AT_MOST;
  return [line(span("For "), ...shown, ...(more > 0 ? [span(`and ${count(more)} more`)] : []))];
}

function needsLine({ appliedRule, votes }: Approval) {
  const { needs } = appliedRule.rule;
  if (needs === 1) return [];
  const so = votes.length === 0 ? "" : ` ${count(votes.length)} of ${count(needs)} so far.`;
  return [line(span(`${count(needs)} different people must approve it; one denial ends it.${so}`))];
}

function untilLine(approval: Approval) {
  const deadline = deadlineOf(approval);
  if (deadline === null) return [];
  const then =
    approval.appliedRule.rule.expiry?.outcome === "deny" ? " Then it is denied." : " Then it closes.";
  return [line(span("It can be decided until "), moment(deadline), span(`.${then}`))];
}

/** One person's approval among several. */
export function voteLines({ by, at, reason }: Decision) {
  const who = by === null ? span("The policy") : person(by.user);
  const head = line(
    span("☑️ "),
    who,
    span(" approved "),
    moment(at),
    span(reason === "" ? " and gave no reason." : ":"),
  );
  return reason === "" ? [head] : [head, quote(untrustedSpan(reason, REASON_OF_VOTE_CHARS))];
}

// «Nobody can approve this», said on the card, to the requester and in the fallback channel alike.

export function tooFewApproversTitle({ able, needs }: TooFewApprovers): string {
  if (able === 0) return "Nobody can approve this";
  return `Only ${count(able)} ${able === 1 ? "person" : "people"} can approve this, and ${count(needs)} must`;
}

export function tooFewApproversWords({ grows }: TooFewApprovers): string {
  if (grows)
    return "Of the people in this channel too few may: the requester, guests, people of other workspaces and apps do not count. Invite somebody who may.";
  return "The rule's approvers are the requester, guests or people of other workspaces, can't see this channel, or are not there. Add somebody to the group or channel that the rule names, or change the policy. Until then it waits.";
}
