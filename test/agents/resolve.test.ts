import nock from "nock";
import { afterEach, describe, expect, test } from "vitest";
import type { Verdict } from "#src/core/approval.ts";
import { ApprovalId, RunId } from "#src/core/ids.ts";
import { KEY, approval, run, serviceAt } from "./service.ts";

const BASE = "http://agents.test";
const PATH = `/v1/agent/runs/${run}/approvals/${approval}`;

afterEach(() => {
  nock.cleanAll();
});

function answers(
  status: number,
  body: string | object,
  verdict: Verdict = "approve",
  headers: Record<string, string> = {},
) {
  nock(BASE).post(PATH).reply(status, body, headers);
  return serviceAt(BASE, { denyWord: "Block" }).resolve(run, approval, { verdict, reason: "" });
}

describe("a decision", () => {
  test.each([
    ["approve", "approve"],
    ["deny", "Block"],
  ] as const)(
    "to %s is sent as «%s», its reason byte for byte, also when empty",
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
        await expect(service.resolve(run, approval, { verdict, reason })).resolves.toEqual({
          is: "confirmed",
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
    ["the run", 202, { id: run, status: "running" }],
    ["an empty record", 201, {}],
    ["a status that nobody has heard of", 200, { status: "recorded" }],
    ["a status that is no text", 200, { status: 1 }],
  ])("is confirmed by %s", async (_what, status, body) => {
    await expect(answers(status, body)).resolves.toEqual({ is: "confirmed" });
  });

  test.each(["denied", "rejected", "declined", "deny", " BLOCK ", "expired", "withdrawn", "canceled"])(
    "to approve was taken elsewhere when the record says %s",
    async (status) => {
      const answer = await answers(200, { id: approval, status });
      expect(answer).toEqual({
        is: "elsewhere",
        words: `The agent service says of this approval: ${status.trim().toLowerCase()}.`,
      });
    },
  );

  test.each(["approved", "approve", "Approved", "expired"])(
    "to deny was taken elsewhere when the record says %s",
    async (status) => {
      await expect(answers(200, { status }, "deny")).resolves.toMatchObject({ is: "elsewhere" });
    },
  );

  test("to deny is confirmed by any word for it", async () => {
    for (const status of ["denied", "rejected", "block", "canceled"])
      await expect(answers(200, { status }, "deny")).resolves.toEqual({ is: "confirmed" });
  });

  test("that the record spells otherwise was taken elsewhere", async () => {
    await expect(answers(200, { decision: "deny" })).resolves.toMatchObject({ is: "elsewhere" });
  });

  test.each([
    ["still pending", { id: approval, status: "pending" }],
    ["of another approval", { id: "apr_2", status: "approved" }],
    ["of another run", { id: approval, run_id: "run_2", status: "approved" }],
    ["an error", { error: { code: "invalid_request", message: "no" } }],
    ["a list", []],
    ["a text in JSON", '"ok"'],
    ["a text", "OK, thank you."],
    ["a page", "<html>"],
    ["null", "null"],
    ["cut off", '{"id":"apr_1","stat'],
    ["nested too deeply", "[".repeat(9_000) + "]".repeat(9_000)],
  ])("is not known to have arrived when a 2xx brings a record that is %s", async (_what, body) => {
    await expect(answers(200, body)).resolves.toMatchObject({ is: "unsure" });
  });

  test("goes again after 401 and, when told, after 429", async () => {
    await expect(answers(401, "")).resolves.toMatchObject({ is: "later", afterMs: null });
    await expect(answers(429, "", "deny", { "retry-after": "9" })).resolves.toMatchObject({
      is: "later",
      afterMs: 9_000,
    });
  });

  test.each([400, 403, 404, 405, 409, 410, 413, 415, 422])(
    "is refused by HTTP %i, in the service's words",
    async (status) => {
      const body = { error: { code: "invalid_request", message: `Already resolved. ${KEY}` } };
      await expect(answers(status, body)).resolves.toEqual({
        is: "refused",
        words: `The agent service answered HTTP ${status} (invalid_request): Already resolved. [key]`,
      });
    },
  );

  test.each([300, 301, 302, 307, 308, 408, 425, 499, 500, 502, 503, 504])(
    "is not known to have arrived after HTTP %i",
    async (status) => {
      await expect(answers(status, { status: "approved" })).resolves.toMatchObject({ is: "unsure" });
    },
  );

  test("about an id that cannot stand in an address is refused unsent", async () => {
    const service = serviceAt(BASE);
    const decision = { verdict: "approve", reason: "" } as const;
    await expect(service.resolve(run, ApprovalId(".."), decision)).resolves.toMatchObject({ is: "refused" });
    await expect(service.resolve(RunId("."), approval, decision)).resolves.toMatchObject({ is: "refused" });
  });
});
