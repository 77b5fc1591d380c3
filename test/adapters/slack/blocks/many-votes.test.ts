// A card with the approvals of many people: Slack takes it whatever they and the service wrote, and it says where the rest is.

import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { lookUpKeyOf } from "#src/domain/applied-rule.ts";
import type { Approval } from "#src/domain/approval.ts";
import { UserId } from "#src/domain/ids.ts";
import { BUILT_IN_RULE, keptRule } from "#src/domain/policy/policy.ts";
import { requestOf } from "../observed.ts";
import { expectMessage, objectsIn, textOf, wire } from "./oracle.ts";
import { BEN, CLEO, CREATED, decisionOf, PENDING } from "./page/example.ts";

/** Ben and Cleo in turn, because the oracle knows them. Who voted makes no difference to the length. */
const VOTERS = [BEN, CLEO].map((user) => UserId(user));

/** The card of a request that twenty people must approve, after these approvals. */
function withVotes(reasons: readonly string[], facts: Partial<Approval> = {}): Approval {
  const votes = reasons.map((reason, at) => decisionOf("approve", reason, VOTERS[at % 2]));
  const rule = { ...keptRule(BUILT_IN_RULE), needs: 20 };
  return { ...PENDING, ...facts, votes, appliedRule: { version: "0123456789ab", rule } };
}

/** As much as a card can say besides the votes. */
function fullCard(text: string, votes: readonly string[]): Approval {
  const facts = {
    version: 2,
    requestVersion: 2,
    request: requestOf(text.slice(0, 600), {}),
    changes: Array.from({ length: 5 }, () => ({ name: "n", was: "w".repeat(180), is: "i".repeat(180) })),
    past: Array.from(
      { length: 3 },
      () => ({ decision: decisionOf("deny", ""), cause: "refused", words: text }) as const,
    ),
    disputes: Array.from({ length: 3 }, () => {
      return { entry: 1, by: BEN, at: 0, closed: { by: BEN, at: 0, words: text } };
    }),
  };
  const approval = withVotes(votes, facts);
  const denied = { times: 3, more: false, entry: 1, by: BEN, at: 0, reason: text };
  return { ...approval, precedents: { of: lookUpKeyOf(approval), denied, approved: null } };
}

const drawn = (approval: Approval): string => textOf(approvalCard(CREATED, approval).blocks);

describe("a card with nineteen approvals", () => {
  test.each(["x", "&", "<", "\u200B"])("whose reasons are of %j alone fits in Slack", (char) => {
    const text = char.repeat(3_000);
    const votes = Array.from({ length: 19 }, () => text);
    expectMessage(approvalCard(CREATED, withVotes(votes)));
    expectMessage(approvalCard(CREATED, fullCard(text, votes)));
  });

  test("shows every person, how much of each reason is cut, and where the rest is", () => {
    const approval = withVotes(Array.from({ length: 19 }, () => "r".repeat(1_000)));
    const shown = drawn(approval);
    expect(shown.match(/☑️/g)).toHaveLength(19);
    const cut = [...shown.matchAll(/(r+)… \((\d+) more characters\)/g)];
    expect(cut.map(([, kept, hidden]) => (kept ?? "").length + Number(hidden))).toEqual(
      Array.from({ length: 19 }, () => 1_000),
    );
    expect(shown).toContain('Some reasons are shortened here. "Details" shows more.');
    const labels = objectsIn(wire(approvalCard(CREATED, approval).blocks)).map(({ text }) => text);
    expect(labels).toContainEqual({ type: "plain_text", text: "Details", emoji: false });
  });

  test("shows short reasons in full", () => {
    const shown = drawn(withVotes(Array.from({ length: 19 }, (_, at) => `${at} is ${"r".repeat(300)}`)));
    for (let at = 0; at < 19; at += 1) expect(shown).toContain(`${at} is ${"r".repeat(300)}`);
    expect(shown).not.toContain("are shortened here");
  });
});
