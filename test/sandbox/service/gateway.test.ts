import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway } from "#src/sandbox/service/start-gateway.ts";
import type { Gateway } from "#src/sandbox/service/start-gateway.ts";

const text: unknown = expect.any(String);
const number: unknown = expect.any(Number);
const honest: unknown = expect.stringMatching(/not a language model.*Hello there/);

let gateway: Gateway;
const [key, otherKey] = ["one-key", "another-key"];
beforeAll(async () => {
  gateway = await startGateway({ keys: [key, otherKey] });
});
afterAll(() => gateway.stop());

async function post(
  path: string,
  body: object,
  headers: Record<string, string> = { authorization: `Bearer ${key}` },
) {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}${path}`, { headers });
  const json: unknown = await response.json();
  return { status: response.status, json };
}

const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;
const hello = { model: "any", max_tokens: 100, messages: [{ role: "user", content: "Hello there" }] };

/** The data of a stream's events, without the closing mark of the first convention. */
const events = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => parsed(line.slice(6)));

test("the status names the service and its four endpoints, without a key", async () => {
  const { status, json } = await get("/healthz");
  expect(status).toBe(200);
  expect(json).toEqual({
    service: "sandbox-gateway",
    status: "ok",
    message: text,
    endpoints: ["POST /v1/chat/completions", "POST /v1/messages", "POST /v1/embeddings", "GET /healthz"],
  });
});

test("a chat answer says that a local model gave it, the same one each time, and counts its tokens", async () => {
  const [first, second] = [
    await post("/v1/chat/completions", hello),
    await post("/v1/chat/completions", hello),
  ];
  const choices = [{ message: { role: "assistant", content: honest } }];
  expect(parsed(first.text)).toMatchObject({ object: "chat.completion", model: "local-echo-1", choices });
  expect(parsed(second.text)["choices"]).toEqual(parsed(first.text)["choices"]);
  expect(parsed(first.text)["usage"]).toMatchObject({
    prompt_tokens: 2,
    completion_tokens: number,
  });
});

test("a streamed chat says the same in pieces, with its usage when asked", async () => {
  const whole = parsed((await post("/v1/chat/completions", hello)).text) as {
    choices: [{ message: { content: string } }];
  };
  const asked = { ...hello, stream: true, stream_options: { include_usage: true } };
  const { text, type } = await post("/v1/chat/completions", asked);
  type Chunk = { choices: { delta: { content?: string } }[]; usage?: object };
  const chunks = events(text) as unknown as Chunk[];
  expect(type).toBe("text/event-stream");
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(
    whole.choices[0].message.content,
  );
  expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 2 });
});

test("a message is answered whole and as a stream in the order of its convention", async () => {
  const headers = { "x-api-key": key };
  const content = [{ type: "text", text: "Hello there" }];
  const asked = { ...hello, system: "Be brief", messages: [{ role: "user", content }] };
  const whole = parsed((await post("/v1/messages", asked, headers)).text);
  expect(whole).toMatchObject({ type: "message", stop_reason: "end_turn", usage: { input_tokens: 4 } });
  const types = events((await post("/v1/messages", { ...asked, stream: true }, headers)).text).map(
    ({ type }) => type,
  );
  expect([...new Set(types)]).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
});

test("an answer keeps to the tokens it may use, and says that it was cut off", async () => {
  const asked = { ...hello, max_tokens: 5 };
  const chat = parsed((await post("/v1/chat/completions", asked)).text) as {
    usage: { completion_tokens: number };
  };
  expect(chat).toMatchObject({ choices: [{ finish_reason: "length" }] });
  expect(chat.usage.completion_tokens).toBeLessThanOrEqual(5);
  expect(parsed((await post("/v1/messages", asked)).text)).toMatchObject({ stop_reason: "max_tokens" });
});

test("similar texts lie nearer to each other than different ones, in both encodings", async () => {
  const input = ["deploy the billing service", "deploying billing services", "a recipe for plum cake"];
  const floats = parsed((await post("/v1/embeddings", { model: "any", input })).text) as {
    data: { embedding: number[] }[];
  };
  const [a = [], b = [], c = []] = floats.data.map(({ embedding }) => embedding);
  const near = (one: number[], other: number[]) => one.reduce((sum, x, at) => sum + x * (other[at] ?? 0), 0);
  expect(near(a, a)).toBeCloseTo(1);
  expect(near(a, b)).toBeGreaterThan(near(a, c) + 0.2);

  const coded = await post("/v1/embeddings", { model: "any", input: input[0], encoding_format: "base64" });
  const { data } = parsed(coded.text) as { data: [{ embedding: string }] };
  expect(Buffer.from(data[0].embedding, "base64").readFloatLE(0)).toBeCloseTo(a[0] ?? NaN);
});

test("tokens are metered for each key", async () => {
  const headers = { authorization: `Bearer ${otherKey}` };
  await post("/v1/embeddings", { model: "any", input: "one two three" }, headers);
  expect((await get("/usage", headers)).json).toEqual({ requests: 1, input_tokens: 3, output_tokens: 0 });
});

test("no key, a wrong key, a wrong body, a wrong method and a wrong path are refused", async () => {
  expect((await post("/v1/messages", hello, {})).status).toBe(401);
  expect((await get("/usage", { "x-api-key": "no" })).status).toBe(401);
  const refused = await post("/v1/messages", { model: "any" });
  expect(refused.status).toBe(400);
  expect(parsed(refused.text)).toMatchObject({ type: "error", error: { code: "invalid_request" } });
  expect((await get("/v1/messages")).status).toBe(405);
  expect((await get("/v1/models")).status).toBe(404);
});

test("the gateway can be degraded, slow and down", async () => {
  gateway.control.status({ status: "degraded", message: "One of two models is away." });
  expect((await get("/healthz")).json).toMatchObject({ status: "degraded" });
  const slow = gateway.control.slow(1);
  expect((await get("/healthz")).status).toBe(200);
  expect(slow.hits()).toBe(1);
  slow.clear();
  await gateway.control.down();
  await expect(get("/healthz")).rejects.toThrow("fetch failed");
  await gateway.control.up();
  expect((await get("/healthz")).status).toBe(200);
});
