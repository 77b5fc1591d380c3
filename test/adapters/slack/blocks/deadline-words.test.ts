// What cards, reminders, listings and forms say of the time to decide.

import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { reviewSeveralModal, reviewView } from "#src/adapters/slack/blocks/review-modal.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { Approval } from "#src/domain/approval.ts";
import { callSlot } from "#src/domain/call.ts";
import { expire } from "#src/domain/decide.ts";
import { reasonToKeepWatching } from "#src/domain/end-run.ts";
import { extendTime } from "#src/domain/handling.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { type Call, withFollowUp } from "#src/domain/follow-up.ts";
import { ApprovalId, type UserId } from "#src/domain/ids.ts";
import { keptRule } from "#src/domain/policy/policy.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { cardSlot, listingSlot } from "#src/domain/slot.ts";
import { applyListing } from "#src/domain/listing.ts";
import { contextAt } from "../../../make/history.ts";
import { aRule } from "../../../make/policy.ts";
import { aNonce, APPROVER, aWatchedRun, NOON, withApprovals } from "../../../make/run.ts";
import { CLEO, decisionOf, PENDING, REFUSED_DENIAL } from "./page/example.ts";
import { printedMessage, printedView } from "./printed.ts";

const HOUR = 3_600_000;
const run = aWatchedRun();
const expiring = (approval: Approval, facts: Parameters<typeof aRule>[0] = {}): Approval => ({
  ...approval,
  appliedRule: {
    version: "0123456789ab",
    rule: keptRule(aRule({ expiry: { afterMs: HOUR, outcome: "deny" }, ...facts })),
  },
});

const extended = (approval: Approval): Approval =>
  withFollowUp(approval, { extensions: [{ by: APPROVER, at: NOON, byMs: HOUR }] });

const callThat = (says: Call["says"]): Call => ({
  n: 1,
  says,
  of: 1,
  at: NOON,
  notBefore: 0,
  who: { users: [], groups: [], more: 0 },
  tries: 0,
  lookAt: 0,
});

/** The request with one call about it. For a last reminder, it is recorded that it was sent. */
function called(given: Approval, says: Call["says"]): { readonly text: string; readonly key: string | null } {
  const approval = says === "last" ? withFollowUp(given, { warned: true }) : given;
  const call = callThat(says);
  const of = withApprovals(run, { ...approval, calls: [call] });
  const slot = callSlot(approval, call);
  return { text: printedMessage(messageIn(of, slot)), key: renderKey(of, slot) };
}

describe("a last reminder", () => {
  test("says that the deadline is near, until someone extends it", () => {
    const call = callThat("last");
    const rule = aRule({
      expiry: { afterMs: HOUR, outcome: "deny" },
      followUp: { ...NO_FOLLOW_UP, extend: { byMs: HOUR, atMostMs: HOUR } },
    });
    const warned = withFollowUp({ ...expiring(PENDING), calls: [call] }, { warned: true });
    const extension = extendTime(warned, { by: APPROVER, times: 0, rule }, { now: NOON });
    if (!extension.ok) throw new Error("not extended");
    const [before, after] = [warned, extension.value].map((approval) => {
      const of = withApprovals(run, approval);
      return {
        text: printedMessage(messageIn(of, callSlot(approval, call))),
        key: renderKey(of, callSlot(approval, call)),
      };
    });
    expect(before?.text).toContain("deadline for this request is near");
    expect(after?.text).not.toContain("is near");
    expect(after?.text).not.toContain("Last reminder");
    expect(after?.text).toContain("waiting for a decision");
    expect(after?.key).toMatch(/^waits /);
  });
});

test("a message about a denial by the policy says who denied and who tells the agent", () => {
  const over = expired(expiring(PENDING));
  if (over === undefined) throw new Error("no approval");
  expect(called(over, "over").text).toContain(
    "It was not decided in time, so the policy denied it. Countersign tells the agent.",
  );
});

describe("a message about a stage", () => {
  test("says nothing of the time that has passed, because it may be posted days later", () => {
    const { text } = called(expiring(PENDING), "stage");
    expect(text).toContain("**⏫ Escalated** · asked {2026-11-20 12:00 UTC}");
    expect(text).not.toContain("No decision for");
  });
});

const cardOf = (approval: Approval): string =>
  printedMessage(approvalCard(withApprovals(run, approval), approval));

const expired = (approval: Approval): Approval | undefined =>
  expire(withApprovals(run, approval), contextAt(HOUR)).approvals[0];

describe("a request that the rule denies at its deadline", () => {
  const denied = expiring(PENDING);
  const refused = expiring(REFUSED_DENIAL);

  test("is said to be denied then, and is", () => {
    expect(cardOf(denied)).toContain("After that, it is denied.");
    expect(called(denied, "last").text).toContain("the policy denies it and the agent is told");
    expect(reasonToKeepWatching(withApprovals(run, denied))).toBe("denial-due");
    expect(expired(denied)?.state).toMatchObject({ type: "decided", decision: { verdict: "deny" } });
  });

  test("is said to close then if the service has refused such a denial, and does", () => {
    expect(cardOf(refused)).toContain("After that, it closes, and nothing is sent.");
    expect(called(refused, "last").text).toContain("it closes. The agent is told nothing");
    expect(called(refused, "last").key).not.toBe(called(denied, "last").key);
    expect(reasonToKeepWatching(withApprovals(run, refused))).toBeNull();
    expect(expired(refused)?.state).toMatchObject({ type: "closed", cause: "expired" });
  });

  test("has another key than a card that says otherwise, also if it was denied as often", () => {
    const byPerson = refused.past.map((each) => ({ ...each, decision: decisionOf("deny", "No", CLEO) }));
    const cards = [refused, { ...refused, past: byPerson }];
    expect(cards.map((each) => cardOf(each).includes("After that, it is denied."))).toEqual([false, true]);
    expect(new Set(cards.map((each) => renderKey(withApprovals(run, each), cardSlot(each.id)))).size).toBe(2);
  });

  test("is said to close then also where too few people can approve it", () => {
    const few = (approval: Approval): string =>
      cardOf({
        ...approval,
        approverCount: { of: `0123456789ab a rule v${approval.version}`, at: NOON, able: 0, grows: false },
      });
    expect(few(denied)).toContain("Otherwise, the request is denied at its deadline.");
    expect(few(refused)).toContain("Otherwise, the request closes at its deadline.");
  });
});

describe("a request that some but not all have approved", () => {
  const approvedBy = (...people: readonly UserId[]): Approval => ({
    ...expiring(PENDING, { needs: 3 }),
    votes: people.map((user) => decisionOf("approve", "Fine", user)),
  });
  const one = approvedBy(CLEO);

  test("is said not to be decided in time, not to be decided by no one", () => {
    const over = expired(one);
    if (over === undefined) throw new Error("no approval");
    expect(over.state).toMatchObject({ decision: { reason: "Denied by policy: not decided within 1 h." } });
    const closed = expired({ ...one, past: REFUSED_DENIAL.past });
    for (const each of [over, closed ?? one])
      expect(called(each, "over").text).toContain("It was not decided in time");
    expect(called(one, "last").text).toContain("If it is not decided by then");
  });

  test.for(["waits", "last", "stage"] as const)("is said to have its approvals in the message %j", (says) => {
    const of = [approvedBy(), one, approvedBy(CLEO, APPROVER)].map((approval) => called(approval, says));
    const said = of.map(({ text }) => /(\d of \d) approvals so far/.exec(text)?.[1]);
    expect(said).toEqual([undefined, "1 of 3", "2 of 3"]);
    expect(new Set(of.map(({ key }) => key)).size).toBe(3);
  });
});

describe("people who decide see the deadline", () => {
  const approval = expiring(PENDING);
  const of = withApprovals(run, approval);
  const line = "Deadline: {2026-11-20 13:00:00 UTC}, {2026-11-20 13:00 UTC}. After that, it is denied.";

  test("in each form and in Details, in the words of the card", () => {
    expect(cardOf(approval)).toContain(line);
    const about = { saw: approval.request, nonce: aNonce() };
    const forms = [
      { verdict: "approve" },
      { verdict: "deny" },
      { verdict: "approve", choice: true },
      { verdict: "approve", reading: true },
    ] as const;
    for (const facts of forms)
      expect(printedView(reviewView({ run: of, ticket: { ...about, ...facts } }))).toContain(line);
    expect(printedView(readModal(of, approval.request))).toContain(line);
    const item = { run: of, approval, rule: aRule() };
    const opened = { bundle: aNonce(), apart: [], later: [], kind: "run", value: "", last: null } as const;
    const several = reviewSeveralModal({ ...opened, forms: [{ item, nonce: aNonce() }] }, []);
    expect(printedView(several)).toContain(line);
  });

  test("in no form of a request without one", () => {
    const form = { saw: PENDING.request, nonce: aNonce(), verdict: "approve" } as const;
    expect(printedView(formView({ run: withApprovals(run, PENDING), ticket: form }))).not.toContain(
      "Deadline",
    );
  });

  test("on each line of a listing, which is drawn again when the deadline moves", () => {
    const many = Array.from({ length: 9 }, (_, nth) => ({ ...approval, id: ApprovalId(`apr_${nth}`) }));
    const listed = applyListing(withApprovals(run, ...many));
    const [first = approval, ...others] = listed.approvals;
    const slot = listingSlot(1);
    expect(
      printedMessage(messageIn(listed, slot)).match(/ · deadline \{2026-11-20 13:00:00 UTC\}/g),
    ).toHaveLength(9);
    const later = { ...listed, approvals: [extended(first), ...others] };
    expect(printedMessage(messageIn(later, slot))).toContain(" · deadline {2026-11-20 14:00:00 UTC}");
    expect(renderKey(later, slot)).not.toBe(renderKey(listed, slot));
  });

  test.for(["waits", "last"] as const)("in the heading of the reminder %j, also once it moves", (says) => {
    const [before, after] = [called(approval, says), called(extended(approval), says)];
    expect(before.text).toContain(" · deadline {2026-11-20 13:00 UTC}");
    expect(after.text).toContain(" · deadline {2026-11-20 14:00 UTC}");
    expect(after.key).not.toBe(before.key);
  });
});
