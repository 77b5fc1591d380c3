// Which HTTP requests reach Bolt, and how the others are answered.

import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  createReadBody,
  createRequestVerifier,
  MAX_BODY_BYTES,
  type ReadBody,
} from "#src/adapters/slack/request-verifier.ts";
import { FORM, JSON_TYPE, type Knock, knockOn, type Met, requestOf } from "../../attacks/knock.ts";
import { NOON } from "../../make/run.ts";

const SECRET = "a secret of nobody";
const TIMESTAMP = String(NOON / 1_000);
const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

type Passed = { readonly type: string | undefined; readonly body: string };
type Received = { readonly reasons: string[]; readonly passed: Passed[]; readonly marks: string[] };
type Given = { readonly readBody?: ReadBody; readonly seen?: () => Promise<boolean> };

async function serve({ readBody, seen = () => Promise.resolve(true) }: Given = {}) {
  const received: Received = { reasons: [], passed: [], marks: [] };
  const verifier = createRequestVerifier({
    signingSecret: SECRET,
    now: () => NOON,
    seen: {
      markSeen: (mark) => (received.marks.push(mark), seen()),
      unmark: () => Promise.resolve(),
    },
    rejectedRequests: (reason) => void received.reasons.push(reason),
    next: (request: IncomingMessage & { readonly rawBody?: Buffer }, response) => {
      received.passed.push({ type: request.headers["content-type"], body: String(request.rawBody) });
      response.writeHead(200).end();
    },
    ...(readBody !== undefined && { readBody }),
  });
  const server = createServer(verifier).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  closers.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const knock = (given: Knock, ...more: Buffer[]): Promise<Met> =>
    knockOn(url, requestOf({ timestamp: TIMESTAMP, body: "text=help", ...given }, SECRET), ...more);
  return { received, knock, url };
}

describe("the verifier passes on, with its bytes,", () => {
  test.each([
    [FORM, FORM],
    [JSON_TYPE, JSON_TYPE],
    ["Application/JSON; charset=utf-8", JSON_TYPE],
    [`${FORM};charset="UTF-8"`, FORM],
  ])("a signed %s", async (type, bare) => {
    const { received, knock } = await serve();
    expect((await knock({ type })).status).toBe(200);
    expect(received).toMatchObject({ reasons: [], passed: [{ type: bare, body: "text=help" }] });
  });

  test("a body of the maximum length", async () => {
    const { received, knock } = await serve();
    expect((await knock({ body: "x".repeat(MAX_BODY_BYTES) })).status).toBe(200);
    expect(received.passed[0]?.body.length).toBe(MAX_BODY_BYTES);
  });

  test("a request with a hundred headers", async () => {
    const { knock } = await serve();
    const headers = Array.from({ length: 94 }, (_, nth) => `x-${nth}: y`);
    expect((await knock({ headers })).status).toBe(200);
    expect((await knock({ headers: [...headers, "x-more: y"] })).status).toBe(431);
  });

  test("a request, marked by a digest that does not contain the signature", async () => {
    const { received, knock } = await serve();
    await knock({});
    expect(received.marks).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    const { all } = await knock({ body: "text=other" });
    expect(all).toContain("200 OK");
    expect(new Set(received.marks).size).toBe(2);
  });
});

describe("the verifier refuses, and does not pass on,", () => {
  test.each<[string, number, string, Knock]>([
    ["another path", 404, "other-path", { path: "/slack/event" }],
    ["the path with a query", 404, "other-path", { path: "/slack/events?" }],
    ["a GET", 405, "other-method", { method: "GET" }],
    ["no content type", 415, "other-content", { type: null }],
    ["another content type", 415, "other-content", { type: "text/plain" }],
    ["another charset", 415, "other-content", { type: `${FORM}; charset=utf-16` }],
    ["a charset with more after it", 415, "other-content", { type: `${FORM}; charset=utf-8; a=b` }],
    ["a charset in front", 415, "other-content", { type: `; charset=utf-8${FORM}` }],
    ["two content types", 415, "other-content", { headers: [`content-type: ${FORM}`] }],
    ["a compressed body", 415, "other-content", { headers: ["content-encoding: gzip"] }],
    ["no signature", 401, "unsigned", { type: JSON_TYPE, signature: null }],
    [
      "a signature without a time",
      401,
      "unsigned",
      { type: JSON_TYPE, signature: null, headers: [`x-slack-signature: v0=${"0".repeat(64)}`] },
    ],
    [
      "a time without a signature",
      401,
      "unsigned",
      { type: JSON_TYPE, signature: null, headers: [`x-slack-request-timestamp: ${TIMESTAMP}`] },
    ],
    ["a short signature", 401, "malformed-signature", { signature: (right) => right.slice(0, -1) }],
    ["a long signature", 401, "malformed-signature", { signature: (right) => `${right}0` }],
    ["a signature with a prefix", 401, "malformed-signature", { signature: (right) => `x${right}` }],
    ["another version", 401, "malformed-signature", { signature: (right) => right.replace("v0", "v1") }],
    ["two times", 401, "malformed-signature", { headers: [`x-slack-request-timestamp: ${TIMESTAMP}`] }],
    ["a time in milliseconds", 401, "malformed-signature", { timestamp: String(NOON) }],
    ["a short time", 401, "malformed-signature", { timestamp: TIMESTAMP.slice(1) }],
    ["a signature of another secret", 401, "forged", { secret: "another" }],
    ["a signature of another body", 401, "forged", { signed: "text=stop" }],
    ["a body that is not text", 400, "not-text", { body: Buffer.from([0xff, 0xfe]) }],
    ["a length above the limit", 413, "too-large", { length: String(MAX_BODY_BYTES + 1) }],
  ])("%s", async (_what, status, reason, given) => {
    const { received, knock } = await serve();
    const response = await knock(given);
    expect(response.status).toBe(status);
    expect(response.all).toMatch(/^connection: close\r$/im);
    expect(response.all).toMatch(/^content-length: 0\r$/im);
    expect(/^allow: POST\r$/im.test(response.all)).toBe(status === 405);
    expect(received).toMatchObject({ reasons: [reason], passed: [] });
  });

  test("a body that grows beyond the limit without announcing a length", async () => {
    const { received, knock } = await serve();
    const size = MAX_BODY_BYTES + 1;
    const chunk = Buffer.concat([
      Buffer.from(`${size.toString(16)}\r\n`),
      Buffer.alloc(size, "x"),
      Buffer.from("\r\n"),
    ]);
    const response = await knock({ body: "", length: null, headers: ["transfer-encoding: chunked"] }, chunk);
    expect(response.status).toBe(413);
    expect(received).toMatchObject({ reasons: ["too-large"], passed: [] });
  });

  test("a body whose connection breaks", async () => {
    const { received, url } = await serve();
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    const whole = requestOf({ timestamp: TIMESTAMP, body: "text=help", length: "50" }, SECRET);
    socket.write(whole, () => socket.destroy());
    await expect.poll(() => received.reasons).toEqual(["cut-off"]);
    expect(received.passed).toEqual([]);
  });

  test("a body that does not arrive in time", async () => {
    const { received, knock } = await serve({ readBody: createReadBody({ bodyMs: 20 }) });
    expect((await knock({ length: "50" })).status).toBe(408);
    expect(received).toMatchObject({ reasons: ["too-slow"], passed: [] });
  });

  test("a body beyond the memory for all requests; finished requests do not count", async () => {
    const { received, knock } = await serve({ readBody: createReadBody({ maxHeld: 9 }) });
    for (let nth = 0; nth < 3; nth += 1) expect((await knock({})).status).toBe(200);
    expect((await knock({ body: "text=help!" })).status).toBe(503);
    expect((await knock({})).status).toBe(200);
    expect(received.reasons).toEqual(["too-busy"]);
  });

  test("a request that was seen before, or that the store cannot look up", async () => {
    const replayed = await serve({ seen: () => Promise.resolve(false) });
    expect((await replayed.knock({})).status).toBe(409);
    expect(replayed.received).toMatchObject({ reasons: ["replayed"], passed: [] });
    const silent = await serve({ seen: () => Promise.reject(new Error("away")) });
    expect((await silent.knock({})).status).toBe(503);
    expect(silent.received).toMatchObject({ reasons: ["store-silent"], passed: [] });
  });

  test("a request on which it fails", async () => {
    const { received, knock } = await serve({ readBody: () => Promise.reject(new Error("a fault")) });
    const response = await knock({});
    expect(response.status).toBe(500);
    expect(response.all).toMatch(/^connection: close\r$/im);
    expect(received).toMatchObject({ reasons: ["verifier-failed"], passed: [] });
  });
});

describe("Slack's check of the certificate", () => {
  const unsigned = (body: string, more: Knock = {}): Knock => ({ body, signature: null, ...more });

  test.each(["ssl_check=1", "token=a-B_9&ssl_check=1", "ssl_check=1&token=a-B_9"])(
    "is answered: %s",
    async (body) => {
      const { received, knock } = await serve();
      const response = await knock(unsigned(body));
      expect(response.status).toBe(200);
      expect(response.all).toMatch(/^content-length: 0\r$/im);
      expect(received).toEqual({ reasons: [], passed: [], marks: [] });
    },
  );

  test.each([
    "ssl_check=2",
    "ssl_check=1&text=stop",
    "text=stop&ssl_check=1",
    "ssl_check=1&token=%00",
    "token=*&ssl_check=1",
    "",
  ])("is not recognized: %s", async (body) => {
    const { received, knock } = await serve();
    expect((await knock(unsigned(body))).status).toBe(401);
    expect(received).toEqual({ reasons: ["unsigned"], passed: [], marks: [] });
  });

  test("is short, and announces its length", async () => {
    const { received, knock } = await serve();
    const longest = `ssl_check=1&token=${"a".repeat(982)}`;
    expect((await knock(unsigned(longest))).status).toBe(200);
    expect((await knock(unsigned(`${longest}a`))).status).toBe(401);
    const chunked = unsigned("b\r\nssl_check=1\r\n0\r\n\r\n", {
      length: null,
      headers: ["transfer-encoding: chunked"],
    });
    expect((await knock(chunked)).status).toBe(401);
    expect(received.reasons).toEqual(["unsigned", "unsigned"]);
  });

  test("is a form", async () => {
    const { received, knock } = await serve();
    expect((await knock(unsigned("ssl_check=1", { type: JSON_TYPE }))).status).toBe(401);
    expect(received.reasons).toEqual(["unsigned"]);
  });

  test("arrives in time", async () => {
    const { received, knock } = await serve({ readBody: createReadBody({ bodyMs: 20 }) });
    expect((await knock(unsigned("ssl_check=1", { length: "20" }))).status).toBe(408);
    expect(received.reasons).toEqual(["too-slow"]);
  });
});
