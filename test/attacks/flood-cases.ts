// Requests that try to break, fill or block the port, and GET requests that try to change something.

import { expect } from "vitest";
import { type Attack, attacks } from "./classes.ts";
import type { Door } from "./door-cases.ts";
import { FORM, JSON_TYPE, type Knock } from "./knock.ts";

type Row = readonly [what: string, knock: (on: Door) => Knock, status: number];
const refused = async (on: Door, [, knock, status]: Row): Promise<void> => {
  expect((await on.knock(knock(on))).status).toBe(status);
};

const typed = (type: string | null): Row => [
  `a content type of ${type ?? "none"}`,
  (on) => ({ body: on.run(), type }),
  415,
];
const TOO_LONG = 1_000_001;
const deep = `{"payload":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;

const bodies = attacks<Door, Row>(
  7,
  1,
  [
    ["a body of more than 1 MB", () => ({ body: `text=${"x".repeat(TOO_LONG)}` }), 413],
    ["an announced length of 200 MB", (on) => ({ body: on.run(), length: "200000000" }), 413],
    typed(null),
    typed("text/plain"),
    typed("multipart/form-data; boundary=x"),
    typed("application/xml"),
    typed(`${FORM}; charset=utf-7`),
    typed(`${FORM}, ${JSON_TYPE}`),
    ["two content types", (on) => ({ body: on.run(), headers: [`content-type: ${JSON_TYPE}`] }), 415],
    ["a compressed body", (on) => ({ body: on.run(), headers: ["content-encoding: gzip"] }), 415],
    [
      "a hundred more headers",
      (on) => ({ body: on.run(), headers: Array.from({ length: 100 }, (_, at) => `x-${at}: 1`) }),
      431,
    ],
    ["a header of 20 kB", (on) => ({ body: on.run(), headers: [`x-long: ${"x".repeat(20_000)}`] }), 431],
    ["two lengths", (on) => ({ body: on.run(), headers: ["content-length: 1"] }), 400],
    ["a length and chunks", (on) => ({ body: on.run(), headers: ["transfer-encoding: chunked"] }), 400],
    ["a length that is not a number", (on) => ({ body: on.run(), length: "0x10" }), 400],
    ["a negative length", (on) => ({ body: on.run(), length: "-1" }), 400],
    ["bytes that are not text, validly signed", () => ({ body: Buffer.from([0x74, 0x3d, 0xff, 0xfe]) }), 400],
    ["JSON that ends too early, validly signed", () => ({ body: '{"type":', type: JSON_TYPE }), 400],
    ["a payload that is not JSON, validly signed", () => ({ body: "payload=%7B%22type%22" }), 400],
    ["a body shorter than its length", (on) => ({ body: on.run(), length: "5000" }), 408],
  ],
  refused,
);

const pieces: readonly Attack<Door>[] = attacks<Door, readonly [string, (on: Door) => Promise<void>]>(
  7,
  21,
  [
    [
      "chunks without an end",
      async (on) => {
        const head = on.bytes({ length: null, headers: ["transfer-encoding: chunked"] }).toString();
        const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
        const answer = await on.raw(head, ...Array<string>(80).fill(chunk));
        // The connection may be closed before the answer is read.
        expect([413, null]).toContain(answer.status);
      },
    ],
    [
      "headers that never end",
      async (on) =>
        expect((await on.raw("POST /slack/events HTTP/1.1\r\nhost: x\r\nx-a: ")).status).toBe(408),
    ],
    [
      "something other than HTTP",
      async (on) => expect((await on.raw("\u0016\u0003\u0001 hello\r\n\r\n")).status).toBe(400),
    ],
    [
      "the preface of HTTP/2",
      async (on) => expect((await on.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).status).not.toBe(200),
    ],
    ["no host", async (on) => expect((await on.raw("POST /slack/events HTTP/1.1\r\n\r\n")).status).toBe(400)],
    [
      "a second request behind a refused one",
      async (on) => {
        const first = on.bytes({ body: on.run(), signature: null });
        const second = on.bytes({ body: on.run(), signature: null });
        const { all } = await on.raw(Buffer.concat([first, second]));
        // Which of the two answers comes depends on how the bytes arrive. Nothing is accepted, and the connection ends.
        expect(all.match(/HTTP\/1\.1 \d+/g)).toEqual([expect.stringMatching(/40[01]$/)]);
      },
    ],
    [
      "JSON with 20,000 levels, validly signed",
      async (on) => {
        // Bolt recognizes no type of payload, calls no listener, and lets the request wait until its three seconds are over.
        expect((await on.knock({ body: deep, type: JSON_TYPE })).status).not.toBe(200);
      },
    ],
    [
      "a prototype for every record, validly signed",
      async (on) => {
        const body = JSON.stringify({ type: "nothing" }).replace("{", '{"__proto__":{"polluted":"yes"},');
        await on.knock({ body, type: JSON_TYPE });
        expect("polluted" in {}).toBe(false);
      },
    ],
    [
      "an upgrade to a web socket",
      async (on) => {
        const headers = ["upgrade: websocket", "sec-websocket-version: 13", "sec-websocket-key: x"];
        expect((await on.knock({ body: on.run(), signature: null, headers })).status).toBe(401);
      },
    ],
  ],
  (on, [, attack]) => attack(on),
);

const fetched = attacks<Door, readonly [path: string, status: number]>(
  24,
  1,
  [
    ["/", 404],
    ["/livez", 200],
    ["/readyz", 200],
    ["/metrics", 200],
    ["/slack/events", 405],
    ["/slack/events?payload=%7B%22type%22%3A%22block_actions%22%7D", 404],
    ["/slack/events?command=%2Fagent&text=run+x", 404],
    ["/approve?run=run_1&approval=apr_1", 404],
    ["/v1/agent/runs/run_1/approvals/apr_1?decision=approve", 404],
    ["/favicon.ico", 404],
  ],
  async (on, [path, status]) => expect((await on.get(path)).status).toBe(status),
);

const floods: readonly Attack<Door>[] = attacks<Door, readonly [string, (on: Door) => Promise<void>]>(
  35,
  1,
  [
    [
      "300 unsigned requests at once: each is refused and counted, and the app answers beside them",
      async (on) => {
        const before = await on.rejectedRequests("unsigned");
        const bytes = on.bytes({ body: on.run(), signature: null });
        const storm = Promise.all(Array.from({ length: 300 }, () => on.raw(bytes)));
        expect((await on.get("/livez")).status).toBe(200);
        expect(new Set((await storm).map(({ status }) => status))).toEqual(new Set([401]));
        expect(await on.rejectedRequests("unsigned")).toBeGreaterThanOrEqual(before + 300);
      },
    ],
    [
      "60 bodies that never come: a signed request is served meanwhile",
      async (on) => {
        const bytes = on.bytes({ body: on.run(), length: "900000" });
        const storm = Promise.all(Array.from({ length: 60 }, () => on.raw(bytes)));
        expect((await on.knock({ body: on.help() })).status).toBe(200);
        expect(new Set((await storm).map(({ status }) => status))).toEqual(new Set([408]));
      },
    ],
    [
      "refused connections that are kept half open do not keep their places",
      async (on) => {
        const kept = await Promise.all(Array.from({ length: 20 }, () => on.shutOutAfter(10_000)));
        expect(Math.max(...kept)).toBeLessThan(5_000);
      },
    ],
  ],
  (on, [, attack]) => attack(on),
);

export const floodCases: readonly Attack<Door>[] = [...bodies, ...pieces, ...fetched, ...floods];
