import nock from "nock";
import { Pool } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { KEY, NOW, serviceAt, startServer, useNock } from "./service.ts";

const BASE = "http://agents.test";

useNock();

function answers(status: number, body: string | object, headers: Record<string, string> = {}) {
  nock(BASE).post("/v1/agent/runs").reply(status, body, headers);
  return serviceAt(BASE).create("do it", "abcdefgh");
}

describe("creating a run", () => {
  test("sends the input and nothing else, with the key and a quoted idempotency key", async () => {
    const input = '  "quoted"\n\u202e 🙂 ';
    const scope = nock(BASE, {
      reqheaders: {
        authorization: `Bearer ${KEY}`,
        "content-type": "application/json",
        "idempotency-key": '"abcdefgh"',
      },
    })
      .post("/v1/agent/runs", (body) => JSON.stringify(body) === JSON.stringify({ input }))
      .reply(201, { id: "run_1", status: "queued", input, created_at: "t" });
    await expect(serviceAt(BASE).create(input, "abcdefgh")).resolves.toMatchObject({
      id: "run_1",
      status: "queued",
      input,
      extra: { created_at: "t" },
      askedAt: NOW,
    });
    expect(scope.isDone()).toBe(true);
  });

  test.each([200, 201, 202, 299])("accepts HTTP %i", async (status) => {
    await expect(answers(status, { id: "run_1" })).resolves.toMatchObject({ id: "run_1", status: "queued" });
  });

  test.each([
    ["nothing", 204, ""],
    ["text", 200, "OK, thank you."],
    ["no id", 201, { status: "queued" }],
    ["an id that names another path", 201, { id: ".." }],
  ])("may have made a run whose id is unknown when the answer is %s", async (_what, status, body) => {
    await expect(answers(status, body)).rejects.toMatchObject({ applied: "maybe", code: "garbled" });
  });

  test.each([400, 402, 403, 404, 405, 413, 415, 422, 451])(
    "is refused for good by HTTP %i",
    async (status) => {
      const body = { error: { code: "invalid_request", message: "too long" } };
      await expect(answers(status, body)).rejects.toMatchObject({
        applied: "no",
        retry: "never",
        code: `http_${status}`,
        message: `The agent service answered HTTP ${status} (invalid_request): too long`,
      });
    },
  );

  test("waits for another key after 401, and as long as required after 429", async () => {
    await expect(answers(401, "")).rejects.toMatchObject({
      applied: "no",
      retry: "later",
      retryAfterMs: null,
    });
    await expect(answers(429, "", { "retry-after": "3" })).rejects.toMatchObject({
      applied: "no",
      retry: "later",
      retryAfterMs: 3_000,
    });
  });

  test.each([302, 307, 408, 409, 499, 500, 502, 503])(
    "may have succeeded when HTTP %i answers",
    async (status) => {
      await expect(answers(status, "")).rejects.toMatchObject({ applied: "maybe", retry: "never" });
    },
  );

  test.each(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"])("certainly failed when %s ends it", async (code) => {
    nock(BASE)
      .post("/v1/agent/runs")
      .replyWithError(Object.assign(new Error("no"), { code }));
    await expect(serviceAt(BASE).create("do it", "abcdefgh")).rejects.toMatchObject({
      applied: "no",
      retry: "later",
    });
  });

  test("certainly failed when its time is over before a connection is free", async () => {
    const { promise: arrived, resolve: onArrival } = Promise.withResolvers<void>();
    const { url, seen } = await startServer(() => onArrival());
    const dispatcher = new Pool(url, { connections: 1 });
    onTestFinished(() => dispatcher.destroy());
    const unanswered = serviceAt(url, { dispatcher }).create("first", "abcdefgh");
    unanswered.catch(() => undefined);
    await arrived;
    await expect(
      serviceAt(url, { dispatcher, timeoutMs: 200 }).create("second", "ijklmnop"),
    ).rejects.toMatchObject({
      applied: "no",
      retry: "later",
      code: "timeout",
    });
    expect(seen).toHaveLength(1);
  });

  test("may have succeeded when our own reader fails", async () => {
    nock(BASE).post("/v1/agent/runs").reply(200, { id: "run_1", status: "queued" });
    const now = () => {
      throw new RangeError("no");
    };
    await expect(serviceAt(BASE, { now }).create("do it", "abcdefgh")).rejects.toMatchObject({
      applied: "maybe",
      retry: "never",
      code: "garbled",
    });
  });

  test.each(["ECONNRESET", "EPIPE", "ETIMEDOUT"])("may have succeeded when %s ends it", async (code) => {
    nock(BASE)
      .post("/v1/agent/runs")
      .replyWithError(Object.assign(new Error("no"), { code }));
    await expect(serviceAt(BASE).create("do it", "abcdefgh")).rejects.toMatchObject({ applied: "maybe" });
  });
});
