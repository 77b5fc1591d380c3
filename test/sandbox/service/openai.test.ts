// The gateway's first convention, as its official client sees it. The client is not modified.

import OpenAI, { AuthenticationError, BadRequestError, NotFoundError, RateLimitError } from "openai";
import { afterEach, expect, test } from "vitest";
import { createManualClock } from "#sandbox/base/sandbox-clock.ts";
import { startGateway } from "#sandbox/service/start-gateway.ts";
import type { Gateway, GatewayOptions } from "#sandbox/service/start-gateway.ts";
import { until } from "./looking.ts";

let gateway: Gateway;
afterEach(() => gateway.stop());

async function start(options: GatewayOptions = {}): Promise<OpenAI> {
  gateway = await startGateway(options);
  return clientWith(gateway.keys[0] ?? "");
}

const clientWith = (apiKey: string, maxRetries = 0) =>
  new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries });

const model = "gpt-5";
const hello = { model, messages: [{ role: "user" as const, content: "Hello there" }] };
const honest: unknown = expect.stringMatching(/not a language model.*“Hello there”/);

test("a chat is answered by the local model, which identifies itself, with the same answer each time", async () => {
  const client = await start();
  const [one, other] = [
    await client.chat.completions.create(hello),
    await client.chat.completions.create(hello),
  ];
  expect(one).toMatchObject({
    object: "chat.completion",
    model: "local-echo-1",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: honest } }],
  });
  expect(other.choices).toEqual(one.choices);
  expect(other.id).not.toBe(one.id);
  expect(one._request_id).toMatch(/^req_/);
});

test("all kinds of messages are accepted, and all their texts are counted", async () => {
  const client = await start();
  const call = { id: "call_1", type: "function" as const, function: { name: "look", arguments: "{}" } };
  const { usage, choices } = await client.chat.completions.create({
    model,
    temperature: 0.2,
    tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
    tool_choice: "auto",
    messages: [
      { role: "developer", content: "be brief" },
      { role: "system", content: [{ type: "text", text: "be kind" }] },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "two things" },
      {
        role: "user",
        content: [
          { type: "text", text: "first part" },
          { type: "text", text: "second part" },
        ],
      },
    ],
  });
  // Two words in each of the first two and the tool's; "look { }" and two parts of two words.
  expect(usage?.prompt_tokens).toBe(2 + 2 + 3 + 2 + 4);
  expect(choices[0]?.message.content).toContain("“first part second part”");
});

test("a stream contains the same text as the whole answer, piece by piece, and ends with the same reason", async () => {
  const client = await start();
  const whole = await client.chat.completions.create(hello);
  const stream = await client.chat.completions.create({ ...hello, stream: true });
  const chunks = await Array.fromAsync(stream);
  const said = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  expect(said).toBe(whole.choices[0]?.message.content);
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
  expect(chunks.length).toBeGreaterThan(20);
});

test("a stream reports its usage at the end if requested, with the same numbers as the whole answer", async () => {
  const client = await start();
  const { usage } = await client.chat.completions.create(hello);
  const stream = await client.chat.completions.create({
    ...hello,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
  expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
});

test("the client's own helper rebuilds a whole completion from a stream", async () => {
  const client = await start();
  const whole = await client.chat.completions.create(hello);
  const runner = client.chat.completions.stream({ ...hello, stream_options: { include_usage: true } });
  const final = await runner.finalChatCompletion();
  expect(final.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
  expect(await runner.totalUsage()).toMatchObject(whole.usage ?? {});
});

test.for([1, 2, 7, 20])(
  "an answer of at most %i tokens has exactly that many, and says why it ended",
  async (most) => {
    const client = await start();
    const { choices, usage } = await client.chat.completions.create({
      ...hello,
      max_completion_tokens: most,
    });
    expect(choices[0]?.finish_reason).toBe("length");
    expect(usage?.completion_tokens).toBe(most);
    const older = await client.chat.completions.create({ ...hello, max_tokens: most });
    expect(older.choices).toEqual(choices);
    const stream = await client.chat.completions.create({ ...hello, max_tokens: most, stream: true });
    const reasons = (await Array.fromAsync(stream)).map(({ choices }) => choices[0]?.finish_reason);
    expect(reasons.at(-1)).toBe("length");
  },
);

test("an answer ends before the first stop word", async () => {
  const client = await start();
  const { choices } = await client.chat.completions.create({ ...hello, stop: ["lines", "few"] });
  expect(choices).toMatchObject([
    { message: { content: "I am the sandbox’s local model: a " }, finish_reason: "stop" },
  ]);
});

test("vectors are available as floats and as bytes, with the same values", async () => {
  const client = await start();
  const asked = { model: "text-embedding-3-small", input: ["deploy billing", "a plum cake"], dimensions: 64 };
  // By default, the client requests base64 and decodes it.
  const decoded = await client.embeddings.create(asked);
  const floats = await client.embeddings.create({ ...asked, encoding_format: "float" });
  expect(decoded.data.map(({ index }) => index)).toEqual([0, 1]);
  expect(decoded.data.map(({ embedding }) => [...embedding])).toEqual(
    floats.data.map(({ embedding }) => embedding),
  );
  expect(floats).toMatchObject({ object: "list", model: "local-hashing-1", usage: { total_tokens: 5 } });
  for (const { embedding } of floats.data) {
    expect(embedding).toHaveLength(64);
    expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
  }
  const one = await client.embeddings.create({ model: "local-hashing-1", input: "one text" });
  expect(one.data[0]?.embedding).toHaveLength(256);
});

test("each refusal becomes the matching error of the client, with a helpful text", async () => {
  const client = await start({ bodyLimit: 2_000 });
  const chat = (change: object) => client.chat.completions.create({ ...hello, ...change });
  await expect(clientWith("no").chat.completions.create(hello)).rejects.toThrow(AuthenticationError);
  await expect(chat({ messages: [] })).rejects.toThrow(BadRequestError);
  await expect(chat({ messages: [{ role: "king", content: "x" }] })).rejects.toThrow(/messages\.0\.role/);
  await expect(chat({ n: 2 })).rejects.toThrow("one answer");
  await expect(chat({ tool_choice: "required" })).rejects.toThrow("cannot call tools");
  await expect(chat({ response_format: { type: "json_object" } })).rejects.toThrow("plain text");
  const image = { type: "image_url", image_url: { url: "data:," } };
  await expect(chat({ messages: [{ role: "user", content: [image] }] })).rejects.toThrow("text parts");
  await expect(chat({ model: "no-such-model" })).rejects.toMatchObject({
    constructor: NotFoundError,
    code: "model_not_found",
    type: "not_found_error",
  });
  await expect(chat({ messages: [{ role: "user", content: "x".repeat(3_000) }] })).rejects.toMatchObject({
    status: 413,
  });
  await expect(client.models.list()).rejects.toThrow(NotFoundError);
  const embed = (input: string[]) => client.embeddings.create({ model: "text-embedding-3-small", input });
  await expect(embed(["fine", "  "])).rejects.toThrow(BadRequestError);
});

test("excess requests are refused until the stated time, and the client waits for it", async () => {
  await start();
  gateway.control.fault({}, { type: "answer", status: 429, headers: { "retry-after": "1" } });
  await clientWith(gateway.keys[0] ?? "", 1).chat.completions.create(hello);
  const [first, second] = gateway.requests.all();
  expect([first?.status, second?.status]).toEqual([429, 200]);
  // By default, it would wait half a second at most. Timers may fire a little early.
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
});

test("a key with a limit gets that many answers a minute, and is told when to retry", async () => {
  const clock = createManualClock();
  const client = await start({ clock, requestsPerMinute: 2, keys: ["one", "other"] });
  await client.chat.completions.create(hello);
  clock.advance(20_000);
  await client.chat.completions.create(hello);
  const refused = await client.chat.completions.create(hello).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RateLimitError);
  expect(refused).toMatchObject({ status: 429, type: "rate_limit_error", code: "rate_limited" });
  expect((refused as RateLimitError).headers.get("retry-after")).toBe("40");
  await clientWith("other").chat.completions.create(hello);
  clock.advance(40_000);
  await client.chat.completions.create(hello);
});

test("an aborted stream is charged for what was sent", async () => {
  const clock = createManualClock();
  const client = await start({ clock, tokenMs: 100 });
  const controller = new AbortController();
  const stream = await client.chat.completions.create(
    { ...hello, stream: true },
    { signal: controller.signal },
  );
  const got: string[] = [];
  for await (const { choices } of stream) {
    const content = choices[0]?.delta.content ?? "";
    if (content !== "") got.push(content);
    if (got.length === 3) break;
    await until(() => clock.waiting() === 1);
    clock.advance(100);
  }
  controller.abort();
  await gateway.requests.until((all) => all.every(({ done }) => done));
  await until(() => clock.waiting() === 1);
  clock.advance(60_000);
  await gateway.stop();
  expect(got).toEqual(["I ", "am ", "the "]);
  expect(gateway.requests.all()).toMatchObject([{ lost: true }]);
  expect(gateway.usage()).toMatchObject([{ requests: 1, input_tokens: 2, output_tokens: 3 }]);
});

test("a stream whose connection breaks is an error, not a shorter answer", async () => {
  const client = await start();
  gateway.control.fault({ route: "chat" }, { type: "cut" });
  const stream = await client.chat.completions.create({ ...hello, stream: true });
  await expect(Array.fromAsync(stream)).rejects.toThrow("terminated");
});

test("the key is charged what the answers report", async () => {
  const client = await start();
  const chat = await client.chat.completions.create(hello);
  const asked = { ...hello, stream: true as const, stream_options: { include_usage: true } };
  const chunks = await Array.fromAsync(await client.chat.completions.create(asked));
  const { usage } = await client.embeddings.create({
    model: "text-embedding-3-small",
    input: "three words here",
  });
  await client.chat.completions.create({ ...hello, messages: [] }).catch(() => null);
  const told = [chat.usage, chunks.at(-1)?.usage];
  const sum = (name: "prompt_tokens" | "completion_tokens") =>
    told.reduce((total, one) => total + (one?.[name] ?? 0), 0);
  expect(gateway.usage()).toMatchObject([
    {
      endpoint: "chat",
      requests: 2,
      refused: 1,
      input_tokens: sum("prompt_tokens"),
      output_tokens: sum("completion_tokens"),
    },
    { endpoint: "embeddings", requests: 1, input_tokens: usage.prompt_tokens, output_tokens: 0 },
  ]);
});
