// Requests that no well-behaved client sends, written byte by byte.

import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startService } from "#sandbox/service/start-service.ts";
import type { Service } from "#sandbox/service/start-service.ts";
import { until } from "./looking.ts";

let service: Service;
beforeAll(async () => {
  service = await startService({ tempo: 0, profile: { bodyLimit: 1000 } });
});
afterAll(() => service.stop());

const body = '{"input":"Just say hello"}';
const head = (...lines: string[]) =>
  [
    "POST /v1/agent/runs HTTP/1.1",
    "Host: here",
    `Authorization: Bearer ${service.apiKey}`,
    "Content-Type: application/json",
    ...lines,
    "",
    "",
  ].join("\r\n");
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const lastChunk = "0\r\n\r\n";

/** Resolves to everything that is received until the server ends the connection, or until it matches. */
function exchange(sent: string, fits: RegExp | null = null, end = false): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  socket.write(sent);
  if (end) socket.end();
  return new Promise((resolve, reject) => {
    let got = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      got += text;
      if (fits?.test(got) === true) socket.destroy();
    });
    socket.on("close", () => resolve(got));
    socket.on("error", reject);
  });
}

const refused = (status: number) => new RegExp(`^HTTP/1\\.1 ${status} [^]*"code":"invalid_request"`);

test("a chunked body is one body", async () => {
  const pieces = chunk(body.slice(0, 9)) + chunk(body.slice(9)) + lastChunk;
  expect(await exchange(head("Transfer-Encoding: chunked", "Connection: close") + pieces)).toMatch(
    /^HTTP\/1\.1 201 [^]*"status":"queued"/,
  );
});

test("a chunked body that is too large is refused, and the client can still read why", async () => {
  const before = service.runs.all().length;
  const pieces = chunk(`{"input":"${"x".repeat(900)}`) + chunk("x".repeat(900)) + chunk('"}') + lastChunk;
  expect(await exchange(head("Transfer-Encoding: chunked", "Connection: close") + pieces)).toMatch(
    refused(413),
  );
  expect(service.runs.all()).toHaveLength(before);
});

test("a client that expects 100-continue gets it", async () => {
  const expecting = head("Expect: 100-continue", `Content-Length: ${body.length}`, "Connection: close");
  expect(await exchange(expecting, /100 Continue\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 Continue/);
  expect(await exchange(expecting + body)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
});

test("an unknown expectation does not prevent an answer", async () => {
  const expecting = head("Expect: the-best", `Content-Length: ${body.length}`, "Connection: close");
  expect(await exchange(expecting + body)).toMatch(/^HTTP\/1\.1 201 /);
});

test("a body that ends before its stated length creates nothing", async () => {
  const before = service.runs.all().length;
  const seen = service.requests.all().length;
  expect(await exchange(head(`Content-Length: ${body.length + 5}`) + body, null, true)).toMatch(refused(400));
  await until(() => service.requests.all().length > seen);
  await service.requests.until((all) => all.every(({ done }) => done));
  expect(service.requests.all().at(-1)).toMatchObject({ status: null, lost: true, body: null });
  expect(service.runs.all()).toHaveLength(before);
});

test("a body beyond its stated length is cut there, and the rest is refused", async () => {
  const before = service.runs.all().length;
  const got = await exchange(head("Content-Length: 10") + body);
  expect(got).toMatch(/^HTTP\/1\.1 400 [^]*not valid JSON/);
  expect(got).toMatch(/HTTP\/1\.1 400 Bad Request[^]*not valid HTTP/);
  expect(service.runs.all()).toHaveLength(before);
});

test("a request that took effect gets its own answer, whatever follows on the connection", async () => {
  const before = service.runs.all().length;
  const got = await exchange(head(`Content-Length: ${body.length}`) + body + "and more\r\n\r\n");
  expect(got).toMatch(/^HTTP\/1\.1 201 [^]*"status":"queued"[^]*HTTP\/1\.1 400 /);
  expect(service.runs.all()).toHaveLength(before + 1);
});

test.for([
  ["two lengths", (): string => head("Content-Length: 5", `Content-Length: ${body.length}`) + body, 400],
  [
    "a length and chunks",
    (): string =>
      head(`Content-Length: ${body.length}`, "Transfer-Encoding: chunked") + chunk(body) + lastChunk,
    400,
  ],
  ["bytes that are not HTTP", (): string => "hello\r\n\r\n", 400],
  ["headers without end", (): string => head(`X-Long: ${"x".repeat(20_000)}`), 431],
] as const)(
  "%s: refused with the error record before it is parsed as a request",
  async ([, sent, status]) => {
    const before = service.requests.all().length;
    expect(await exchange(sent())).toMatch(refused(status));
    expect(service.requests.all()).toHaveLength(before);
  },
);
