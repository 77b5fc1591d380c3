// What cards, answers and letters say is what is known, and no more.

import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { healthReport } from "#src/adapters/slack/blocks/command-answers.ts";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { newApproval, reopen } from "#src/domain/approval-transitions.ts";
import type { Approval, Delivery, Request } from "#src/domain/approval.ts";
import { ApprovalId } from "#src/domain/ids.ts";
import { type Run, UNREADABLE } from "#src/domain/run.ts";
import { allUnreadable, type Unreadable } from "#src/domain/snapshot.ts";
import { ADMIN } from "../../../make/bot.ts";
import { anApproval, anAuditEntry, aNonce, APPROVER, aWatchedRun, NOON, TEAM } from "../../../make/run.ts";
import { requestOf } from "../observed.ts";
import { textOf } from "./oracle.ts";

const run = aWatchedRun();

function decided(delivery: Delivery, of = run): string {
  const approval = anApproval();
  const { digest } = approval.request;
  const by = { team: TEAM, user: APPROVER };
  const decision = { verdict: "approve", reason: "Checked", by, at: NOON, digest } as const;
  return textOf(approvalCard(of, { ...approval, state: { type: "decided", decision, delivery } }).blocks);
}

describe("a decision", () => {
  const unsure = { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "" } as const;
  const again = {
    type: "retry",
    notBefore: NOON,
    tries: 1,
    lost: false,
    why: "The service timed out.",
  } as const;

  test("that was answered with an error is not called unanswered", () => {
    expect(decided(unsure)).toContain("the answer was lost");
    for (const delivery of [
      { ...unsure, failedWith: 503 },
      { ...again, lost: true, failedWith: 503 },
      { type: "sending", at: NOON, tries: 2, lost: true, failedWith: 503 } as const,
      { type: "unconfirmed", at: NOON, cause: "run-missing", failedWith: 503 } as const,
    ]) {
      expect(decided(delivery)).toContain("answered with an error (HTTP 503)");
      expect(decided(delivery)).not.toMatch(/answer was lost/);
    }
  });

  test("that was never sent is not tried again", () => {
    expect(decided(again)).toContain("is being sent again");
    const shown = decided({ ...again, notSent: true });
    expect(shown).toContain("Approval recorded, waiting");
    expect(shown).toContain("not sent yet");
    expect(shown).not.toMatch(/again|, sending/);
  });

  test("that was sent before, and waits until it is listed, is not called unsent", () => {
    const away: Run = { ...run, watch: { type: "missing", since: NOON, absence: null } };
    for (const delivery of [again, { ...again, lost: true }]) {
      const shown = decided(delivery, away);
      expect(shown).toContain("does not know the run");
      expect(shown).not.toMatch(/not sent|never sent/);
    }
  });

  test("that somebody else made is told once, without a second speaker", () => {
    const words = "The agent service says of this approval: deny.";
    const shown = decided({ type: "elsewhere", at: NOON, words });
    expect(shown).toContain("The service says: deny.");
    expect(shown).not.toContain("agent service");
  });
});

test("of a request that is cut, the sum of what is missing is told as the sum", () => {
  const request = requestOf("deploy", {
    action: "deploy",
    log: "y ".repeat(30_000),
    diff: "x ".repeat(5_000),
  });
  const shown = textOf(approvalCard(run, { ...anApproval(), request }).blocks);
  const [sum] = /In all, ([\d,]+) characters/.exec(shown)?.slice(1) ?? [];
  const parts = [...shown.matchAll(/([\d,]+) characters (?:more|between)/g)].map(([, many]) => number(many));
  expect(parts.length).toBeGreaterThan(1);
  expect(number(sum)).toBe(parts.reduce((all, each) => all + each, 0));
  expect(shown).not.toMatch(/more characters/);
});

const number = (text = ""): number => Number(text.replaceAll(",", ""));

describe("a request that changed", () => {
  const at = { now: NOON, monotonic: NOON };
  const before: Request = { ...requestOf("deploy", { action: "deploy" }), context: "1" };
  const card = (request: Request): string => {
    const first = newApproval(ApprovalId("apr_1"), before, aNonce(), at);
    const changed: Approval = reopen(first, request, aNonce(), null);
    return textOf(approvalCard(run, changed).blocks);
  };

  test("in nothing but the run's own fields says where the change is", () => {
    const shown = card({ ...before, context: "2", digest: "another" });
    expect(shown).toContain("Approval needed (changed)");
    expect(shown).toContain("Details shows it");
  });

  test("in itself shows it", () => {
    const other = requestOf("destroy", { action: "destroy" });
    expect(card({ ...other, context: "2" })).not.toContain("behind Details");
  });
});

describe("what cannot be read", () => {
  const why = { code: "garbled", why: "it is not JSON" };
  const shown = (unreadable: Unreadable | null): string => {
    const up = { type: "up", ts: "1.1", shows: "", sweepAt: null } as unknown as Run["posts"][string];
    return textOf(messageIn({ ...run, unreadable, posts: { [UNREADABLE]: up } }, UNREADABLE).blocks);
  };
  const item = { ids: [], ...why, source: "{", hidden: 0 };

  test("is told of in the plural where there are several", () => {
    const items = { since: NOON, what: "items", items: [item, item, item] } as const;
    expect(shown({ ...items, count: 3 })).toContain("They can't be decided here. Decide them");
    expect(shown({ ...items, count: 1 })).toContain("It can't be decided here. Decide it");
  });

  test("is no approval where only the answers cannot be used", () => {
    const all = shown(allUnreadable(null, "answer", why, NOON));
    expect(all).not.toContain("this run's approvals");
    expect(shown(null)).not.toMatch(/approval/i);
  });
});

describe("the health report", () => {
  const part = { ok: true, latencyMs: 1, fault: null, says: {} };
  const well = {
    service: part,
    gateway: part,
    poller: { watched: 1, inFlight: 0, service: { type: "answers" as const } },
    unreadable: { runs: 0, approvals: 0, unanswered: 0 },
    store: { ok: true, latencyMs: 1, fault: null as string | null },
    audit: { open: [], code: null, acknowledged: 0 },
  };
  const says = (facts: Partial<typeof well>): string =>
    textOf(healthReport({ ...well, ...facts }, NOON).blocks);
  const UNTOUCHED = "no change of the database from outside was found";

  test("calls the database untouched only while nothing was found and it can be looked at", () => {
    expect(says({})).toContain(UNTOUCHED);
    expect(says({ audit: { ...well.audit, acknowledged: 1 } })).not.toContain(UNTOUCHED);
    expect(says({ store: { ok: false, latencyMs: 1, fault: null } })).not.toContain(UNTOUCHED);
  });

  test("says why the store does not answer", () => {
    const fault = "the database failed: its file was deleted or replaced while Countersign runs";
    expect(says({ store: { ok: false, latencyMs: 1, fault } })).toContain("file was deleted or replaced");
  });

  test("tells runs whose answers cannot be used from runs with unreadable approvals", () => {
    const shown = says({ unreadable: { runs: 0, approvals: 0, unanswered: 2 } });
    expect(shown).toContain("Something is wrong");
    expect(shown).toContain("answers about 2 runs cannot be used");
    expect(shown).not.toContain("approvals that cannot be read");
  });
});

test("the letter about tampering names no place that its reader is not in", () => {
  const kept = { seq: 7, link: "0".repeat(64), entry: anAuditEntry(run, { what: "tampering-found" }) };
  const letter = { id: aNonce(), kind: "tampering", entry: 7, to: ADMIN, madeAt: NOON } as const;
  const post = { type: "planned", notBefore: 0, tries: 0, why: "" } as const;
  const facts = { entry: kept, about: null, action: null, channel: null };
  expect(textOf(notificationMessage({ ...letter, post }, facts).blocks)).not.toContain("this channel");
});
