// Several votes, a hold, an expiry, friction and volatile fields, as the core decides them.

import { describe, expect, test } from "vitest";
import {
  applyApproverCount,
  applyPolicy,
  countAt,
  countKeyOf,
  tooFewApprovers,
} from "#src/domain/applied-rule.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { markRead } from "#src/domain/approval-transitions.ts";
import type { Person } from "#src/domain/authorization.ts";
import { expire, undo } from "#src/domain/decide.ts";
import type { Submission } from "#src/domain/submission.ts";
import { ApprovalId, GroupId, TeamId, type UserId, UserId as toUser } from "#src/domain/ids.ts";
import { withoutFields } from "#src/domain/policy/policy.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import { addPossibleRequester, findApproval, replaceApproval } from "#src/domain/run.ts";
import { listedRun } from "../make/history.ts";
import { these } from "../make/policy.ts";
import { APPROVER, TEAM } from "../make/run.ts";
import { approvalOf, done, ID, LATER, member, refusal, SECOND, under } from "../make/voting.ts";

describe("two people who must approve", () => {
  const { submit, run } = under({ needs: 2 });
  const one = done(submit(run));

  test("the first sends nothing, and cannot be the second", () => {
    expect(approvalOf(one).state.type).toBe("pending");
    expect(reconcile(one, LATER).effects.map(({ type: does }) => does)).not.toContain("send-decision");
    expect(refusal(submit(one, { reason: "again" }))).toBe("already-voted");
  });

  test("the same form sent twice counts once", () => {
    expect(done(submit(one))).toBe(one);
  });

  test("the second is refused while it is unknown whether the first may still decide", () => {
    expect(refusal(submit(one, { by: member(SECOND) }))).toBe("unverified");
  });

  test("the first no longer counts once they may not decide", () => {
    const voters = [member(APPROVER, { kind: "deactivated" })];
    const next = done(submit(one, { by: member(SECOND), voters }));
    const { state, votes, past } = approvalOf(next);
    expect(state.type).toBe("pending");
    expect(votes.map(({ by }) => by?.user)).toEqual([SECOND]);
    expect(past.map(({ cause: because, decision }) => [because, decision.by?.user])).toEqual([
      ["voter-may-not", APPROVER],
    ]);
  });

  test("both together make the decision", () => {
    const both = done(submit(one, { by: member(SECOND), voters: [member(APPROVER)] }));
    expect(approvalOf(both).state).toMatchObject({
      type: "decided",
      decision: { by: { user: SECOND }, votes: [{ by: { user: APPROVER } }] },
      delivery: { type: "recorded" },
    });
  });
});

describe("an approval that is held", () => {
  const { at, submit, run } = under({ holdMs: 10_000 });
  const held = done(submit(run));
  const { version } = approvalOf(held);
  const by = (user: UserId) => ({ approval: ID, version, by: { team: TEAM, user } });

  test("can be undone only by the person who gave it, and a second undo changes nothing", () => {
    expect(undo(held, by(SECOND), at())).toMatchObject({ ok: false, error: { type: "not-yours" } });
    const back = undo(held, by(APPROVER), at());
    if (!back.ok) throw new Error(back.error.type);
    expect(approvalOf(back.value)).toMatchObject({ state: { type: "pending" }, version: version + 1 });
    expect(undo(back.value, by(APPROVER), at())).toEqual({ ok: true, value: back.value });
    expect(refusal(submit(back.value, { version }))).toBe("undone");
  });

  const ctx = at();
  const retry = { type: "retry", notBefore: 0, tries: 1, lost: false, why: "" } as const;
  test.each<[Delivery, object]>([
    [{ type: "recorded" }, { type: "due" }],
    [retry, { type: "due" }],
    [
      { ...retry, lost: true },
      { type: "sent", at: null },
    ],
    [
      { type: "sending", at: 0, tries: 1, lost: false },
      { type: "sent", at: null },
    ],
    [
      { type: "confirmed", at: ctx.monotonic - 5_000, stillListed: null },
      { type: "sent", at: ctx.now - 5_000 },
    ],
  ])(
    "cannot be undone once its time is up (%j), and the refusal says what became of it",
    (delivery, became) => {
      const { state } = approvalOf(held);
      if (state.type !== "decided") throw new Error("not decided");
      const approvals = held.approvals.map((each) => ({ ...each, state: { ...state, delivery } }));
      expect(undo({ ...held, approvals }, by(APPROVER), ctx)).toEqual({
        ok: false,
        error: { type: "too-late", became },
      });
    },
  );

  test("cannot be undone once it was denied", () => {
    const denied = done(submit(held, { by: member(SECOND), verdict: "deny", reason: "no" }));
    expect(undo(denied, by(APPROVER), at())).toMatchObject({
      error: { type: "too-late", became: { type: "denied" } },
    });
  });

  test("can be denied and not approved by another", () => {
    expect(refusal(submit(held, { by: member(SECOND) }))).toBe("already-decided");
    const denied = done(submit(held, { by: member(SECOND), verdict: "deny", reason: "no" }));
    expect(approvalOf(denied)).toMatchObject({
      state: { decision: { verdict: "deny" }, delivery: { type: "recorded" } },
      past: [{ cause: "denied" }],
    });
  });

  test("is followed by a notice to everyone who gave it if someone else denies it first", () => {
    const notified = (rule: { needs?: number }, denier: UserId): readonly unknown[] => {
      const { submit, run } = under({ holdMs: 10_000, ...rule });
      const first = done(submit(run));
      const last =
        rule.needs === 2 ? done(submit(first, { by: member(SECOND), voters: [member(APPROVER)] })) : first;
      const { notices } = done(submit(last, { by: member(denier), verdict: "deny", reason: "no" }));
      return notices.map(({ to, says }) => [to, says]);
    };
    const says = { type: "decision-void", approval: ID, cause: "denied" };
    expect(notified({}, SECOND)).toEqual([[APPROVER, says]]);
    expect(notified({ needs: 2 }, SECOND)).toEqual([[APPROVER, says]]);
    expect(notified({}, APPROVER)).toEqual([]);
  });
});

describe("an approval whose time is up", () => {
  const afterMs = 60_000;

  test("is refused even before it was closed, and then closes", () => {
    const { at, submit, run } = under({ expiry: { afterMs, outcome: "nothing" } });
    const since = approvalOf(run).since - at().now;
    expect(refusal(submit(run, {}, since + afterMs))).toBe("closed");
    expect(expire(run, at(since + afterMs - 1))).toBe(run);
    expect(approvalOf(expire(run, at(since + afterMs))).state).toMatchObject({ cause: "expired" });
  });

  test("is denied by the policy if the rule says so", () => {
    const { at, run } = under({ expiry: { afterMs, outcome: "deny" } });
    const since = approvalOf(run).since - at().now;
    expect(approvalOf(expire(run, at(since + afterMs))).state).toMatchObject({
      decision: { verdict: "deny", by: null, reason: "Denied by policy: not decided within 1 min." },
    });
  });

  test("closes if the service has refused such a denial before, even of an earlier request", () => {
    const { at, run } = under({ expiry: { afterMs, outcome: "deny" } });
    const over = at(approvalOf(run).since - at().now + afterMs);
    const { state } = approvalOf(expire(run, over));
    if (state.type !== "decided") throw new Error("not denied");
    const past = [{ decision: state.decision, cause: "refused", words: "no" } as const];
    const { request } = approvalOf(run);
    const changed = { ...approvalOf(run), request: { ...request, digest: "another" }, past };
    expect(approvalOf(expire(replaceApproval(run, changed), over)).state).toMatchObject({ cause: "expired" });
  });

  test("reports to the agent the time that it had, extensions included", () => {
    const { at, run } = under({ expiry: { afterMs, outcome: "deny" } });
    const approval = approvalOf(run);
    const extensions = [{ by: APPROVER, at: approval.since, byMs: 30_000 }];
    const longer = replaceApproval(run, { ...approval, followUp: { extensions } });
    const since = approval.since - at().now;
    expect(expire(longer, at(since + afterMs))).toBe(longer);
    expect(approvalOf(expire(longer, at(since + afterMs + 30_000))).state).toMatchObject({
      decision: { reason: "Denied by policy: not decided within 90 s." },
    });
  });
});

describe("friction", () => {
  const { submit, run } = under({ friction: { readFirst: true, word: "yes" } });
  const { digest } = approvalOf(run).request;
  const read = markRead(run, ID, digest, APPROVER);

  test("requires that this very person has read the request and types the word", () => {
    expect(refusal(submit(run, { word: "yes" }))).toBe("read-first");
    expect(refusal(submit(read, { by: member(SECOND), word: "yes" }))).toBe("read-first");
    expect(refusal(submit(read, { word: "yesterday" }))).toBe("word-needed");
    expect(refusal(submit(read))).toBe("word-needed");
    expect(refusal(submit(read, { word: " yes " }))).toBe(null);
    // A person learns everything that is wrong with a form at once.
    expect(submit(read, { reason: "x".repeat(3_001) })).toMatchObject({
      error: { type: "reason-too-long", missingWord: "yes" },
    });
    // The keyboard of a phone begins a line with a capital.
    expect(refusal(submit(read, { word: "Yes " }))).toBe(null);
  });

  test("is not required for a denial, and a reading of another request does not count", () => {
    expect(refusal(submit(run, { verdict: "deny", reason: "no" }))).toBe(null);
    expect(markRead(run, ID, "another", APPROVER)).toBe(run);
  });
});

describe("too few people who can approve", () => {
  const { at, run } = under({ needs: 2, approvers: these([APPROVER], [GroupId("S0SOME")]) });
  const of = `0123456789ab a rule v1`;

  test("are reported once, to the requester and in the fallback channel", () => {
    const few = applyApproverCount(run, ID, { type: "counted", of, able: 1, grows: false }, at());
    expect(tooFewApprovers(approvalOf(few))).toEqual({ able: 1, needs: 2, grows: false });
    expect(few.notices.map(({ to }) => to)).toEqual([run.requester, "C0FALLBACK"]);
    const again = applyApproverCount(few, ID, { type: "counted", of, able: 0, grows: false }, at());
    expect(again.notices).toEqual(few.notices);
  });

  test("are not reported if the people could not be counted, or were counted for another rule", () => {
    const unknown = applyApproverCount(run, ID, { type: "counted", of, able: null, grows: false }, at());
    expect([tooFewApprovers(approvalOf(unknown)), unknown.notices]).toEqual([null, []]);
    const other = { type: "counted", of: "another", able: 0, grows: false } as const;
    expect(applyApproverCount(run, ID, other, at())).toBe(run);
  });

  test("are counted again if someone turns out to have asked for the run, even while Slack is asked", () => {
    const before = { type: "counted", of, able: 2, grows: false } as const;
    const barred = addPossibleRequester(applyApproverCount(run, ID, before, at()), APPROVER);
    expect(countAt(approvalOf(barred))).toBe(0);
    expect(applyApproverCount(barred, ID, before, at())).toBe(barred);
    const now = { ...before, of: countKeyOf(barred, approvalOf(barred)), able: 1 };
    const counted = applyApproverCount(barred, ID, now, at());
    expect(tooFewApprovers(approvalOf(counted))).toMatchObject({ able: 1 });
    expect(countAt(approvalOf(counted))).toBeGreaterThan(0);
  });
});

describe("volatile fields", () => {
  test("are left out of the digest by name or path, but never the request itself", () => {
    const content = { id: "1", action: { type: "x" }, at: 1, "a.b": 2, a: { b: 3, c: 4 } };
    expect(withoutFields(content, ["at", "a.b", "a.c"])).toEqual({
      id: "1",
      action: { type: "x" },
      a: { b: 3 },
    });
    expect(withoutFields(content, ["id", "action", "action.do", "nothing", "a.b.c"])).toBe(content);
    for (const other of [["x"], "x", null, { a: null }, { a: ["x"] }])
      expect(withoutFields(other, ["0", "length", "a.0", "a.b"])).toBe(other);
  });
});

describe("a decision that is submitted again", () => {
  const { at, submit, run } = under({});
  const reason = "because";
  const denied = done(submit(run, { verdict: "deny", reason }));

  test.for<[string, Partial<Submission>]>([
    ["with the other verdict", { verdict: "approve" }],
    ["with another reason", { reason: "because of it" }],
    ["about another request", { digest: "other" }],
    ["by another person", { by: member(SECOND) }],
  ])("%s is another decision, and refused", ([, other]) => {
    expect(refusal(submit(denied, { verdict: "deny", reason, ...other }))).toBe("already-decided");
  });

  test("under the same id in another workspace belongs to another person", () => {
    const by = member(APPROVER, { team: TeamId("T0ELSEWHERE") });
    expect(refusal(submit(denied, { verdict: "deny", reason, by }))).toBe("outsider");
  });

  test("counts for each person on whose approvals the decision rests", () => {
    const two = under({ needs: 2 });
    const one = done(two.submit(two.run, { reason: "one" }));
    const voters = [member(APPROVER)];
    const both = done(two.submit(one, { by: member(SECOND), reason: "two", voters }));
    expect(two.submit(both, { reason: "one" })).toEqual({ ok: true, value: both });
    expect(two.submit(both, { by: member(SECOND), reason: "two", voters })).toEqual({
      ok: true,
      value: both,
    });
  });

  test("is never the policy's: what the policy denied, no person denied", () => {
    const ruled = under({ expiry: { afterMs: 60_000, outcome: "deny" } });
    const over = expire(ruled.run, at(60_000 + approvalOf(ruled.run).since - at().now));
    const { state } = approvalOf(over);
    if (state.type !== "decided") throw new Error("not denied");
    const same = { verdict: "deny", reason: state.decision.reason } as const;
    expect(refusal(ruled.submit(over, same))).toBe("already-decided");
  });

  test("is unknown if the approval does not exist", () => {
    expect(refusal(submit(run, { approval: ApprovalId("apr_9") }))).toBe("unknown");
  });
});

test("people whose earlier approval no longer counts are notified, once each and with the reason", () => {
  const { submit, run } = under({ needs: 2 });
  const one = done(submit(run));
  const voters = [member(APPROVER, { kind: "guest" })];
  const { notices } = done(submit(one, { by: member(SECOND), voters }));
  expect(notices).toMatchObject([
    { to: APPROVER, says: { type: "decision-void", approval: ID, cause: "voter-may-not" } },
  ]);
});

test("they are also notified if the current rule asks for more", () => {
  const { submit, run } = under({ needs: 2 });
  const one = done(submit(run));
  const stricter = under({ needs: 2, reason: { approve: 4, deny: 4 } });
  const second = { by: member(SECOND), voters: [member(APPROVER)], reason: "long enough" };
  const { notices } = done(stricter.submit(one, second));
  expect(notices).toMatchObject([{ to: APPROVER, says: { type: "decision-void", cause: "rule-changed" } }]);
});

test("the typed word is stored with an approval, and not with a denial", () => {
  const { submit, run } = under({ friction: { readFirst: false, word: "yes" } });
  const approved = done(submit(run, { word: " yes " }));
  expect(approvalOf(approved).state).toMatchObject({ decision: { word: "yes" } });
  const denied = approvalOf(done(submit(run, { verdict: "deny", reason: "no" }))).state;
  expect(denied.type === "decided" && "word" in denied.decision).toBe(false);
});

test("of two requests, the one whose time is over expires, under the rule's name, and its people are notified", () => {
  const { at } = under({ expiry: { afterMs: 60_000, outcome: "deny" } });
  const both = applyPolicy(listedRun("apr_1", "apr_2"), at());
  const [first, second] = both.approvals;
  if (first === undefined || second === undefined) throw new Error("nothing is listed");
  const younger = replaceApproval(both, { ...second, waitsSince: second.waitsSince + 1 });
  const over = expire(younger, at(60_000));
  expect(approvalOf(over)).toMatchObject({
    state: { decision: { by: null, policy: { version: "0123456789ab", rule: "a rule" } } },
  });
  expect(approvalOf(over).calls).toMatchObject([{ says: "over" }]);
  expect(findApproval(over, second.id)?.state).toEqual({ type: "pending" });
});

describe("an approval's text and its notices", () => {
  test("the person whose approval no longer counts is notified once, however many follow", () => {
    const { submit, run } = under({ needs: 2 });
    const [third, fourth] = [toUser("U0THIRD"), toUser("U0FOURTH")];
    const gone = (user: UserId): Person => member(user, { kind: "deactivated" });
    const one = done(submit(run, { by: member(SECOND) }));
    const two = done(submit(one, { by: member(third), voters: [gone(SECOND)] }));
    const last = done(submit(two, { by: member(fourth), voters: [gone(third)] }));
    expect(last.notices.map(({ to }) => to)).toEqual([SECOND, third]);
  });

  test("an empty reason is refused for the verdict that needs a reason", () => {
    const { submit, run } = under({ reason: { approve: 3, deny: 3 } });
    expect(submit(run)).toMatchObject({ error: { type: "reason-needed", verdict: "approve" } });
    const denied = submit(run, { verdict: "deny" });
    expect(denied.ok ? null : denied.error).toEqual({ type: "reason-needed" });
  });
});
