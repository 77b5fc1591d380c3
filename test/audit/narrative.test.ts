// What an evidence file and `npm run audit -- show` say about a decision after it was made: whose it is, and what became of it.

import { expect, test } from "vitest";
import type { AuditEntry } from "#src/audit/entry.ts";
import { entryStory } from "#src/audit/narrative.ts";
import { UserId } from "#src/domain/ids.ts";
import { anAuditEntry, aRun } from "../make/run.ts";

const BEN = UserId("U0BEN");

/** Returns the part of the story that says who did what. */
function told(facts: Partial<AuditEntry>): string {
  const run = aRun();
  const entry = anAuditEntry(run, { by: { team: run.team, user: BEN }, verdict: "approve", ...facts });
  return entryStory({ seq: 1, link: "0".repeat(64), entry }).split(" · ")[3] ?? "";
}

test("a decision that is about to be sent is its person's, and they do not decide again", () => {
  expect(told({ what: "sent", outcome: "sending" })).toBe("T0ACME:U0BEN's decision is about to be sent");
  expect(told({ what: "sent", outcome: "sending", by: null })).toBe(
    "Countersign's decision is about to be sent",
  );
});

test.each([
  ["unsure", "'s decision was sent; the answer was lost or unclear"],
  ["confirmed", "'s decision was sent, and the service confirmed it"],
  ["refused", "'s decision was sent, and the service refused it"],
  ["elsewhere", "'s decision did not take effect: at the service, the request had been decided or had ended"],
  ["unconfirmed", "'s decision was sent, but the service did not confirm it"],
  ["void: undone", "'s decision no longer counts: a person took it back"],
  ["void: refused", "'s decision no longer counts: the service refused it"],
  ["void: of a newer kind", "'s decision has the result: void: of a newer kind"],
  ["waits: others must approve", "'s approval still counts, and others must approve"],
  ["of a newer kind", "'s decision has the result: of a newer kind"],
  ["constructor", "'s decision has the result: constructor"],
])("the result %s is told of the person's decision", (outcome, words) => {
  expect(told({ what: "settled", outcome })).toBe(`T0ACME:U0BEN${words}`);
});
