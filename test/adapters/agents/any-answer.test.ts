import * as fc from "fast-check";
import { MockAgent } from "undici";
import { onTestFinished, test } from "vitest";
import { PortError } from "#src/ports.ts";
import { approval, KEY, run, serviceAt } from "./service.ts";
import { anyCodePoint } from "../../make/code-points.ts";

const BASE = "http://agents.test";
const RUN = `/v1/agent/runs/${run}`;

const word = fc.constantFrom(
  "pending",
  "approved",
  "denied",
  "expired",
  "queued",
  "awaiting_approval",
  "succeeded",
  "odd",
);
const item = fc.oneof(
  fc.jsonValue(),
  fc.record(
    { id: fc.jsonValue(), action: fc.jsonValue(), status: fc.oneof(word, fc.jsonValue()) },
    { requiredKeys: [] },
  ),
);
/** Close enough to a real answer to pass the first checks. */
const nearly = fc
  .record(
    {
      id: fc.oneof(fc.constantFrom<string>(run, approval), fc.jsonValue()),
      run_id: fc.oneof(fc.constant<string>(run), fc.jsonValue()),
      status: fc.oneof(word, fc.jsonValue()),
      decision: fc.oneof(word, fc.jsonValue()),
      output: fc.jsonValue(),
      error: fc.jsonValue(),
      ["__proto__"]: fc.jsonValue(),
      pending_approvals: fc.oneof(fc.array(item), fc.jsonValue()),
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value));
const body = fc.oneof(
  nearly,
  fc.json(),
  fc.string({ unit: anyCodePoint }),
  fc.constant(`{"error":{"message":"${KEY}"}}`),
);
const status = fc.oneof(
  fc.constantFrom(200, 201, 204, 401, 404, 409, 429),
  fc.integer({ min: 200, max: 599 }),
);
const headers = fc.record({ "retry-after": fc.string({ unit: "grapheme-ascii" }) }, { requiredKeys: [] });

const OUTCOMES = ["confirmed", "elsewhere", "later", "refused", "unsure"];

function mock() {
  const agent = new MockAgent();
  agent.disableNetConnect();
  onTestFinished(() => agent.close());
  return { agent, service: serviceAt(BASE, { dispatcher: agent }) };
}

/** Whether the error contains no key, and no wait that ends in the past. */
function isClean(error: PortError): boolean {
  return !error.message.includes(KEY) && (error.retryAfterMs ?? 0) >= 0;
}

test("whatever the answer, a look returns a snapshot of its run, a missing run, or a PortError", async () => {
  const { agent, service } = mock();
  const holds = async (status: number, body: string, headers: Record<string, string>) => {
    agent.get(BASE).intercept({ path: RUN }).reply(status, body, { headers });
    try {
      const fetched = await service.fetchRun(run);
      return fetched.type === "missing"
        ? status === 404
        : fetched.type === "snapshot" && fetched.snapshot.id === run;
    } catch (error) {
      return error instanceof PortError && isClean(error) && error.applied === "no";
    }
  };
  await fc.assert(fc.asyncProperty(status, body, headers, holds), { numRuns: 1_000 });
});

test("whatever the answer, a decision ends in one of its outcomes, and only a 2xx confirms it", async () => {
  const { agent, service } = mock();
  const path = `${RUN}/approvals/${approval}`;
  const holds = async (status: number, body: string, verdict: "approve" | "deny") => {
    agent.get(BASE).intercept({ path, method: "POST" }).reply(status, body);
    const answer = await service.sendDecision(run, approval, { verdict, reason: "" });
    const silent = !JSON.stringify(answer).includes(KEY);
    return (
      silent &&
      OUTCOMES.includes(answer.type) &&
      (answer.type !== "confirmed" || (status >= 200 && status < 300))
    );
  };
  const verdict = fc.constantFrom("approve" as const, "deny" as const);
  await fc.assert(fc.asyncProperty(status, body, verdict, holds), { numRuns: 1_000 });
});

test("whatever the answer, a creation returns a snapshot with an id, or a PortError", async () => {
  const { agent, service } = mock();
  const holds = async (status: number, body: string) => {
    agent.get(BASE).intercept({ path: "/v1/agent/runs", method: "POST" }).reply(status, body);
    try {
      return (await service.create("task", "abcdefgh")).id !== "";
    } catch (error) {
      return error instanceof PortError && isClean(error);
    }
  };
  await fc.assert(fc.asyncProperty(status, body, holds), { numRuns: 500 });
});
