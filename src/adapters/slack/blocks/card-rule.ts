// The part of a pending card that explains its rule: whom it mentions, how many approvals it has and needs, its deadline, and
// whether enough people can approve it.

import type { Block, RichTextElement } from "@slack/types";
import type { Approval, Decision } from "../../../domain/approval.ts";
import { tooFewApprovers, type TooFewApprovers } from "../../../domain/applied-rule.ts";
import type { GroupId, UserId } from "../../../domain/ids.ts";
import type { KeptRule } from "../../../domain/policy/policy.ts";
import type { Run } from "../../../domain/run.ts";
import { deadlineOf } from "../../../domain/schedule.ts";
import { partWithId } from "./message-id.ts";
import { count, line, moment, person, quote, rich, span, untrustedSpan } from "./rich.ts";

/** Most people and groups that a card mentions; Slack draws long lists badly. */
const MENTIONS_MOST = 20;
const REASON_OF_VOTE_CHARS = 1_000;

export function ruleBlocks({ requester }: Run, approval: Approval): Block[] {
  if (approval.state.type !== "pending") return [];
  const { rule } = approval.appliedRule;
  const few = tooFewApprovers(approval);
  const warning =
    few === null
      ? []
      : [line(span(`⚠️ ${tooFewApproversTitle(few)}. `, { bold: true }), span(tooFewApproversWords(few)))];
  const lines = [
    ...warning,
    ...mentionLine(rule.mention.groups, mentionedUsers(rule, requester)),
    ...needsLine(approval),
    ...untilLine(approval),
  ];
  const votes = approval.votes.flatMap(voteLines);
  if (lines.length + votes.length === 0) return [];
  const progress = `${approval.votes.length}-of-${rule.needs}` as const;
  return [partWithId(`rule:${progress}${few === null ? "" : ":too-few"}`, rich(...lines, ...votes))];
}

/** The requester is not called where they may not decide. */
export function mentionedUsers({ mention, selfApproval }: KeptRule, requester: UserId): UserId[] {
  return mention.users.filter((user) => selfApproval || user !== requester);
}

/** Slack notifies the mentioned people when the card is posted, and not when it is updated. */
export function mentionLine(groups: readonly GroupId[], users: readonly UserId[]) {
  const mentioned: RichTextElement[] = [
    ...groups.map((usergroup_id): RichTextElement => ({ type: "usergroup", usergroup_id })),
    ...users.map(person),
  ];
  if (mentioned.length === 0) return [];
  const shown = mentioned.slice(0, MENTIONS_MOST).flatMap((each) => [each, span(" ")]);
  const more = mentioned.length - MENTIONS_MOST;
  return [line(span("For "), ...shown, ...(more > 0 ? [span(`and ${count(more)} more`)] : []))];
}

function needsLine({ appliedRule, votes }: Approval) {
  const { needs } = appliedRule.rule;
  if (needs === 1) return [];
  const progress = votes.length === 0 ? "" : ` ${count(votes.length)} so far.`;
  return [
    line(span(`Needs ${count(needs)} approvals, from different people; one denial ends it.${progress}`)),
  ];
}

function untilLine(approval: Approval) {
  const deadline = deadlineOf(approval);
  if (deadline === null) return [];
  const then =
    approval.appliedRule.rule.expiry?.outcome === "deny"
      ? " After that it is denied."
      : " After that it closes.";
  return [line(span("Deadline: "), moment(deadline), span(`.${then}`))];
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

// "No one can approve this": the same words on the card, to the requester and in the fallback channel.

export function tooFewApproversTitle({ able, needs }: TooFewApprovers): string {
  if (able === 0) return "No one can approve this";
  return `Only ${count(able)} ${able === 1 ? "person" : "people"} can approve this, and ${count(needs)} must`;
}

export function tooFewApproversWords({ grows }: TooFewApprovers): string {
  if (grows)
    return "The requester, guests, apps and people from other workspaces can't approve it. Invite full members to this channel.";
  return "The rule names too few people who can approve it. The requester, guests, people from other workspaces and people outside this channel can't. Add someone to the group or channel that the rule names, or change the policy. Until then it waits.";
}
