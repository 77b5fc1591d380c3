// What a card says of the rule it stands under while it waits: who is called, how far it is, until when, and whether it can be.

import type { Block, RichTextElement } from "@slack/types";
import type { Approval, Decision } from "../../core/approval.ts";
import { tooFew } from "../../core/audience.ts";
import type { UserId } from "../../core/ids.ts";
import type { Rule } from "../../core/policy.ts";
import type { Run } from "../../core/run.ts";
import { deadlineOf } from "../../core/schedule.ts";
import { count, line, moment, person, quote, rich, said, words } from "./rich.ts";
import { tooFewTitle, tooFewWords } from "./too-few.ts";

/** So many people and groups are called; Slack draws long lists badly. */
const CALLED_AT_MOST = 20;
const REASON_OF_VOTE_CHARS = 1_000;

export function ruleBlocks({ requester }: Run, approval: Approval): Block[] {
  if (approval.state.is !== "pending") return [];
  const { rule } = approval.ruling;
  const few = tooFew(approval);
  const warning =
    few === null ? [] : [line(words(`⚠️ ${tooFewTitle(few)}. `, { bold: true }), words(tooFewWords(few)))];
  const lines = [...warning, ...calledLine(rule, requester), ...needsLine(approval), ...untilLine(approval)];
  const votes = approval.votes.flatMap(voteLines);
  return lines.length + votes.length === 0 ? [] : [rich(...lines, ...votes)];
}

/** A mention calls people when the card is posted, and not again when it is drawn anew. */
function calledLine({ mention, selfApproval }: Rule, requester: UserId) {
  const users = mention.users.filter((user) => selfApproval || user !== requester);
  const called: RichTextElement[] = [
    ...mention.groups.map((usergroup_id): RichTextElement => ({ type: "usergroup", usergroup_id })),
    ...users.map(person),
  ];
  if (called.length === 0) return [];
  const shown = called.slice(0, CALLED_AT_MOST).flatMap((each) => [each, words(" ")]);
  const more = called.length - CALLED_AT_MOST;
  return [line(words("For "), ...shown, ...(more > 0 ? [words(`and ${count(more)} more`)] : []))];
}

function needsLine({ ruling, votes }: Approval) {
  const { needs } = ruling.rule;
  if (needs === 1) return [];
  const so = votes.length === 0 ? "" : ` ${count(votes.length)} of ${count(needs)} so far.`;
  return [line(words(`${count(needs)} different people must approve it; one denial ends it.${so}`))];
}

function untilLine(approval: Approval) {
  const deadline = deadlineOf(approval);
  if (deadline === null) return [];
  const then = approval.ruling.rule.expiry?.outcome === "deny" ? " Then it is denied." : " Then it closes.";
  return [line(words("It can be decided until "), moment(deadline), words(`.${then}`))];
}

/** One person's approval among several. */
export function voteLines({ by, at, reason }: Decision) {
  const who = by === null ? words("The policy") : person(by.user);
  const head = line(
    words("☑️ "),
    who,
    words(" approved "),
    moment(at),
    words(reason === "" ? " and gave no reason." : ":"),
  );
  return reason === "" ? [head] : [head, quote(said(reason, REASON_OF_VOTE_CHARS))];
}
