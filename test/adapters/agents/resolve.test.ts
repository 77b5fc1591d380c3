import nock from "nock";
import { describe, expect, test } from "vitest";
import type { Verdict } from "#src/domain/approval.ts";
import { ApprovalId, RunId } from "#src/domain/ids.ts";
import { KEY, approval, run, serviceAt, useNock } from "./service.ts";

const BASE = "http://agents.test";
const PATH = `/v1/agent/runs/${run}/approvals/${approval}`;

useNock();

function answers(
  status: number,
  body: string | object,
  verdict: Verdict = "approve",
  headers: Record<string, string> = {},
) {
  nock(BASE).post(PATH).reply(status, body, headers);
  return serviceAt(BASE, { denyWord: "Block" }).sendDecision(run, approval, {
    verdict,
    reason: "Looks fine.",
  });
}

describe("a decision", () => {
  test.each([
    ["approve", "approve"],
    ["deny", "Block"],
  ] as const)(
    'to %s is sent as "%s", its reason byte for byte, also when empty',
    async (verdict, decision) => {
      for (const reason of ["", '  because \r\n\u202e \ud83d\ude42 "it" \\ ', "x".repeat(12_000)]) {
        let sent = "";
        nock(BASE, { reqheaders: { authorization: `Bearer ${KEY}`, "content-type": "application/json" } })
          .post(PATH, (body) => {
            sent = JSON.stringify(body);
            return true;
          })
          .reply(204);
        const service = serviceAt(BASE, { denyWord: "Block" });
        await expect(service.sendDecision(run, approval, { verdict, reason })).resolves.toEqual({
          type: "confirmed",
        });
        expect(sent).toBe(JSON.stringify({ decision, reason }));
      }
    },
  );

  test.each([
    ["an empty answer", 200, ""],
    ["white space", 200, " \n"],
    ["no content", 204, ""],
    [
      "the record",
      200,
      { id: approval, action: "rm", status: "approved", requested_at: "t", resolved_at: "t" },
    ],
    ["a record of its run", 200, { id: approval, run_id: run }],
    ["the run", 200, { id: run, status: "running" }],
    ["an empty record", 201, {}],
    [
      "a record with other fields only",
      200,
      { id: approval, action: "rm", risk: "high", target: { state: "CA" } },
    ],
    ["a plain yes", 200, { ok: true }],
    ["a yes beside a text", 200, { success: true, message: "Approval recorded." }],
    [
      "the record in an envelope",
      200,
      { data: { approval: { id: approval, status: "approved" } }, errors: [] },
    ],
    [
      "the record in the run",
      200,
      { id: run, status: "running", approvals: [{ id: approval, status: "approved" }] },
    ],
    [
      "the record among others",
      200,
      {
        results: [
          { id: "apr_2", status: "denied" },
          { id: approval, status: "approved" },
        ],
      },
    ],
    [
      "the run, which waits for another approval",
      200,
      { id: run, pending_approvals: [{ id: "apr_2" }, "apr_3"] },
    ],
    ["flags that say so", 200, { id: approval, isApproved: true, denied: false, resolved_at: "t" }],
    ["the reason that was sent", 200, { id: approval, reason: "Looks fine." }],
  ])("is confirmed by %s", async (_what, status, body) => {
    await expect(answers(status, body)).resolves.toEqual({ type: "confirmed" });
  });

  test.each(["denied", "rejected", "declined", "deny", " BLOCK ", "expired", "withdrawn", "canceled"])(
    "to approve was made elsewhere when the record says %s",
    async (status) => {
      const answer = await answers(200, { id: approval, status });
      expect(answer).toEqual({
        type: "elsewhere",
        words: `The agent service says of this approval: ${status.trim().toLowerCase()}.`,
        said: status.trim().toLowerCase(),
      });
    },
  );

  test.each(["approved", "approve", "Approved", "expired"])(
    "to deny was made elsewhere when the record says %s",
    async (status) => {
      await expect(answers(200, { status }, "deny")).resolves.toMatchObject({ type: "elsewhere" });
    },
  );

  test("to deny is confirmed by any word for it", async () => {
    for (const status of ["denied", "rejected", "block", "canceled"])
      await expect(answers(200, { status }, "deny")).resolves.toEqual({ type: "confirmed" });
  });

  test.each([
    ["in an envelope", { data: { approval: { id: approval, status: "denied" } } }],
    ["beside a yes", { ok: true, approval: { id: approval, status: "denied" } }],
    ["as its state", { id: approval, state: "denied" }],
    ["as a flag", { id: approval, denied: true }],
    ["as a timestamp", { id: approval, denied_at: "2026-11-20T10:00:00Z" }],
  ])("to approve was made elsewhere when the answer says denied %s", async (_where, body) => {
    await expect(answers(200, body)).resolves.toMatchObject({ type: "elsewhere" });
  });

  test("to approve was made elsewhere when the record spells the opposite verdict differently", async () => {
    await expect(answers(200, { decision: "deny" })).resolves.toMatchObject({ type: "elsewhere" });
  });

  test.each([
    ["still pending", { id: approval, status: "pending" }],
    ["of another approval", { id: "apr_2", status: "approved" }],
    ["of another run", { id: approval, run_id: "run_2", status: "approved" }],
    ["an error", { error: { code: "invalid_request", message: "no" } }],
    ["a list", []],
    ["a text in JSON", '"ok"'],
    ["a text", "OK, thank you."],
    ["an HTML page", "<html>"],
    ["null", "null"],
    ["cut off", '{"id":"apr_1","stat'],
    ["nested too deeply", "[".repeat(9_000) + "]".repeat(9_000)],
  ])("may not have arrived when a 2xx brings a record that is %s", async (_what, body) => {
    await expect(answers(200, body)).resolves.toMatchObject({ type: "unsure" });
  });

  test.each<readonly [string, number, string | object]>([
    ["ok: false", 200, { ok: false }],
    ["success: false", 200, { success: false, message: "you may not" }],
    ["a text alone", 200, { message: "you may not" }],
    ["a code alone", 200, { code: "forbidden" }],
    ["another reason than was sent", 200, { reason: "you may not" }],
    ["errors", 200, { errors: [{ message: "no" }] }],
    ["an error beside a yes", 200, { status: "approved", error: "no quorum" }],
    ["not approved", 200, { approved: false }],
    ["not approved, spelled differently", 200, { not_approved: true }],
    ["an unset resolution time", 200, { id: approval, resolved_at: "0001-01-01T00:00:00Z" }],
    ["a list of words", 200, { status: ["denied"] }],
    ["a number", 200, { status: 403 }],
    ["a nested refusal", 200, { data: { result: { status: "denied_by_policy" } } }],
    ["a nested no", 200, { status: "approved", result: { ok: false } }],
    ["the denial in another decision", 200, { decision: { id: "dec_1", verdict: "denied" } }],
    ["another approval in an envelope", 200, { approval: { id: "apr_2", status: "approved" } }],
    ["the approval, still pending", 200, { approval: { id: approval, status: "pending" } }],
    ["the run, which still lists it", 200, { id: run, status: "running", pending_approvals: [approval] }],
    ["the run, canceled", 200, { id: run, status: "canceled" }],
    ["accepted for later", 202, { id: approval, status: "approved" }],
    ["accepted for later without a word", 202, ""],
    ["several statuses", 207, { results: [{ id: approval, status: 403 }] }],
    ["very many values", 200, { list: Array.from({ length: 50_000 }, () => 1) }],
    ...[
      "refused",
      "blocked",
      "disapproved",
      "not_approved",
      "denied_by_policy",
      "auto-denied",
      "invalid",
      "queued",
      "recorded",
      "accepted",
      "awaiting_second_approval",
    ].map((status) => [status, 200, { id: approval, status }] as [string, number, object]),
  ])("is not confirmed by an answer that says %s, which is quoted", async (_what, status, body) => {
    const answer = await answers(status, body);
    expect(answer).toMatchObject({ type: "unsure" });
    const quoted = answer.type === "unsure" ? (answer.answered ?? "") : "";
    expect(quoted).not.toBe("");
    expect(quoted.length).toBeLessThanOrEqual(320);
    expect(quoted).toContain(body === "" ? "HTTP 202 Accepted" : JSON.stringify(body).slice(0, 40));
  });

  test.each([{ approved: true }, { status: "approved" }])(
    "to deny was made elsewhere when the answer is %j",
    async (body) => {
      await expect(answers(200, body, "deny")).resolves.toMatchObject({ type: "elsewhere" });
    },
  );

  test.each(["executed", "running", "completed", "accepted", "confirmed"])(
    "to deny is not confirmed by %s",
    async (status) => {
      await expect(answers(200, { status }, "deny")).resolves.toMatchObject({ type: "unsure" });
    },
  );

  test("is quoted without the key", async () => {
    const answer = await answers(200, { ok: false, message: `Bearer ${KEY}` });
    expect(JSON.stringify(answer)).not.toContain(KEY);
  });

  test.each([500, 502, 503, 504])("waits as long as HTTP %i says", async (status) => {
    const answer = await answers(status, "", "approve", { "retry-after": "20" });
    expect(answer).toMatchObject({ type: "unsure", afterMs: 20_000, failedWith: status });
    expect(answer).not.toHaveProperty("answered");
  });

  test("is sent again after 401 and, when allowed, after 429", async () => {
    await expect(answers(401, "")).resolves.toMatchObject({ type: "later", afterMs: null });
    await expect(answers(429, "", "deny", { "retry-after": "9" })).resolves.toMatchObject({
      type: "later",
      afterMs: 9_000,
    });
  });

  test.each([400, 403, 404, 405, 409, 410, 413, 415, 422])(
    "is refused by HTTP %i, in the service's words",
    async (status) => {
      const body = { error: { code: "invalid_request", message: `Already resolved. ${KEY}` } };
      await expect(answers(status, body)).resolves.toEqual({
        type: "refused",
        words: `The agent service answered HTTP ${status} (invalid_request): Already resolved. [key]`,
        code: `http_${status}`,
      });
    },
  );

  test("is refused with a message that contains no half of a secret, however much white space precedes it", async () => {
    const code = `no${" ".repeat(580)}ghp_${"canary0123".repeat(4)}`;
    await expect(answers(409, { error: { code, message: "" } })).resolves.toMatchObject({
      words: expect.not.stringContaining("canary") as unknown,
    });
  });

  test.each([300, 301, 302, 307, 308, 408, 425, 499, 500, 502, 503, 504])(
    "may not have arrived after HTTP %i",
    async (status) => {
      await expect(answers(status, { status: "approved" })).resolves.toMatchObject({ type: "unsure" });
    },
  );

  test("about an id that cannot be part of a URL is refused unsent", async () => {
    const service = serviceAt(BASE);
    const decision = { verdict: "approve", reason: "" } as const;
    await expect(service.sendDecision(run, ApprovalId(".."), decision)).resolves.toMatchObject({
      type: "refused",
    });
    await expect(service.sendDecision(RunId("."), approval, decision)).resolves.toMatchObject({
      type: "refused",
    });
  });
});
