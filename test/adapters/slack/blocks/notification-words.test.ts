// What notifications tell people to do.

import { describe, expect, test } from "vitest";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import { privateNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import { receipt, severalReceipts } from "#src/adapters/slack/blocks/receipts.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";
import { refusalWords } from "#src/adapters/slack/blocks/refusal-words.ts";
import type { AuditEntry } from "#src/audit/entry.ts";
import type { Notification, NotificationFacts } from "#src/ports/notification.ts";
import { ADMIN } from "../../../make/bot.ts";
import { anAuditEntry, aNonce, APPROVER, aWatchedRun, NOON, TEAM, withApprovals } from "../../../make/run.ts";
import { textOf } from "./oracle.ts";
import { PENDING } from "./page/example.ts";

const kept = (facts: Partial<AuditEntry>) => ({
  seq: 7,
  link: "0".repeat(64),
  entry: anAuditEntry(aWatchedRun(), facts),
});

function drawnWith(
  kind: Notification["kind"],
  facts: Partial<AuditEntry>,
  more: Partial<NotificationFacts> = {},
): Message["blocks"] {
  const post = { type: "planned", notBefore: 0, tries: 0, why: "" } as const;
  const notification = { id: aNonce(), kind, entry: 7, to: ADMIN, madeAt: NOON, post };
  const about = { about: null, action: null, channel: null, card: null, ...more };
  return notificationMessage(notification, { entry: kept(facts), ...about }).blocks;
}

const textWith = (...drawn: Parameters<typeof drawnWith>): string => textOf(drawnWith(...drawn));

describe("the alarm about a disputed decision", () => {
  const by = { team: TEAM, user: APPROVER };
  const alarm = (verdict: "approve" | "deny", reach: "never" | "maybe"): string =>
    textWith("dispute", { what: "disputed" }, { about: kept({ what: "decided", verdict, by }), reach });

  test("of an approval says to stop what followed, and to deny the request if that is possible", () => {
    expect(alarm("approve", "maybe")).toContain("At the service, stop whatever followed from it");
    expect(alarm("approve", "maybe")).toContain("deny it there");
  });

  test("of a denial says to find out whether the request should have been approved, and never to deny it", () => {
    expect(alarm("deny", "maybe")).toContain("Ask this person whether the request should have been approved");
    for (const reach of ["never", "maybe"] as const) {
      expect(alarm("deny", reach)).not.toMatch(/deny it|stop whatever/);
      expect(alarm("deny", reach)).toContain("End this person's Slack sessions. Then close the dispute");
    }
  });

  test("names the person who disputes", () => {
    const about = kept({ what: "decided", by: { team: TEAM, user: ADMIN } });
    const drawn = JSON.stringify(drawnWith("dispute", { what: "disputed", by }, { about }));
    expect(drawn).toContain(APPROVER);
    expect(drawn).not.toContain(ADMIN);
  });
});

test("the message about an expired request says what comes before a new start, also for a reader who only watches the run", () => {
  const text = textWith("expired", { what: "closed", outcome: "expired", by: null });
  expect(text).toContain(
    "nothing more is sent. The service may still be waiting: have it decided there before anyone starts the task again.",
  );
  expect(text).not.toContain("new run");
});

test("no receipt and no refusal promises that admins are alerted, because ADMINS and AUDIT_CHANNEL may be unset", () => {
  const facts = {
    entry: kept({ what: "decided", verdict: "approve" }),
    about: null,
    action: null,
    channel: null,
    card: null,
  };
  const said = [
    receipt(aNonce(), facts, {}),
    severalReceipts([{ receipt: { id: aNonce() }, facts, link: null }]),
    refusalWords({ type: "form-changed" }),
  ].map((words) => JSON.stringify(words));
  for (const words of said) expect(words).not.toMatch(/admins/i);
  for (const words of said.slice(0, 2)) expect(words).toMatch(/press the button( under it)? to report it/i);
});

test("the notice that too few people can approve a request names the request, since its reader may not be in the channel", () => {
  const run = withApprovals(aWatchedRun(), PENDING);
  for (const able of [0, 1]) {
    const says = { type: "nobody-can-approve", approval: PENDING.id, able, needs: 2, grows: false } as const;
    const { text, blocks } = privateNotice(says, run);
    expect(text).toMatch(/^.{1,26}: Deploy billing-api 2026.11.3 to production$/u);
    expect(textOf(blocks)).toContain("Deploy billing-api 2026.11.3 to production");
  }
});
