// What every service that follows the interface document does. Says nothing about what the document leaves open.

import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

export type AgentServiceUnderTest = {
  readonly url: string;
  readonly apiKey: string;
  /** The document does not show it, so the caller has to say. */
  readonly denyWord: string;
  /** Tasks whose run ends by itself, asks once, and asks twice at the same time. */
  readonly tasks: { readonly ends: string; readonly asks: string; readonly asksTwice: string };
  /** Waits between two looks at a run. */
  readonly pause?: () => Promise<unknown>;
  readonly stop: () => Promise<void>;
};

type Json = Record<string, unknown>;
type Answered = { readonly status: number; readonly body: Json };

const iso8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const text: unknown = expect.any(String);
const dottedNumber: unknown = expect.stringMatching(/^\d+(\.\d+)*$/);
const over = new Set(["succeeded", "failed", "canceled"]);

export function agentServiceContract(make: () => Promise<AgentServiceUnderTest>): void {
  let service: AgentServiceUnderTest;
  beforeAll(async () => {
    service = await make();
  });
  afterAll(() => service.stop());

  async function call(method: string, path: string, content: { body?: unknown; key?: string | null } = {}) {
    const { body, key = service.apiKey } = content;
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Json };
  }

  const create = (input: string) => call("POST", "/v1/agent/runs", { body: { input } });
  const pathOf = (run: unknown) => `/v1/agent/runs/${encodeURIComponent(String(run))}`;
  const decide = (run: unknown, approval: unknown, decision: string, reason = "seen and understood") =>
    call("POST", `${pathOf(run)}/approvals/${encodeURIComponent(String(approval))}`, {
      body: { decision, reason },
    });

  async function readUntil(run: unknown, isDone: (run: Json) => boolean): Promise<Json> {
    for (;;) {
      const { body } = await call("GET", pathOf(run));
      if (isDone(body)) return body;
      await (service.pause ?? setImmediate)();
    }
  }

  async function asking(task: string) {
    const { body } = await create(task);
    const run = await readUntil(body["id"], ({ status }) => status === "awaiting_approval");
    return { id: body["id"], approvals: pendingIds(run) };
  }

  function expectRefused({ status, body }: Answered) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(body).toMatchObject({ error: { code: text, message: text } });
  }

  describe("health", () => {
    test("is available without a key", async () => {
      const { body } = await call("GET", "/v1/health", { key: null });
      expect(body).toEqual({ status: "ok", version: dottedNumber });
    });
  });

  describe("a run", () => {
    test("is queued when it is created, and echoes its input", async () => {
      const { status, body } = await create(service.tasks.ends);
      expect(status).toBeLessThan(300);
      expect(body).toMatchObject({ status: "queued", input: service.tasks.ends });
      expect(body["id"]).toEqual(text);
      expect(body["created_at"]).toMatch(iso8601);
    });

    test("that succeeds carries its output and when it completed", async () => {
      const { body } = await create(service.tasks.ends);
      const run = await readUntil(body["id"], ({ status }) => over.has(String(status)));
      expect(run).toMatchObject({ id: body["id"], status: "succeeded", output: text });
      expect(run["completed_at"]).toMatch(iso8601);
    });

    test("is not started without an input", async () => {
      expectRefused(await call("POST", "/v1/agent/runs", { body: {} }));
    });

    test("is unknown under an id that was never assigned", async () => {
      expectRefused(await call("GET", pathOf("no-such-run")));
    });
  });

  describe("an approval", () => {
    test("that is approved lets its run resume and succeed", async () => {
      const { id, approvals } = await asking(service.tasks.asks);
      const { status, body } = await decide(id, approvals[0], "approve");
      expect(status).toBeLessThan(300);
      expect(body).toMatchObject({
        id: approvals[0],
        action: text,
        status: text,
      });
      expect(body["status"]).not.toBe("pending");
      expect(body["requested_at"]).toMatch(iso8601);
      expect(body["resolved_at"]).toMatch(iso8601);
      const run = await readUntil(id, ({ status }) => over.has(String(status)));
      expect(run["status"]).toBe("succeeded");
    });

    test("that is denied lets its run leave awaiting_approval too", async () => {
      const { id, approvals } = await asking(service.tasks.asks);
      const { status } = await decide(id, approvals[0], service.denyWord);
      expect(status).toBeLessThan(300);
      await readUntil(id, ({ status }) => status !== "awaiting_approval");
    });

    test("keeps its run waiting while another is pending", async () => {
      const { id, approvals } = await asking(service.tasks.asksTwice);
      expect(approvals).toHaveLength(2);
      await decide(id, approvals[1], "approve");
      const between = await readUntil(id, (run) => pendingIds(run).length === 1);
      expect(between["status"]).toBe("awaiting_approval");
      expect(pendingIds(between)).toEqual([approvals[0]]);
      await decide(id, approvals[0], "approve");
      await readUntil(id, ({ status }) => status !== "awaiting_approval");
    });

    test("accepts no second decision", async () => {
      const { id, approvals } = await asking(service.tasks.asks);
      await decide(id, approvals[0], "approve");
      expectRefused(await decide(id, approvals[0], service.denyWord));
    });

    test("accepts no decision with an unknown word, and none under an unknown id", async () => {
      const { id, approvals } = await asking(service.tasks.asks);
      expectRefused(await decide(id, approvals[0], "perhaps"));
      expectRefused(await decide(id, "no-such-approval", "approve"));
      expectRefused(await decide("no-such-run", approvals[0], "approve"));
      expect(pendingIds((await call("GET", pathOf(id))).body)).toEqual(approvals);
    });
  });

  describe("the key", () => {
    test.for([null, "not-the-key"])("is required at every endpoint of runs: %s is refused", async (key) => {
      expectRefused(await call("POST", "/v1/agent/runs", { body: { input: service.tasks.ends }, key }));
      expectRefused(await call("GET", pathOf("some-run"), { key }));
      const path = `${pathOf("some-run")}/approvals/some-approval`;
      expectRefused(await call("POST", path, { body: { decision: "approve" }, key }));
    });
  });
}

/** The document does not show the shape of an item: it is a record with an id, or the id alone. */
function pendingIds(run: Json): unknown[] {
  const items = Array.isArray(run["pending_approvals"]) ? (run["pending_approvals"] as unknown[]) : [];
  return items.map((item) => (typeof item === "object" && item !== null && "id" in item ? item.id : item));
}
