// What the linter doubts about reminders and stages: those that never happen, or change nothing.

import { expect, test } from "vitest";
import { doubtsAbout } from "../../make/policy.ts";

async function doubts(rule: string): Promise<readonly string[]> {
  const found = await doubtsAbout(`rules:\n  - name: a\n    approvers: { users: [U0BEN] }\n${rule}`);
  return found.map(({ where }) => where);
}

test("a stage after the expiry, unless an extension can reach it", async () => {
  const stage = "    escalate: [{ after: 2 h, to: { groups: [S0ONCALL] } }]\n";
  expect(await doubts(`${stage}    expiry: { after: 1 h }\n`)).toEqual(["rules[0].escalate[0]"]);
  expect(await doubts(`${stage}    expiry: { after: 1 h, extend: { by: 1 h, at-most: 3 h } }\n`)).toEqual([]);
  expect(await doubts(stage)).toEqual([]);
});

test("a stage that adds only people who may already decide", async () => {
  const again = "{ after: 1 h, to: { users: [U0BEN] } }";
  expect(await doubts(`    escalate: [${again}]\n`)).toEqual(["rules[0].escalate[0].to"]);
  const twice = "{ after: 1 h, to: { groups: [S0A] } }, { after: 2 h, to: { groups: [S0A] } }";
  expect(await doubts(`    escalate: [${twice}]\n`)).toEqual(["rules[0].escalate[1].to"]);
});

test("a stage whose people are in no part of the rule, unless further approvals are required", async () => {
  const parts = "approvers: { all-of: [{ groups: [S0A] }, { users: [U0BEN, U0CAT] }] }";
  const found = async (rule: string) =>
    (await doubtsAbout(`rules:\n  - { name: a, ${parts}, ${rule} }\n`)).map(({ where, says }) => [
      where,
      /S0ONCALL only deny/.test(says),
    ]);
  const stage = "escalate: [{ after: 1 h, to: { groups: [S0ONCALL], users: [U0CAT] } }]";
  expect(await found(stage)).toEqual([["rules[0].escalate[0].to", true]]);
  expect(await found(stage.replace("}]", "}], quorum: 3"))).toEqual([]);
  expect(await found("escalate: [{ after: 1 h, call: { groups: [S0ONCALL] } }]")).toEqual([]);
});

test("reminders after the expiry, and a last one at its beginning", async () => {
  expect(await doubts("    remind: { after: 2 h }\n    expiry: { after: 1 h }\n")).toEqual([
    "rules[0].remind",
  ]);
  expect(await doubts("    expiry: { after: 1 h, warn: 1 h }\n")).toEqual(["rules[0].expiry.warn"]);
});
