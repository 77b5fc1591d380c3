// What stands behind Details besides the request: every decision with its whole reason, and what an auditor looks for.

import type { Block } from "@slack/types";
import { ruleRefOf } from "../../../domain/applied-rule.ts";
import { earlierVotes } from "../../../domain/approval-transitions.ts";
import type { Approval, Decision } from "../../../domain/approval.ts";
import { headWords } from "../../../domain/audit/hash-chain.ts";
import { type Run, runId } from "../../../domain/run.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { cardState } from "./card-state.ts";
import { type Deployment, runNote } from "./deployment.ts";
import { pastLine, who } from "./past-decisions.ts";
import { shortDigest } from "./request-blocks.ts";
import { line, moment, quote, rich, span, untrustedSpan } from "./rich.ts";

/** Slack lets people type as many characters into the form. */
const REASON_CHARS = 3_000;

/** What became of the approval; empty while nobody has decided anything. */
export function historyBlocks(run: Run, approval: Approval): Block[] {
  const { title, decision, text } = cardState(run, approval);
  const votes = decision === null ? approval.votes : [...earlierVotes(decision), decision];
  const past = approval.past.map((each) => pastLine(approval, each));
  const more = text === "" ? [] : [span(` ${text}`)];
  const ends = approval.state.type === "pending" ? [] : [line(span(`${title}.`, { bold: true }), ...more)];
  const lines = [...ends, ...votes.flatMap(decisionLines), ...past];
  return lines.length === 0 ? [] : [rich(...lines)];
}

function decisionLines(decision: Decision) {
  const { verdict, at, reason } = decision;
  const said = reason === "" ? "and gave no reason." : "and said:";
  const head = line(
    who(decision),
    span(verdict === "approve" ? " approved it " : " denied it "),
    moment(at),
    span(` ${said}`),
  );
  return reason === "" ? [head] : [head, quote(untrustedSpan(reason, REASON_CHARS))];
}

/** The card shows the same request under the same number. */
export function auditNote(
  run: Run,
  { request, version, appliedRule, state, audited }: Approval,
  deployment: Deployment,
): Block {
  const rule =
    (state.type === "decided" ? state.decision.policy : ruleRefOf(appliedRule, appliedRule.rule)) ?? null;
  const parts = [
    `Audit record: request ${shortDigest(request)}`,
    `version ${version}`,
    ...(rule === null ? [] : [`rule ${oneLine(rule.rule, 80)}`, `policy ${rule.version}`]),
    ...(audited === undefined ? [] : [headWords(audited)]),
  ];
  return runNote(runId(run) ?? "", deployment, parts.join(" · "));
}
