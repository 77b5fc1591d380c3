import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nameOfKey } from "#sandbox/service/api-keys.ts";
import { createManualClock } from "#sandbox/base/sandbox-clock.ts";
import type { ManualClock } from "#sandbox/base/sandbox-clock.ts";
import { startGateway } from "#sandbox/service/start-gateway.ts";
import type { Gateway } from "#sandbox/service/start-gateway.ts";
import { usageReport } from "#sandbox/service/usage.ts";
import { until } from "./looking.ts";

const text: unknown = expect.any(String);

let gateway: Gateway;
let clock: ManualClock;
const [key, otherKey] = ["one-key", "another-key"];
beforeEach(async () => {
  clock = createManualClock();
  gateway = await startGateway({ keys: [key, otherKey], clock });
});
afterEach(() => gateway.stop());

async function post(
  path: string,
  body: object,
  headers: Record<string, string> = { authorization: `Bearer ${key}` },
  method = "POST",
) {
  const content = { "content-type": "application/json", ...headers };
  const init = { method, headers: content, body: JSON.stringify(body) };
  const response = await fetch(`${gateway.url}${path}`, init);
  return { status: response.status, text: await response.text() };
}

async function get(path: string) {
  const response = await fetch(`${gateway.url}${path}`);
  const json: unknown = await response.json();
  return { status: response.status, json };
}

const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;
const hello = {
  model: "local-echo-1",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hello there" }],
};

test("the status page lists the service and its four endpoints, without a key", async () => {
  const { status, json } = await get("/healthz");
  expect(status).toBe(200);
  expect(json).toEqual({
    service: "sandbox-gateway",
    status: "ok",
    message: text,
    endpoints: ["POST /v1/chat/completions", "POST /v1/messages", "POST /v1/embeddings", "GET /healthz"],
  });
});

test("the tokens of each answer are charged to its key, and the report shows no key", async () => {
  const headers = { authorization: `Bearer ${otherKey}` };
  await post("/v1/embeddings", { model: "local-hashing-1", input: "one two three" }, headers);
  await post("/v1/chat/completions", { ...hello, max_tokens: 4 });
  await post("/v1/chat/completions", { ...hello, max_tokens: 0 });
  clock.advance(60 * 60_000);
  await post("/v1/messages", { ...hello, max_tokens: 4 });
  const [one, other] = [nameOfKey(key), nameOfKey(otherKey)];
  const none = { requests: 1, refused: 0, output_tokens: 0 };
  const hours = ["2026-01-05T09:00:00.000Z", "2026-01-05T10:00:00.000Z"];
  const spoken = { ...none, input_tokens: 2, output_tokens: 4 };
  expect(gateway.usage()).toEqual([
    { key: other, hour: hours[0], endpoint: "embeddings", ...none, input_tokens: 3 },
    { key: one, hour: hours[0], endpoint: "chat", ...spoken, refused: 1 },
    { key: one, hour: hours[1], endpoint: "messages", ...spoken },
  ]);
  const report = usageReport(gateway.usage());
  expect(report).toMatch(/key-\w{8} +2026-01-05 09:00 +chat +1 +1 +2 +4\n/);
  expect(report).toMatch(/\n {2}all keys +total +3 +1 +7 +8$/);
  expect(report).not.toContain(key);
  expect(report).not.toContain(otherKey);
});

test.for([
  ["no key", "POST", "/v1/messages", hello, {}, 401, "unauthorized"],
  ["a wrong key", "POST", "/v1/messages", hello, { "x-api-key": "no" }, 401, "unauthorized"],
  ["a body without messages", "POST", "/v1/messages", { model: "any" }, null, 400, "invalid_request"],
  [
    "a model that is not here",
    "POST",
    "/v1/embeddings",
    { model: "any", input: "x" },
    null,
    404,
    "model_not_found",
  ],
  [
    "a model for something else",
    "POST",
    "/v1/embeddings",
    { model: "gpt-5", input: "x" },
    null,
    404,
    "model_not_found",
  ],
  [
    "numbers for a text",
    "POST",
    "/v1/embeddings",
    { model: "local-hashing-1", input: [1, 2] },
    null,
    400,
    "invalid_request",
  ],
  ["a list", "POST", "/v1/chat/completions", [], null, 400, "invalid_request"],
  ["a wrong method", "PUT", "/v1/messages", hello, null, 405, "method_not_allowed"],
  ["a wrong path", "POST", "/v1/responses", hello, null, 404, "not_found"],
  ["the service's own path", "POST", "/v1/agent/runs", { input: "x" }, null, 404, "not_found"],
  ["a usage endpoint", "POST", "/usage", {}, null, 404, "not_found"],
] as const)(
  "%s is refused in the format of both conventions",
  async ([, method, path, body, headers, ...wanted]) => {
    const answer = await post(path, body, headers ?? { authorization: `Bearer ${key}` }, method);
    const [status, code] = wanted;
    expect(answer.status).toBe(status);
    expect(parsed(answer.text)).toEqual({
      type: "error",
      error: { type: text, code, message: text, param: null },
      request_id: text,
    });
  },
);

test("the usage and the generated key survive a restart", async () => {
  const directory = await mkdtemp(join(tmpdir(), "gateway-"));
  const statePath = join(directory, "state.gateway");
  const ask = (url: string, key: string) =>
    fetch(`${url}/v1/embeddings`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body: JSON.stringify({ model: "local-hashing-1", input: "one two three" }),
    });
  const first = await startGateway({ statePath });
  await ask(first.url, first.keys[0] ?? "");
  // This is the state that a process leaves when it is killed.
  const found = join(directory, "found");
  await copyFile(statePath, found);
  await first.stop();
  const second = await startGateway({ statePath: found });
  expect(second.keys).toEqual(first.keys);
  await ask(second.url, second.keys[0] ?? "");
  const used = second.usage();
  await second.stop();
  expect(used.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
  expect(used.reduce((sum, { input_tokens }) => sum + input_tokens, 0)).toBe(6);
  await writeFile(found, '{"version":1,"keys":"all"}');
  await expect(startGateway({ statePath: found })).rejects.toThrow("was not changed");
  expect(await readFile(found, "utf8")).toBe('{"version":1,"keys":"all"}');
  await rm(directory, { recursive: true });
});

test("the gateway can be degraded, slow and down", async () => {
  gateway.control.status({ status: "degraded", message: "One of two models is away." });
  expect((await get("/healthz")).json).toMatchObject({ status: "degraded" });
  const slow = gateway.control.slow(1_000);
  const late = get("/healthz");
  await until(() => clock.waiting() === 1);
  clock.advance(1_000);
  expect((await late).status).toBe(200);
  expect(slow.hits()).toBe(1);
  slow.clear();
  await gateway.control.down();
  await expect(get("/healthz")).rejects.toThrow("fetch failed");
  await gateway.control.up();
  expect((await get("/healthz")).status).toBe(200);
});
