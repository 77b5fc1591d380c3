// The words of a finding about a decision or a stage that the audit does not confirm.

import { expect, test } from "vitest";
import { ApprovalId } from "#src/domain/ids.ts";
import { NO_ONE } from "#src/domain/policy/named-people.ts";
import { runId } from "#src/domain/run.ts";
import { findDisproof } from "#src/engine/prove-decision.ts";
import { decidedRun } from "../make/history.ts";

const ID = ApprovalId(`apr\u001B[2J\n${"x".repeat(400)}`);

test.each<[string, number]>([
  ["a decision", 9],
  ["a stage", 1],
])("the words about %s have the id of the approval on one line, shortened", async (what, entry) => {
  const run = decidedRun();
  const [approval] = run.approvals;
  if (approval?.state.type !== "decided") throw new Error("not decided");
  const decision = { ...approval.state.decision, entry };
  const stages = [{ afterMs: 1, at: 1, age: 1, called: NO_ONE, entry: 9 }];
  const forged = { ...approval, id: ID, state: { ...approval.state, decision }, followUp: { stages } };
  const decided = { what: "decided", run: run.key, runId: runId(run), approval: ID, ...decision };
  const audit = {
    provenEntry: (seq: number) =>
      Promise.resolve(
        seq === 1
          ? { ok: true, kept: { entry: decided, link: "" } }
          : { ok: false, finding: { words: "changed" } },
      ),
    settledAfter: () => Promise.resolve({ entries: [], damage: [] }),
  };
  const finding = await findDisproof(audit as never, run, forged, () => undefined);
  expect(finding?.words).toContain(what === "a stage" ? "a stored escalation" : "a stored decision");
  expect(finding?.words).toContain("approval apr⟨U+001B⟩[2J xxx");
  expect(finding?.words).not.toMatch(/\p{Cc}|x{200}/u);
});
