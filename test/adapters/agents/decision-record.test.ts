// Which records in an answer to a decision confirm it: every field must be known to agree, or to be irrelevant.

import { describe, expect, test } from "vitest";
import { readDecisionAnswer } from "#src/adapters/agents/decision-answer.ts";
import type { SentDecision } from "#src/adapters/agents/decision-record.ts";

const READER = { who: "The agent service", apiKey: "canary-key-5f1c9a", now: () => 0 };
const APPROVED: SentDecision = {
  run: "run_1",
  approval: "a1",
  verdict: "approve",
  denyWord: "deny",
  reason: "because",
  asked: null,
};
const DENIED: SentDecision = { ...APPROVED, verdict: "deny" };

function answered(body: object, sent = APPROVED) {
  const answer = { status: 200, body: JSON.stringify(body), spoiled: null, retryAfter: null };
  return readDecisionAnswer(answer, sent, READER).type;
}

describe("a record does not confirm a decision", () => {
  test.each([
    { status: "approved", approval_id: "some-other" },
    { status: "approved", approvalId: "some-other" },
    { id: "a1", approval_id: "some-other" },
    { approval: { approval_id: "some-other" } },
    { approval: "some-other" },
    { runId: "run_2" },
    { run: "run_2" },
    { status: "approved", ID: "some-other" },
  ])("if it is of something else: %j", (body) => {
    expect(answered(body)).toBe("unsure");
  });

  test.each([{ action: "denied" }, { action: " Deny " }, { output: "rejected" }, { metadata: "expired" }])(
    "if its only word about the request is contrary: %j",
    (body) => {
      expect(answered(body)).toBe("unsure");
      expect(answered({ id: "a1", status: "approved", ...body })).toBe("unsure");
    },
  );

  test.each([
    { metadata: { status: "denied" } },
    { context: { approval: { decision: "Rejected" } } },
    { output: { steps: [{ outcome: "expired" }] } },
  ])("if a field about the request contains a contrary word: %j", (body) => {
    expect(answered(body)).toBe("unsure");
    expect(answered({ id: "run_1", status: "running", ...body })).toBe("unsure");
  });

  test("but does if the request has the contrary word inside the same field", () => {
    const metadata = { last: { status: "denied" } };
    const sent = { ...APPROVED, asked: { id: "a1", metadata } };
    expect(answered({ id: "a1", status: "approved", metadata }, sent)).toBe("confirmed");
  });

  test("but does if the request has the contrary word as the same field", () => {
    const sent = { ...APPROVED, asked: { id: "a1", action: "deny" } };
    expect(answered({ id: "a1", status: "approved", action: "deny" }, sent)).toBe("confirmed");
    expect(answered({ id: "a1", status: "approved", action: "deny all traffic" })).toBe("confirmed");
  });

  test.each([
    [{ approval_id: "a1" }],
    [{ approvalId: "a1" }],
    [{ approval: { id: "a1" } }],
    [{ data: { approval_id: "a1" } }],
    [{}],
    { items: [{ id: "a1" }] },
    { a1: { action: "rm" } },
    "a1",
  ])("if it still lists the approval: %j", (list) => {
    expect(answered({ id: "run_1", status: "running", pending_approvals: list })).toBe("unsure");
    expect(answered({ id: "run_1", status: "running", pending: list })).toBe("unsure");
    expect(answered({ id: "run_1", status: "running", pendingApprovals: list })).toBe("unsure");
  });

  test.each(
    "ignored skipped noop duplicate unauthorized conflict dropped stale unchanged dry_run needs_second_approval whatever"
      .split(" ")
      .map((name) => [name, true] as const),
  )("if its flag %s is %j", (name, value) => {
    expect(answered({ id: "a1", [name]: value })).toBe("unsure");
    expect(answered({ id: "a1", status: "approved", [name]: value })).toBe("unsure");
    expect(answered({ id: "run_1", status: "running", [name]: value })).toBe("unsure");
  });

  test.each(
    "ack acknowledged valid changed effective recorded saved updated modified affected accepted whatever".split(
      " ",
    ),
  )("if its flag %s is false or 0", (name) => {
    for (const value of [false, 0]) {
      expect(answered({ id: "a1", [name]: value })).toBe("unsure");
      expect(answered({ id: "a1", status: "approved", [name]: value })).toBe("unsure");
    }
  });

  test.each([
    "response",
    "reply",
    "text",
    "description",
    "err",
    "answer",
    "body",
    "content",
    "whatever",
    "0",
  ])("if its field %s contains a no or an unknown word", (name) => {
    for (const word of ["no", "not done", "forbidden", "held"])
      expect(answered({ id: "a1", [name]: word })).toBe("unsure");
    for (const word of ["no", "It was not done", "forbidden"])
      expect(answered({ id: "a1", status: "approved", [name]: word })).toBe("unsure");
  });

  test.each(["phase", "disposition", "effect", "final_state", "type", "kind", "title"])(
    "if its field %s says another outcome",
    (name) => {
      expect(answered({ id: "a1", [name]: "denied" })).not.toBe("confirmed");
      expect(answered({ id: "a1", status: "approved", [name]: "denied" })).not.toBe("confirmed");
    },
  );

  test.each([
    { outcome: { type: "denied" } },
    { outcome: { kind: "Denied" } },
    { title: "Forbidden", type: "about:blank" },
    { conflict: true, id: "a1" },
    { err: "no" },
    { votes_needed: 2, status: "approved" },
    { count: 0 },
    { list: ["denied"] },
    { tags: ["denied"] },
  ])("if it says something else: %j", (body) => {
    expect(answered(body)).not.toBe("confirmed");
  });

  test("if it says approved and the decision was a denial", () => {
    for (const body of [{ whatever: "approved" }, { type: "approved" }, { phase: "approved" }])
      expect(answered(body, DENIED)).not.toBe("confirmed");
  });
});

describe("a record confirms a decision", () => {
  const OUTPUT = "It could not be done before. Denied twice, failed once.";

  test.each([
    { id: "run_1", status: "running" },
    { id: "run_1", status: "working", output: OUTPUT, input: "deny all", created_at: "2026-11-20T10:00:00Z" },
    { id: "run_1", status: "running", output: { ok: false, note: OUTPUT }, pending_approvals: [] },
    { id: "run_1", status: "running", agent: { name: "no-op" }, metadata: { dry: true }, model: "m-1" },
    {
      id: "run_1",
      status: "in_progress",
      progress: 0.4,
      step: 3,
      total_tokens: 1_200,
      url: "https://a.test/1",
    },
    {
      id: "run_1",
      status: "running",
      pending_approvals: [{ approval_id: "a2" }, { approval: { id: "a3" } }],
    },
    { id: "run_1", status: "running", thread_title: "Tidy up" },
    { run: { id: "run_1", status: "running" }, approval: { id: "a1", status: "approved" } },
  ])("if it is of the run: %j", (body) => {
    expect(answered(body)).toBe("confirmed");
  });

  test.each([
    { id: "a1", object: "approval", type: "tool_call", status: "approved", created: 1_795_324_167 },
    { approval_id: "a1", run_id: "run_1", decision: "approve", decided_by: "U0BEN", reason: "because" },
    {
      id: "a1",
      action: "deny all",
      requested_at: "2026-11-20T10:00:00Z",
      resolved_at: "2026-11-20T10:00:01Z",
    },
    { id: "a1", name: "rotate", labels: ["db"], version: 2, expires_at: "2026-11-21T10:00:00Z" },
    { approval: "a1", run: "run_1", updated: 1, recorded: true, ack: true, skipped: false },
    { success: true, message: "You need not do anything.", timestamp: "2026-11-20T10:00:01Z" },
    { id: "a1", status: "approved", updated: "2026-11-20T10:00:01Z", resolution_note: "because" },
  ])("if it is of the approval: %j", (body) => {
    expect(answered(body)).toBe("confirmed");
  });

  test("if it repeats the request's own fields", () => {
    const asked = {
      id: "a1",
      action: "rm",
      destructive: true,
      hosts: 12,
      advice: "not by hand",
      applied: false,
    };
    const { applied, ...fields } = asked;
    expect(answered({ ...fields, status: "approved" }, { ...APPROVED, asked })).toBe("confirmed");
    expect(answered({ approval: fields }, { ...APPROVED, asked: { approval: asked } })).toBe("confirmed");
    expect(answered({ ...fields, hosts: 13 }, { ...APPROVED, asked })).toBe("unsure");
    // Words on the outcome are never part of a request, whoever wrote it.
    expect(answered({ ...fields, applied }, { ...APPROVED, asked })).toBe("unsure");
  });
});

describe("a record of the approval describes the request that was decided", () => {
  const asked = { id: "a1", action: "Delete staging", requested_at: "2026-11-20T10:00:00.400Z" };
  const sent = { ...APPROVED, asked };
  const record = { ...asked, status: "approved", resolved_at: "2026-11-20T10:05:00Z" };

  const isConfirmed = (body: object, as: SentDecision = sent) => answered(body, as) === "confirmed";

  test.each([{ action: "Delete production" }, { requested_at: "2026-11-20T10:00:01.400Z" }])(
    "so %j, which differs, does not confirm the decision",
    (other) => {
      const changed = { ...record, ...other };
      const { id: _id, ...withoutId } = changed;
      const doubted = [
        changed,
        withoutId,
        { data: changed },
        { approvals: [changed] },
        { id: "run_1", status: "running", approval: withoutId },
      ];
      expect(isConfirmed(record)).toBe(true);
      for (const body of doubted) expect(isConfirmed(body)).toBe(false);
      expect(isConfirmed(changed, { ...sent, asked: { approval: asked } })).toBe(false);
    },
  );

  test.each([
    "2026-11-20T10:00:00Z",
    "2026-11-20T10:00:01Z",
    "2026-11-20 12:00:00+02:00",
    1_795_168_800,
    1_795_168_800_400,
    "0001-01-01T00:00:00Z",
    "2026-11-20T11:00:00",
    "yesterday",
    "",
    null,
  ])("and requested_at %j may be the same time, or is no time", (requested_at) => {
    expect(isConfirmed({ ...record, requested_at })).toBe(true);
    expect(isConfirmed(record, { ...sent, asked: { ...asked, requested_at } })).toBe(true);
  });

  test("and a field that one of them does not have, or that has another type, says nothing", () => {
    for (const action of ["", null, { name: "Delete production" }]) {
      expect(isConfirmed({ ...record, action })).toBe(true);
      expect(isConfirmed(record, { ...sent, asked: { ...asked, action } })).toBe(true);
    }
    for (const other of [null, "a1", [asked, { ...asked, action: "Restart" }], { a1: "Delete staging" }])
      expect(isConfirmed(record, { ...sent, asked: other })).toBe(true);
  });

  test("and an action may name our decision, but no other one", () => {
    const naming = (action: string) => ({ ...record, decision: { approval_id: "a1", action } });
    expect(isConfirmed(naming("approve"))).toBe(true);
    expect(isConfirmed(naming(" Approved"))).toBe(true);
    expect(isConfirmed(naming("deny"))).toBe(false);
    expect(isConfirmed(naming("Delete production"))).toBe(false);
  });

  test("and the time may change if the policy calls it volatile", () => {
    const body = { ...record, requested_at: "2026-11-20T10:30:00Z" };
    expect(isConfirmed(body, { ...sent, volatile: ["requested_at"] })).toBe(true);
    const nested = { ...sent, asked: { approval: asked } };
    expect(isConfirmed(body, { ...nested, volatile: ["approval.requested_at"] })).toBe(true);
    expect(isConfirmed(body, { ...nested, volatile: ["approval.status"] })).toBe(false);
  });

  test("and records of the run and of other approvals may have other actions", () => {
    const others = [{ id: "a2", action: "Restart", requested_at: "2026-11-20T09:00:00Z" }];
    expect(isConfirmed({ id: "run_1", status: "running", action: "Tidy up", approvals: others })).toBe(true);
    expect(isConfirmed({ id: "run_1", status: "running", action: "Tidy up" })).toBe(true);
    expect(isConfirmed({ id: "run_1", status: "running", pending_approvals: others })).toBe(true);
    expect(isConfirmed({ ...record, input: { action: "Restart" } })).toBe(true);
  });
});
