// A message with several receipts: Slack takes it whatever the texts are, and its title is true of any of them.

import { expect, test } from "vitest";
import { named } from "#src/adapters/slack/blocks/deployment.ts";
import { severalReceipts } from "#src/adapters/slack/blocks/receipts.ts";
import { RunId } from "#src/domain/ids.ts";
import { RECEIPTS_AT_ONCE } from "#src/ports/notification.ts";
import { anAuditEntry, aNonce, APPROVER, aWatchedRun, CHANNEL, TEAM } from "../../../make/run.ts";
import { DEPLOYMENT } from "./page/example.ts";
import { expectMessage } from "./oracle.ts";

const CARD_LINK = "https://acme.slack.com/archives/C0OPS/p1795176000000100";

/** As many receipts as share a message, each with an id of a run, an action and a reason of this text. */
function receiptsOf(text: string) {
  return Array.from({ length: RECEIPTS_AT_ONCE }, (_, at) => {
    const by = { team: TEAM, user: APPROVER };
    const facts = { runId: RunId(text.slice(0, 500)), by, reason: text };
    const undone = { ...facts, what: "settled", outcome: "void: undone", verdict: "approve" } as const;
    const entry = { seq: 1_000_000 + at, link: "0".repeat(64), entry: anAuditEntry(aWatchedRun(), undone) };
    return {
      receipt: { id: aNonce() },
      facts: { entry, about: null, action: text, channel: CHANNEL, card: null },
      link: CARD_LINK,
    };
  });
}

test.for(["<", "&", "\u200B", "a"])("of %j alone fits in Slack", (char) => {
  const receipts = receiptsOf(char.repeat(3_000));
  expectMessage(named(severalReceipts(receipts), DEPLOYMENT), [CARD_LINK]);
  const reported = receipts.map((each) => ({ ...each, reportedAt: 1_795_176_000_000 }));
  expectMessage(named(severalReceipts(reported), DEPLOYMENT), [CARD_LINK]);
});

test("does not say that its decisions are the newest, because later ones may wait for the next message", () => {
  expect(severalReceipts(receiptsOf("go")).text).toBe("20 of your decisions are recorded");
});
