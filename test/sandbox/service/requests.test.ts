import { afterAll, beforeAll, expect, test } from "vitest";
import { startService } from "#sandbox/service/start-service.ts";
import type { Service } from "#sandbox/service/start-service.ts";
import { asking, create, decide, pathOf, send } from "./client.ts";

let service: Service;
beforeAll(async () => {
  service = await startService({ tempo: 0, profile: { bodyLimit: 1000 } });
});
afterAll(() => service.stop());

const runs = "/v1/agent/runs";
const input = JSON.stringify({ input: "Just say hello" });
const bytes = (...all: number[]) => new Uint8Array(all);
const withKey = (authorization: string) => ({ body: input, headers: { authorization } });
const typed = (type: string, body = input) => ({ body, headers: { "content-type": type } });

const [bad, unknown, noKey] = ["invalid_request", "not_found", "unauthorized"];
const wrongRequests: [string, string, string, RequestInit, number, string, RegExp][] = [
  ["an unknown path", "GET", "/v2/health", {}, 404, unknown, /no such endpoint/],
  ["the gateway's path", "POST", "/v1/messages", { body: input }, 404, unknown, /no such endpoint/],
  ["a path with a slash too many", "GET", `${runs}/`, {}, 404, unknown, /no such endpoint/],
  ["a path with an invalid encoding", "GET", `${runs}/%E0%A4`, {}, 404, unknown, /no such endpoint/],
  ["a list of runs", "GET", runs, {}, 405, "method_not_allowed", /accepts only POST/],
  ["a PUT of a run", "PUT", `${runs}/run_0`, { body: input }, 405, "method_not_allowed", /accepts only GET/],
  ["a DELETE of a run", "DELETE", `${runs}/run_0`, {}, 405, "method_not_allowed", /accepts only GET/],
  ["a POST to health", "POST", "/v1/health", {}, 405, "method_not_allowed", /accepts only GET/],
  [
    "a GET of an approval",
    "GET",
    `${runs}/a/approvals/b`,
    {},
    405,
    "method_not_allowed",
    /accepts only POST/,
  ],
  ["an unknown run", "GET", `${runs}/run_0`, {}, 404, unknown, /no run 'run_0'/],
  ["no key", "POST", runs, withKey(""), 401, noKey, /Authorization: Bearer/],
  ["a wrong key", "POST", runs, withKey("Bearer no"), 401, noKey, /not valid/],
  ["another scheme", "POST", runs, withKey("Basic eA=="), 401, noKey, /Authorization: Bearer/],
  ["a key in two words", "POST", runs, withKey("Bearer one two"), 401, noKey, /not valid/],
  ["a key of odd letters", "POST", runs, withKey("Bearer \u00e9\u00ff%00"), 401, noKey, /not valid/],
  ["a scheme without a key", "POST", runs, withKey("Bearer"), 401, noKey, /not valid/],
  ["no content type", "POST", runs, typed(""), 415, bad, /application\/json/],
  ["a form", "POST", runs, typed("application/x-www-form-urlencoded", "input=x"), 415, bad, /JSON/],
  ["another charset", "POST", runs, typed("application/json; charset=latin1"), 415, bad, /UTF-8/],
  ["nearly the content type", "POST", runs, typed("application/jsonp"), 415, bad, /application\/json/],
  [
    "a packed body",
    "POST",
    runs,
    { body: input, headers: { "content-encoding": "gzip" } },
    415,
    bad,
    /compressed/,
  ],
  ["an empty body", "POST", runs, { body: "" }, 400, bad, /empty/],
  ["bad JSON", "POST", runs, { body: "{" }, 400, bad, /not valid JSON/],
  ["bytes that are not UTF-8", "POST", runs, { body: bytes(123, 0xff, 125) }, 400, bad, /UTF-8/],
  ["a list", "POST", runs, { body: "[]" }, 400, bad, /JSON object/],
  ["null", "POST", runs, { body: "null" }, 400, bad, /JSON object/],
  ["a duplicate name", "POST", runs, { body: '{"input":"a","in\\u0070ut":"b"}' }, 400, bad, /'input'.*once/],
  ["no input", "POST", runs, { body: "{}" }, 400, bad, /'input' is required/],
  ["an input that is not a text", "POST", runs, { body: '{"input":7}' }, 400, bad, /must be a string/],
  ["an input that is null", "POST", runs, { body: '{"input":null}' }, 400, bad, /must be a string/],
  ["an empty input", "POST", runs, { body: '{"input":""}' }, 400, bad, /not be empty/],
  ["a blank input", "POST", runs, { body: '{"input":" \\n\\u00a0"}' }, 400, bad, /not be empty/],
  ["a body over the limit", "POST", runs, { body: `{"input":"${"x".repeat(5000)}"}` }, 413, bad, /too large/],
];

test.for(wrongRequests)("%s is refused with its own status and the error record", async (wrong) => {
  const [, method, path, init, status, code, message] = wrong;
  const before = service.runs.all().length;
  const answer = await send(service, method, path, init);
  expect(answer.status).toBe(status);
  expect(answer.json).toEqual({ error: { code, message: expect.stringMatching(message) as unknown } });
  expect(service.runs.all()).toHaveLength(before);
});

test("a refusal lists the allowed methods and the scheme", async () => {
  const ask = (method: string, key: string) =>
    fetch(`${service.url}${runs}`, { method, headers: { authorization: `Bearer ${key}` } });
  expect((await ask("PATCH", service.apiKey)).headers.get("allow")).toBe("POST");
  expect((await ask("POST", "no")).headers.get("www-authenticate")).toBe("Bearer");
});

test("HEAD is refused like any other method, with an empty body", async () => {
  expect(await send(service, "HEAD", "/v1/health")).toMatchObject({ status: 405, text: "" });
});

test.for(["application/json", "application/json;charset=utf-8", 'Application/JSON; charset="UTF-8"'])(
  "a body of the type %s is accepted",
  async (type) => {
    expect((await send(service, "POST", runs, typed(type))).status).toBe(201);
  },
);

test("unknown fields and query parameters are ignored", async () => {
  const body = '{"input":"Just say hello","model":"x","inputs":{"input":"y"}}';
  const { status, json } = await send(service, "POST", `${runs}?input=z`, { body });
  expect([status, json["input"]]).toEqual([201, "Just say hello"]);
});

test.for([
  ["an unknown approval", "apr_0", { decision: "approve" }, 404, /has no approval 'apr_0'/],
  ["a word that is not a decision", null, { decision: "approved" }, 400, /must be 'approve' or 'deny'/],
  ["a decision in upper case", null, { decision: "APPROVE" }, 400, /must be 'approve' or 'deny'/],
  ["a decision that is not a text", null, { decision: true }, 400, /must be 'approve' or 'deny'/],
  ["a list of decisions", null, { decision: ["approve"] }, 400, /must be 'approve' or 'deny'/],
  ["no decision", null, { reason: "because" }, 400, /'decision' is required/],
  ["a reason that is null", null, { decision: "approve", reason: null }, 400, /'reason' must be a string/],
  ["a reason that is a record", null, { decision: "deny", reason: {} }, 400, /'reason' must be a string/],
] as const)("%s resolves nothing", async ([, approval, body, status, message]) => {
  const { id, approvals } = await asking(service);
  const answer = await decide(service, id, approval ?? approvals[0], body);
  expect(answer.status).toBe(status);
  expect(answer.json).toEqual({ error: { code: bad, message: expect.stringMatching(message) as unknown } });
  expect(service.runs.get(id)?.phase).toBe("awaiting_approval");
});

test("two decisions in one body resolve nothing", async () => {
  const { id, approvals } = await asking(service);
  const path = `${pathOf(id)}/approvals/${approvals[0]}`;
  const answer = await send(service, "POST", path, { body: '{"decision":"deny","decision":"approve"}' });
  expect(answer).toMatchObject({ status: 400, json: { error: { code: bad } } });
  expect(service.runs.get(id)?.phase).toBe("awaiting_approval");
});

test("an approval of another run is unknown, and so is one of an unknown run", async () => {
  const [one, other] = [await asking(service), await asking(service)];
  const approve = { decision: "approve" };
  expect((await decide(service, one.id, other.approvals[0], approve)).status).toBe(404);
  expect((await decide(service, "run_0", one.approvals[0], approve)).json).toEqual({
    error: { code: bad, message: "There is no run 'run_0'." },
  });
});

test("the key is checked before anything about an approval is revealed", async () => {
  const { id, approvals } = await asking(service);
  const path = `${pathOf(id)}/approvals/${approvals[0]}`;
  const body = '{"decision":"approve"}';
  const answer = await send(service, "POST", path, { body, headers: { authorization: "Bearer no" } });
  expect(answer).toMatchObject({ status: 401, json: { error: { code: noKey } } });
  expect(service.runs.get(id)?.phase).toBe("awaiting_approval");
});

test("no decision is accepted once the run has ended, and the error says why", async () => {
  const { id, approvals } = await asking(service);
  service.control.cancel(id, "an operator");
  const { status, json } = await decide(service, id, approvals[0], { decision: "approve" });
  expect(status).toBe(409);
  expect(json).toEqual({
    error: { code: bad, message: expect.stringMatching(/no longer asked for/) as unknown },
  });
});

test("a second decision is refused with 409, whatever it is", async () => {
  const { id, approvals } = await asking(service);
  expect(await decide(service, id, approvals[0], { decision: "approve" })).toMatchObject({ status: 200 });
  expect(await decide(service, id, approvals[0], { decision: "approve" })).toMatchObject({ status: 409 });
  expect(await decide(service, id, approvals[0], { decision: "deny" })).toMatchObject({ status: 409 });
});

test("an unauthorized client cannot learn which runs exist", async () => {
  const id = await create(service, "Just say hello");
  const key = { headers: { authorization: "Bearer no" } };
  const known = await send(service, "GET", pathOf(id), key);
  expect(await send(service, "GET", pathOf("run_0"), key)).toEqual(known);
});

test("the health check needs no key, and ignores a wrong one", async () => {
  const answer = await send(service, "GET", "/v1/health", { headers: { authorization: "Bearer no" } });
  expect(answer).toMatchObject({ status: 200, json: { status: "ok" } });
});

test("the recorder contains every request with its content and its answer, but never the key", async () => {
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

test("waiting for requests that do not arrive times out with the number of requests so far", async () => {
  const waiting = service.requests.until(() => false, { timeoutMs: 1 });
  await expect(waiting).rejects.toThrow(/not within 1 ms; \d+ requests so far/);
});
