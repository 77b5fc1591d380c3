// The gateway's second convention, as its official client sees it. The client is not modified.

import Anthropic, {
  AuthenticationError,
  BadRequestError,
  ContentTooLargeError,
  NotFoundError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import { afterEach, expect, test } from "vitest";
import { createManualClock } from "#sandbox/base/sandbox-clock.ts";
import { startGateway } from "#sandbox/service/start-gateway.ts";
import type { Gateway, GatewayOptions } from "#sandbox/service/start-gateway.ts";
import { until } from "./looking.ts";

let gateway: Gateway;
afterEach(() => gateway.stop());

async function start(options: GatewayOptions = {}): Promise<Anthropic> {
  gateway = await startGateway(options);
  return clientWith({ apiKey: gateway.keys[0] ?? "" });
}

/** Options that make the client independent of this machine's environment and profiles. */
const clientWith = (options: { apiKey?: string; defaultHeaders?: Record<string, string> }, maxRetries = 0) =>
  new Anthropic({ apiKey: null, authToken: null, baseURL: gateway.url, maxRetries, ...options });

const model = "claude-sonnet-5-5";
const hello = { model, max_tokens: 500, messages: [{ role: "user" as const, content: "Hello there" }] };
const honest: unknown = expect.stringMatching(/not a language model.*“Hello there”/);

test("a message is answered by the local model, which identifies itself, with the same answer each time", async () => {
  const client = await start();
  const [one, other] = [await client.messages.create(hello), await client.messages.create(hello)];
  expect(one).toMatchObject({
    type: "message",
    role: "assistant",
    model: "local-echo-1",
    content: [{ type: "text", text: honest }],
    stop_reason: "end_turn",
    stop_sequence: null,
  });
  expect(other.content).toEqual(one.content);
  expect(other.id).not.toBe(one.id);
  expect(one._request_id).toMatch(/^req_/);
});

test("the key is accepted in either header, and each request must state the version of its convention", async () => {
  const client = await start();
  const key = gateway.keys[0] ?? "";
  await client.messages.create(hello);
  const older = clientWith({ defaultHeaders: { "x-api-key": key } });
  await older.messages.create(hello);
  const shown = gateway.requests.all().map(({ headers }) => [headers["authorization"], headers["x-api-key"]]);
  expect(shown).toEqual([
    ["(not kept)", undefined],
    [undefined, "(not kept)"],
  ]);
  expect(gateway.requests.all()[0]?.headers["anthropic-version"]).toMatch(/^\d{4}-\d\d-\d\d$/);
  const wrong = clientWith({ defaultHeaders: { "x-api-key": "no" } });
  await expect(wrong.messages.create(hello)).rejects.toThrow(AuthenticationError);
  const odd = clientWith({ apiKey: key, defaultHeaders: { "anthropic-version": "newest" } });
  await expect(odd.messages.create(hello)).rejects.toThrow(/anthropic-version/);
});

test("system texts, parts, tools and their results are accepted, and all their texts are counted", async () => {
  const client = await start();
  const { usage, content } = await client.messages.create({
    ...hello,
    system: [{ type: "text", text: "be brief" }],
    tools: [{ name: "look", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: "look please" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "looking now" },
          { type: "tool_use", id: "toolu_1", name: "look", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "two things" }] },
          { type: "text", text: "and then" },
        ],
      },
    ],
  });
  expect(usage.input_tokens).toBe(2 + 2 + (2 + 3) + (2 + 2));
  expect(content).toMatchObject([{ text: expect.stringContaining("“two things and then”") as unknown }]);
});

test("a stream has all events of its convention, in order", async () => {
  const client = await start();
  const events = await Array.fromAsync(await client.messages.create({ ...hello, stream: true }));
  const types = events.map(({ type }) => type);
  expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
});

test("the client's own accumulator rebuilds the whole message from a stream", async () => {
  const client = await start();
  const whole = await client.messages.create(hello);
  const stream = client.messages.stream(hello);
  const texts: string[] = [];
  stream.on("text", (text) => texts.push(text));
  const final = await stream.finalMessage();
  expect({ ...final, id: "" }).toEqual({ ...whole, id: "", parsed_output: null });
  expect(texts.length).toBeGreaterThan(20);
  expect(texts.join("")).toBe(await stream.finalText());
});

test.for([1, 3, 30])(
  "an answer of at most %i tokens has exactly that many, and says why it ended",
  async (most) => {
    const client = await start();
    const asked = { ...hello, max_tokens: most };
    const message = await client.messages.create(asked);
    expect(message).toMatchObject({ stop_reason: "max_tokens", usage: { output_tokens: most } });
    expect(await client.messages.stream(asked).finalMessage()).toMatchObject({
      stop_reason: "max_tokens",
      content: message.content,
      usage: message.usage,
    });
  },
);

test("an answer ends before the first stop word, and names it", async () => {
  const client = await start();
  const asked = { ...hello, stop_sequences: ["lines", "model:"] };
  const ending = { stop_reason: "stop_sequence", stop_sequence: "model:" };
  const content = [{ text: "I am the sandbox’s local " }];
  expect(await client.messages.create(asked)).toMatchObject({ ...ending, content });
  expect(await client.messages.stream(asked).finalMessage()).toMatchObject({ ...ending, content });
});

test("each refusal becomes the matching error of the client, with a helpful text", async () => {
  const client = await start({ bodyLimit: 2_000 });
  const message = (change: object) => client.messages.create({ ...hello, ...change });
  await expect(clientWith({ apiKey: "no" }).messages.create(hello)).rejects.toMatchObject({
    constructor: AuthenticationError,
    type: "authentication_error",
  });
  await expect(message({ max_tokens: undefined })).rejects.toMatchObject({
    constructor: BadRequestError,
    type: "invalid_request_error",
    apiMessage: expect.stringContaining("max_tokens") as unknown,
    requestID: expect.stringMatching(/^req_/) as unknown,
  });
  await expect(message({ tool_choice: { type: "any" } })).rejects.toThrow("cannot call tools");
  await expect(message({ model: "no-such-model" })).rejects.toMatchObject({
    constructor: NotFoundError,
    type: "not_found_error",
  });
  const long = { role: "user", content: "x".repeat(3_000) };
  await expect(message({ messages: [long] })).rejects.toMatchObject({
    constructor: ContentTooLargeError,
    status: 413,
    type: "request_too_large",
  });
  await expect(client.messages.countTokens(hello)).rejects.toThrow(NotFoundError);
  await expect(client.models.list()).rejects.toThrow(NotFoundError);
});

test("a key over its limit is told when to retry, in a form that the client understands", async () => {
  const client = await start({ clock: createManualClock(), requestsPerMinute: 1 });
  await client.messages.create(hello);
  const refused = await client.messages.create(hello).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RateLimitError);
  expect((refused as RateLimitError).headers.get("retry-after")).toBe("60");
});

test("the client waits for the stated time before it retries", async () => {
  await start();
  gateway.control.fault({}, { type: "answer", status: 429, headers: { "retry-after": "1" } });
  await clientWith({ apiKey: gateway.keys[0] ?? "" }, 1).messages.create(hello);
  const [first, second] = gateway.requests.all();
  expect([first?.status, second?.status]).toEqual([429, 200]);
  // By default, it would wait half a second at most. Timers may fire a little early.
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
});

test("an aborted stream is charged for what was sent", async () => {
  const clock = createManualClock();
  const client = await start({ clock, tokenMs: 100 });
  const stream = client.messages.stream(hello);
  const got: string[] = [];
  for await (const event of stream) {
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") got.push(event.delta.text);
    if (got.length === 2) break;
    if (event.type === "content_block_delta" || event.type === "content_block_start") {
      await until(() => clock.waiting() === 1);
      clock.advance(100);
    }
  }
  stream.abort();
  await gateway.requests.until((all) => all.every(({ done }) => done));
  await until(() => clock.waiting() === 1);
  clock.advance(60_000);
  await gateway.stop();
  expect(got).toEqual(["I ", "am "]);
  expect(gateway.usage()).toMatchObject([{ endpoint: "messages", requests: 1, output_tokens: 2 }]);
});
