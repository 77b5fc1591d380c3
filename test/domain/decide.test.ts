import { describe, expect, test } from "vitest";
import { applyOutcome, markSending } from "#src/domain/apply-outcome.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { close, withDelivery } from "#src/domain/approval-transitions.ts";
import {
  refusalIfNotOpen,
  MAX_REASON_CHARS,
  refusalToDecide,
  type Person,
} from "#src/domain/authorization.ts";
import { decide, undo } from "#src/domain/decide.ts";
import type { Submission } from "#src/domain/submission.ts";
import type { Outcome } from "#src/domain/effect.ts";
import { ApprovalId, TeamId, UserId } from "#src/domain/ids.ts";
import { findApproval, type Run } from "#src/domain/run.ts";
import {
  anApproval,
  APPROVER,
  aRequest,
  aWatchedRun,
  NOON,
  REQUESTER,
  TEAM,
  withApprovals,
} from "../make/run.ts";
import { contextAt, decidedRun } from "../make/history.ts";
import { BUILT_IN_RULE } from "#src/domain/policy/policy.ts";
import { aPolicy } from "../make/policy.ts";

const MEMBER: Person = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true };
const OTHER_TEAM = TeamId("T0ELSEWHERE");
const run = aWatchedRun();

describe("who may decide", () => {
  test.for<[string, Partial<Person>, string | null]>([
    ["a full member who sees the channel", {}, null],
    ["the requester", { user: REQUESTER }, "requester"],
    ["a guest", { kind: "guest" }, "guest"],
    ["a person of another organization", { kind: "outsider" }, "outsider"],
    ["a bot", { kind: "bot" }, "bot"],
    ["a deactivated person", { kind: "deactivated" }, "deactivated"],
    ["a member who cannot see the channel", { seesChannel: false }, "not-in-channel"],
    ["a member of another team", { team: OTHER_TEAM }, "outsider"],
    ["the requester's id in another team", { team: OTHER_TEAM, user: REQUESTER }, "outsider"],
    ["a guest who is the requester", { kind: "guest", user: REQUESTER }, "guest"],
    ["the requester, outside the channel", { user: REQUESTER, seesChannel: false }, "requester"],
  ])("%s: %o is answered %s", ([, facts, because]) => {
    expect(refusalToDecide({ ...MEMBER, ...facts }, run, BUILT_IN_RULE)?.type ?? null).toBe(because);
  });

  test("ids are compared exactly, whatever they look like", () => {
    expect(refusalToDecide({ ...MEMBER, user: UserId("U0REQUESTER1") }, run, BUILT_IN_RULE)).toBeNull();
  });
});

describe("which approval can be decided", () => {
  const pending = anApproval();
  const decision = {
    verdict: "deny",
    reason: "no",
    by: MEMBER,
    at: NOON,
    digest: pending.request.digest,
  } as const;
  const changed = { type: "changed", was: null, now: pending.request };
  const sending = withDelivery(pending, decision, { type: "sending", at: NOON, tries: 1, lost: false });
  const confirmed = withDelivery(pending, decision, { type: "confirmed", at: NOON, stillListed: null });

  test.for<[string, Approval, number, object | null]>([
    ["pending, in the version that was seen", pending, 1, null],
    ["pending, with a later request", { ...pending, version: 2, requestVersion: 2 }, 1, changed],
    ["pending again with the request that was seen", { ...pending, version: 2 }, 1, { type: "reopened" }],
    [
      "pending again with the request that was seen, after an undo",
      { ...pending, version: 2, past: [{ decision, cause: "undone", words: "" }] },
      1,
      { type: "undone" },
    ],
    [
      "pending again with the later request",
      { ...pending, version: 3, requestVersion: 2 },
      2,
      { type: "reopened" },
    ],
    ["pending, with a version that never existed", pending, 2, changed],
    ["decided and on its way", sending, 1, { type: "already-decided", decision, settled: false }],
    ["decided and confirmed", confirmed, 1, { type: "already-decided", decision, settled: true }],
    ["closed, as the run is over", close(pending, "run-over", NOON), 1, { type: "closed", why: "run-over" }],
    [
      "closed, in an older version",
      close(pending, "unwatched", NOON),
      7,
      { type: "closed", why: "unwatched" },
    ],
  ])("%s", ([, approval, version, refusal]) => {
    expect(refusalIfNotOpen(approval, version, null)).toEqual(refusal);
  });
});

test("an undone approval stays unlisted if the newest snapshot did not list it", () => {
  const pending = anApproval();
  const decision = {
    verdict: "approve",
    reason: "",
    by: MEMBER,
    at: NOON,
    digest: pending.request.digest,
  } as const;
  const unlisted = "in-doubt" as const;
  const held = { ...withDelivery(pending, decision, { type: "held", until: NOON, sendAt: 1 }), unlisted };
  const by = { approval: held.id, version: held.version, by: MEMBER };
  const undone = undo(withApprovals(run, held), by, contextAt());
  expect(undone.ok && findApproval(undone.value, held.id)).toMatchObject({
    state: { type: "pending" },
    unlisted,
  });
});

describe("a submitted decision", () => {
  const approval = anApproval();
  const open = withApprovals(run, approval);
  const submission: Submission = {
    approval: approval.id,
    version: 1,
    digest: approval.request.digest,
    was: approval.request,
    verdict: "approve",
    reason: "",
    by: MEMBER,
  };
  const refusal = (facts: Partial<Submission>): string | null => {
    const result = decide(open, { ...submission, ...facts }, contextAt());
    return result.ok ? null : result.error.type;
  };

  test("is recorded with its verdict, its reason byte for byte, the person, the time and the request", () => {
    const reason = "  because\r\n‮ it is 𝒢ood\u0000 ";
    const result = decide(open, { ...submission, reason }, contextAt());
    const state = result.ok ? findApproval(result.value, approval.id)?.state : null;
    expect(state).toEqual({
      type: "decided",
      delivery: { type: "recorded" },
      decision: {
        verdict: "approve",
        reason,
        by: { team: TEAM, user: APPROVER },
        at: NOON,
        digest: approval.request.digest,
      },
    });
  });

  test.for<[string, Partial<Submission>, string | null]>([
    ["to approve without a reason", {}, null],
    ["to deny with a reason", { verdict: "deny", reason: "no" }, null],
    ["to deny without a reason", { verdict: "deny" }, "reason-needed"],
    ["to deny with white space", { verdict: "deny", reason: " \n\t" }, "reason-needed"],
    ["to deny with invisible characters", { verdict: "deny", reason: "\u200B\u2800\uFEFF" }, "reason-needed"],
    ["a reason of 3,000 characters", { reason: "x".repeat(MAX_REASON_CHARS) }, null],
    ["a reason of 3,001 characters", { reason: "x".repeat(MAX_REASON_CHARS + 1) }, "reason-too-long"],
    ["another digest than the request's", { digest: "other" }, "changed"],
    ["an older version", { version: 0 }, "changed"],
    ["by the requester", { by: { ...MEMBER, user: REQUESTER } }, "requester"],
    ["by a guest, with all else wrong too", { by: { ...MEMBER, kind: "guest" }, digest: "other" }, "guest"],
  ])("%s: %o is answered %s", ([, facts, because]) => {
    expect(refusal(facts)).toBe(because);
  });

  test("is shown what changed, before and after", () => {
    const was = aRequest({ action: "something smaller" });
    const result = decide(open, { ...submission, digest: was.digest, was }, contextAt());
    expect(result).toEqual({ ok: false, error: { type: "changed", was, now: approval.request } });
  });

  test.each<[string, boolean, Delivery]>([
    ["on its way", true, { type: "sending", at: NOON, tries: 1, lost: false }],
    ["confirmed", true, { type: "confirmed", at: NOON, stillListed: null }],
    ["refused by the service", false, { type: "refused", at: NOON, words: "no", absent: false }],
    ["resolved elsewhere", false, { type: "elsewhere", at: NOON, words: "" }],
    ["not confirmed", false, { type: "unconfirmed", at: NOON, cause: "run-missing" }],
  ])("a second time, when the first was %s, counts as recorded: %s", (_what, known, delivery) => {
    const first = decide(open, submission, contextAt());
    const made = first.ok ? findApproval(first.value, approval.id) : null;
    if (made?.state.type !== "decided") throw new Error("the first is refused");
    const settled = withApprovals(run, withDelivery(made, made.state.decision, delivery));
    const again = decide(settled, submission, contextAt());
    expect(again).toMatchObject(known ? { ok: true, value: settled } : { ok: false });
  });

  test("loses against the one that came before it, and changes nothing", () => {
    const first = decide(open, submission, contextAt());
    if (!first.ok) throw new Error("the first is refused");
    const second = decide(first.value, { ...submission, verdict: "deny", reason: "no" }, contextAt());
    expect(second).toMatchObject({ ok: false, error: { type: "already-decided", settled: false } });
  });
});

test.each(["approve", "deny"] as const)(
  "to %s counts until the request expires, and not a millisecond later",
  (verdict) => {
    const approval = anApproval();
    const { id, version, request } = approval;
    const submission = {
      approval: id,
      version,
      digest: request.digest,
      was: request,
      verdict,
      reason: "why",
    };
    const policy = aPolicy({ expiry: { afterMs: 60_000, outcome: "nothing" } });
    const after = (ms: number) =>
      decide(withApprovals(run, approval), { ...submission, by: MEMBER }, contextAt(ms, policy));
    expect(after(59_999)).toMatchObject({ ok: true });
    expect(after(60_000)).toMatchObject({ ok: false, error: { type: "closed", why: "expired" } });
  },
);

test("a decision counts as never sent until the first try in which a byte leaves", () => {
  const later: Outcome = { type: "later", afterMs: null, why: "429" };
  const withheld: Outcome = { ...later, notSent: true };
  const send = { type: "send-decision", approval: ApprovalId("apr_1") } as const;
  const tried = (run: Run, outcome: Outcome): Run =>
    applyOutcome(markSending(run, send, NOON), send, outcome, contextAt());
  const neverSent = (run: Run): boolean => {
    const state = findApproval(run, send.approval)?.state;
    return state?.type === "decided" && state.delivery.type === "retry" && state.delivery.notSent === true;
  };
  let run = decidedRun();
  const seen = [withheld, withheld, later, withheld].map((outcome) => neverSent((run = tried(run, outcome))));
  expect(seen).toEqual([true, true, false, false]);
});
