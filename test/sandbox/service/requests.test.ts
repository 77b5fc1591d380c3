import { afterAll, beforeAll, expect, test } from "vitest";
import { startService } from "#src/sandbox/service/start-service.ts";
import type { Service } from "#src/sandbox/service/start-service.ts";
import { asking, create, decide, pathOf, send } from "./client.ts";

const text: unknown = expect.any(String);

let service: Service;
beforeAll(async () => {
  service = await startService({ tempo: 0, profile: { bodyLimit: 1000 } });
});
afterAll(() => service.stop());

const runs = "/v1/agent/runs";
const input = JSON.stringify({ input: "Just say hello" });
const wrongRequests: [string, string, string, RequestInit, number, string][] = [
  ["an unknown path", "GET", "/v2/health", {}, 404, "not_found"],
  ["a path with a slash too many", "GET", `${runs}/`, {}, 404, "not_found"],
  ["a path that is no encoding", "GET", `${runs}/%E0%A4`, {}, 404, "not_found"],
  ["a wrong method", "PUT", runs, {}, 405, "method_not_allowed"],
  ["a list of runs", "GET", runs, {}, 405, "method_not_allowed"],
  ["an unknown run", "GET", `${runs}/run_0`, {}, 404, "not_found"],
  ["no key", "POST", runs, { body: input, headers: { authorization: "" } }, 401, "unauthorized"],
  [
    "a wrong key",
    "POST",
    runs,
    { body: input, headers: { authorization: "Bearer no" } },
    401,
    "unauthorized",
  ],
  [
    "another scheme",
    "POST",
    runs,
    { body: input, headers: { authorization: "Basic eA==" } },
    401,
    "unauthorized",
  ],
  ["no content type", "POST", runs, { body: input, headers: { "content-type": "" } }, 415, "invalid_request"],
  [
    "a form",
    "POST",
    runs,
    { body: "input=x", headers: { "content-type": "text/plain" } },
    415,
    "invalid_request",
  ],
  ["bad JSON", "POST", runs, { body: "{" }, 400, "invalid_request"],
  [
    "bytes that are no UTF-8",
    "POST",
    runs,
    { body: new Uint8Array([123, 0xff, 125]) },
    400,
    "invalid_request",
  ],
  ["a list", "POST", runs, { body: "[]" }, 400, "invalid_request"],
  ["no input", "POST", runs, { body: "{}" }, 400, "invalid_request"],
  ["an input that is no text", "POST", runs, { body: '{"input":7}' }, 400, "invalid_request"],
  ["a blank input", "POST", runs, { body: '{"input":" \\n"}' }, 400, "invalid_request"],
  [
    "a body over the limit",
    "POST",
    runs,
    { body: `{"input":"${"x".repeat(5000)}"}` },
    413,
    "invalid_request",
  ],
];

test.for(wrongRequests)("%s is refused with its own status and the error record", async (wrong) => {
  const [, method, path, init, status, code] = wrong;
  const before = service.runs.all().length;
  const answer = await send(service, method, path, init);
  expect(answer).toMatchObject({ status, json: { error: { code, message: text } } });
  expect(service.runs.all()).toHaveLength(before);
});

test.for([
  ["an unknown approval", "apr_0", { decision: "approve" }, 404],
  ["a word that is no decision", null, { decision: "approved" }, 400],
  ["no decision", null, { reason: "because" }, 400],
  ["a reason that is no text", null, { decision: "approve", reason: null }, 400],
] as const)("%s resolves nothing", async ([, approval, body, status]) => {
  const { id, approvals } = await asking(service);
  const answer = await decide(service, id, approval ?? approvals[0], body);
  expect(answer).toMatchObject({ status, json: { error: { code: "invalid_request" } } });
  expect(service.runs.get(id)?.phase).toBe("awaiting_approval");
});

test("a second decision is refused with 409, whatever it says", async () => {
  const { id, approvals } = await asking(service);
  expect(await decide(service, id, approvals[0], { decision: "approve" })).toMatchObject({ status: 200 });
  expect(await decide(service, id, approvals[0], { decision: "approve" })).toMatchObject({ status: 409 });
  expect(await decide(service, id, approvals[0], { decision: "deny" })).toMatchObject({ status: 409 });
});

test("an unauthorized client does not learn which runs exist", async () => {
  const id = await create(service, "Just say hello");
  const key = { headers: { authorization: "Bearer no" } };
  const known = await send(service, "GET", pathOf(id), key);
  expect(await send(service, "GET", pathOf("run_0"), key)).toEqual(known);
});

test("health needs no key, and does not mind a wrong one", async () => {
  const answer = await send(service, "GET", "/v1/health", { headers: { authorization: "Bearer no" } });
  expect(answer).toMatchObject({ status: 200, json: { status: "ok" } });
});

test("the recorder has every request with its content and its answer, and never the key", async () => {
  service.requests.clear();
  const { id, approvals } = await asking(service);
  await decide(service, id, approvals[0], { decision: "deny", reason: "not on a Friday\u202e" });
  await send(service, "GET", "/v1/health", { headers: { authorization: "Bearer no" } });
  const requests = await service.requests.until((all) => all.length === 3 && all.every(({ done }) => done));
  expect(requests.map(({ route, key, status, lost }) => [route, key, status, lost])).toEqual([
    ["create-run", "right", 201, false],
    ["decide", "right", 200, false],
    ["health", "wrong", 200, false],
  ]);
  expect(requests[1]?.body).toBe(JSON.stringify({ decision: "deny", reason: "not on a Friday\u202e" }));
  expect(JSON.stringify(requests)).not.toContain(service.apiKey);
  expect(service.requests.forgotten()).toBe(0);
});

test("waiting for requests that do not come ends with what did come", async () => {
  const waiting = service.requests.until(() => false, { timeoutMs: 1 });
  await expect(waiting).rejects.toThrow(/not within 1 ms; \d+ requests so far/);
});
