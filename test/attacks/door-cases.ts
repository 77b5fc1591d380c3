// Requests to the port in HTTP mode from someone who is not Slack, or who has captured a request from Slack.

import { expect } from "vitest";
import { type Attack, attacks } from "./classes.ts";
import { FORM, JSON_TYPE, type Knock, type Met } from "./knock.ts";

export type Door = {
  readonly secret: string;
  /** Returns a command that would start a run if it were accepted. */
  readonly run: () => string;
  /** Returns a command that is answered privately and changes nothing. */
  readonly help: () => string;
  /** Returns a click on a card, as JSON. */
  readonly click: () => object;
  readonly knock: (knock: Knock) => Promise<Met>;
  readonly raw: (...pieces: readonly (Buffer | string)[]) => Promise<Met>;
  /** Returns the bytes of the whole request, to be sent or spoiled. */
  readonly bytes: (knock: Knock) => Buffer;
  /** Resolves to how long a refused connection stays open if the client never closes it (ms). Waits at most `atMostMs`. */
  shutOutAfter(atMostMs: number): Promise<number>;
  restart(): Promise<void>;
  get(path: string): Promise<{ status: number; body: string }>;
  /** Resolves to how many requests were rejected for this reason since the app started. */
  rejectedRequests(because: string): Promise<number>;
};

type Row = readonly [what: string, knock: (on: Door) => Knock, status: number];

const refused = async (on: Door, [, knock, status]: Row): Promise<void> => {
  expect((await on.knock(knock(on))).status).toBe(status);
};

const payload = (on: Door): string => `payload=${encodeURIComponent(JSON.stringify(on.click()))}`;
const unsigned = (body: string, more: Partial<Knock> = {}): Knock => ({ body, signature: null, ...more });

const sslCheck = attacks<Door, Row>(
  1,
  1,
  [
    ["ssl_check=1 with a smuggled payload", (on) => unsigned(`ssl_check=1&${payload(on)}`), 401],
    ["the payload before it", (on) => unsigned(`${payload(on)}&ssl_check=1`), 401],
    ["ssl_check=1 with a command", (on) => unsigned(`ssl_check=1&${on.run()}`), 401],
    ["ssl_check=0", (on) => unsigned(`ssl_check=0&${on.run()}`), 401],
    ["ssl_check=true", (on) => unsigned(`ssl_check=true&${on.run()}`), 401],
    ["ssl_check twice", (on) => unsigned(`ssl_check=1&ssl_check=1&${on.run()}`), 401],
    ["ssl_check as a list", (on) => unsigned(`ssl_check[]=1&${on.run()}`), 401],
    [
      "a content type with a suffix",
      (on) => unsigned(`ssl_check=1&${on.run()}`, { type: `${FORM}; charset=utf-8` }),
      401,
    ],
    [
      "in JSON",
      (on) => unsigned(JSON.stringify({ ssl_check: "1", ...on.click() }), { type: JSON_TYPE }),
      401,
    ],
    ["in the query", (on) => unsigned(on.run(), { path: "/slack/events?ssl_check=1" }), 404],
    ["alone: a constant answer, and no listener is called", () => unsigned("ssl_check=1&token=abc"), 200],
    [
      "with a body longer than its stated length",
      (on) => unsigned(`ssl_check=1&${on.run()}`, { length: "11" }),
      400,
    ],
  ],
  refused,
);

const knownSecrets = attacks<Door, Row>(
  2,
  1,
  [
    ["signed with an empty secret", (on) => ({ body: on.run(), secret: "" }), 401],
    ["signed with a blank", (on) => ({ body: on.run(), secret: " " }), 401],
    ['signed with "undefined"', (on) => ({ body: on.run(), secret: "undefined" }), 401],
    ['signed with "null"', (on) => ({ body: on.run(), secret: "null" }), 401],
    [
      "signed with the secret of Slack's documentation",
      (on) => ({ body: on.run(), secret: "8f742231b10e8888abcd99yyyzzz85a5" }),
      401,
    ],
    ["signed with half of the secret", (on) => ({ body: on.run(), secret: on.secret.slice(0, 24) }), 401],
  ],
  refused,
);

const other = (path: string): Row => [
  `rightly signed, but to ${path}`,
  (on) => ({ body: on.run(), path }),
  404,
];
const spoiled = (what: string, signature: Knock["signature"] & {}): Row => [
  what,
  (on) => ({ body: on.run(), signature }),
  401,
];
const method = (name: string): Row => [
  `${name}, rightly signed`,
  (on) => ({ body: on.run(), method: name }),
  405,
];

const wrongDoor = attacks<Door, Row>(
  3,
  1,
  [
    ...[
      "/slack/actions",
      "/slack/commands",
      "/slack/install",
      "/slack/oauth_redirect",
      "/slack/events/",
      "//slack/events",
      "/slack/../slack/events",
      "/SLACK/EVENTS",
      "/slack/event%73",
      "/slack/events;x=1",
      "/slack/events?x=1",
      "/slack/events%00",
      "http://countersign.test/slack/events",
      "/",
    ].map(other),
    ["validly signed, to the health page", (on) => ({ body: on.run(), path: "/livez" }), 405],
    ["validly signed, to the metrics", (on) => ({ body: on.run(), path: "/metrics" }), 405],
    ...["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"].map(method),
    ["no signature", (on) => unsigned(on.run()), 401],
    ["no signature, in JSON", (on) => unsigned(JSON.stringify(on.click()), { type: JSON_TYPE }), 401],
    ["another app's secret", (on) => ({ body: on.run(), secret: "9".repeat(48) }), 401],
    ["the signature of another body", (on) => ({ body: on.run(), signed: on.help() }), 401],
    spoiled("one digit changed", (right) => right.replace(/.$/, (last) => (last === "0" ? "1" : "0"))),
    spoiled("another version", (right) => right.replace("v0=", "v1=")),
    spoiled("no version", (right) => right.slice(3)),
    spoiled("an empty signature", () => "v0="),
    spoiled("a signature cut short", (right) => right.slice(0, 40)),
    spoiled("a signature that goes on", (right) => `${right}00`),
    spoiled("in capitals", (right) => `v0=${right.slice(3).toUpperCase()}`),
    spoiled("of no hexadecimal digits", () => `v0=${"z".repeat(64)}`),
    [
      "two signatures, the right one second",
      (on) => ({
        body: on.run(),
        signature: () => `v0=${"0".repeat(64)}`,
        headers: [`x-slack-signature: v0=${"1".repeat(64)}`],
      }),
      401,
    ],
  ],
  refused,
);

const stamped = (what: string, timestamp: string): Row => [
  `a time stamp ${what}`,
  (on) => ({ body: on.run(), timestamp }),
  401,
];
const seconds = String(Math.floor(Date.now() / 1_000));

const outOfTime = attacks<Door, Row>(
  4,
  1,
  [
    ["a request from ten minutes ago", (on) => ({ body: on.run(), at: -600 }), 401],
    ["a request from 310 s ago", (on) => ({ body: on.run(), at: -310 }), 401],
    ["a request from 310 s ahead", (on) => ({ body: on.run(), at: 310 }), 401],
    ["a request from tomorrow", (on) => ({ body: on.run(), at: 86_400 }), 401],
    stamped("of zero", "0"),
    stamped("in milliseconds", `${seconds}000`),
    stamped("with an exponent", "1e10"),
    stamped("in hexadecimal", "0x6553f100"),
    stamped("with a fraction", `${seconds}.0`),
    stamped("with a sign", `+${seconds}`),
    stamped("that is not a number", "NaN"),
    stamped("that is endless", "Infinity"),
    stamped("twice in one header", `${seconds}, ${seconds}`),
    [
      "two time stamps",
      (on) => ({ body: on.run(), headers: [`x-slack-request-timestamp: ${seconds}`] }),
      401,
    ],
  ],
  refused,
);

const statuses = async (on: Door, bytes: Buffer, times: number): Promise<(number | null)[]> => {
  const answers = await Promise.all(Array.from({ length: times }, () => on.raw(bytes)));
  return answers.map(({ status }) => status).toSorted((a, b) => Number(a) - Number(b));
};

const replayed: readonly Attack<Door>[] = attacks<Door, readonly [string, (on: Door) => Promise<void>]>(
  4,
  15,
  [
    [
      "the same request again",
      async (on) => {
        const bytes = on.bytes({ body: on.help() });
        expect((await on.raw(bytes)).status).toBe(200);
        expect((await on.raw(bytes)).status).toBe(409);
      },
    ],
    [
      "the same request a hundred times at once",
      async (on) => {
        const answers = await statuses(on, on.bytes({ body: on.help() }), 100);
        expect(answers).toEqual([200, ...Array<number>(99).fill(409)]);
      },
    ],
    [
      "disguised as a retry by Slack, whose headers are not signed",
      async (on) => {
        const timestamp = String(Math.floor(Date.now() / 1_000));
        const body = on.help();
        expect((await on.knock({ body, timestamp })).status).toBe(200);
        const headers = ["x-slack-retry-num: 1", "x-slack-retry-reason: http_error"];
        expect((await on.knock({ body, timestamp, headers })).status).toBe(409);
      },
    ],
    [
      "under another content type",
      async (on) => {
        const timestamp = String(Math.floor(Date.now() / 1_000));
        const body = on.help();
        expect((await on.knock({ body, timestamp })).status).toBe(200);
        const again = { body, timestamp, type: `${FORM}; charset=utf-8` };
        expect((await on.knock(again)).status).toBe(409);
      },
    ],
    [
      "after a restart",
      async (on) => {
        const bytes = on.bytes({ body: on.help() });
        expect((await on.raw(bytes)).status).toBe(200);
        await on.restart();
        expect((await on.raw(bytes)).status).toBe(409);
      },
    ],
  ],
  (on, [, attack]) => attack(on),
);

export const doorCases: readonly Attack<Door>[] = [
  ...sslCheck,
  ...knownSecrets,
  ...wrongDoor,
  ...outOfTime,
  ...replayed,
];
