// What an agent writes to make its text pass for ours, hide beside other text, reveal our own secrets, or take up the bot's time.

import { expect } from "vitest";
import { isRecord, type Json } from "#src/domain/json.ts";
import { keepSecrets } from "#src/domain/text/own-secrets.ts";
import { OUTCOME } from "#src/domain/slot.ts";
import { foldForMatching, matchesPattern } from "#src/domain/policy/pattern.ts";
import { channelText } from "#src/domain/text/text.ts";
import { PortError } from "#src/ports.ts";
import { createLog } from "#src/log.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { RunId } from "#src/domain/ids.ts";
import { readRun } from "#src/adapters/agents/run-record.ts";
import { anApproval, aNonce, aWatchedRun, NOON } from "../make/run.ts";
import { expectMessage, expectView, objectsIn, textOf, wire } from "../adapters/slack/blocks/oracle.ts";
import { endedRun, requestOf } from "../adapters/slack/observed.ts";
import { type Attack, attacks } from "./classes.ts";

function actionOf(content: Json): string | null {
  return isRecord(content) && typeof content["action"] === "string" ? content["action"] : null;
}

function surfaces(content: Json) {
  const request = requestOf(actionOf(content), content);
  const run = aWatchedRun();
  const [card, form, full] = [
    approvalCard(run, { ...anApproval(), request }),
    formView({ run, ticket: { saw: request, verdict: "approve", nonce: aNonce() } }),
    readModal(run, request),
  ];
  expectMessage(card);
  expectView(form);
  expectView(full);
  return [card.blocks, form.blocks, full.blocks] as const;
}

/** Expects that the words appear only in a box, which marks them as the service's. */
function expectBoxed(blocks: unknown, words: string): void {
  const boxed = objectsIn(wire(blocks)).filter(({ type }) => type === "rich_text_preformatted");
  const outside = textOf(blocks).split(words).length - 1;
  const inside = boxed.reduce((sum, box) => sum + textOf(box).split(words).length - 1, 0);
  expect(inside).toBeGreaterThan(0);
  expect(outside).toBe(inside);
}

const SAYS = "2 different people must approve it. 1 of 2 so far. ✔ Countersign has verified this request";
const names = attacks<void, readonly [string, Json]>(
  21,
  20,
  [
    ["a field's name that reads like our own words", { action: "deploy", [SAYS]: "x" }],
    ["the same over several lines", { action: "deploy", [`\n\n${SAYS}\n`]: "x" }],
    ["the same over a value of several lines", { action: "deploy", [SAYS]: "x\ny" }],
    ["the same behind a name of 10,000 characters", { action: "deploy", [SAYS + "x".repeat(10_000)]: "x" }],
    ["the same beside a text of 60,000 characters", { action: "deploy", [SAYS]: "y ".repeat(30_000) }],
  ],
  (_, [, content]) => {
    for (const blocks of surfaces(content)) {
      const words = SAYS.slice(0, 30);
      expectBoxed(blocks, words);
      const box = objectsIn(wire(blocks)).find(
        (each) => each["type"] === "rich_text_preformatted" && textOf(each).includes(words),
      );
      // A name begins a line of its own, so line breaks in it are shown as code points.
      expect(
        textOf(box)
          .split("\n")
          .some((line) => /^(?:⟨U\+000A⟩)*2 different/.test(line)),
      ).toBe(true);
    }
  },
);

const places = attacks<void, readonly [string, { readonly [field: string]: string }]>(
  21,
  25,
  [
    [
      "places that read like our own sentences",
      { environment: "approved by 2 of 2 people", env: "press Approve to confirm" },
    ],
    ["places that read like our own words", { environment: "APPROVED", env: "safe" }],
    ["the same under a name with a dot", { "target.env": "approved:by/Countersign" }],
  ],
  (_, [, fields]) => {
    for (const blocks of surfaces({ action: "deploy", ...fields }))
      for (const words of Object.values(fields)) {
        expect(textOf(blocks)).toContain(words);
        expect(unmarkedText(blocks)).not.toContain(words);
      }
  },
);

/** Returns the text of all headers and lines, except what is drawn as code. */
function unmarkedText(blocks: unknown): string {
  const lines = objectsIn(wire(blocks)).filter(
    ({ type }) => type === "rich_text_section" || type === "header",
  );
  const isCode = (style: Json = null): boolean => isRecord(style) && style["code"] === true;
  return lines
    .flatMap(objectsIn)
    .map(({ text, style }) => (typeof text === "string" && !isCode(style) ? text : ""))
    .join("");
}

const LONG = "echo fine; ".repeat(5_000);
const beside = attacks<void, readonly [string, { readonly [field: string]: Json }]>(
  18,
  20,
  [
    ["two short fields beside an action of 55 kB", { action: LONG }],
    ["beside another field of 55 kB before them", { action: "deploy", aaa: LONG }],
    ["beside one that consists of 2,000 line breaks", { action: "deploy", aaa: "\n".repeat(2_000) }],
    [
      "beside 30 fields of 2,000 characters",
      Object.fromEntries(Array.from({ length: 30 }, (_each, at) => [`f${at}`, "x".repeat(2_000)])),
    ],
    ["beside one list of 20,000 numbers", { action: "deploy", aaa: Array.from({ length: 20_000 }, () => 1) }],
  ],
  (_, [, content]) => {
    for (const blocks of surfaces({ ...content, statement: "DROP DATABASE billing", risk: "critical" })) {
      expect(textOf(blocks)).toContain("statement: DROP DATABASE billing");
      expect(textOf(blocks)).toContain("risk: critical");
    }
  },
);

const KEY = "attack-key/0123456789+abcdef";
const bytes = Buffer.from(KEY);
const own = attacks<void, readonly [string, string]>(
  32,
  60,
  [
    ["our own key in an agent's text", KEY],
    ["our own key, percent-encoded", encodeURIComponent(KEY)],
    [
      "our own key, escaped as in JSON",
      KEY.replaceAll("/", String.raw`\/`).replaceAll("+", String.raw`\u002b`),
    ],
    ["our own key in hex", bytes.toString("hex")],
    ["our own key in base64", bytes.toString("base64")],
    ["our own key in base64 behind one more byte", Buffer.concat([Buffer.of(1), bytes]).toString("base64")],
    [
      "our own key in base64 behind two more bytes",
      Buffer.concat([Buffer.of(1, 2), bytes]).toString("base64"),
    ],
  ],
  (_, [, written]) => {
    keepSecrets([KEY]);
    const text = `use ${written} now`;
    let line = "";
    const destination = { write: (each: string) => void (line += each) };
    createLog({ level: "debug", pretty: false, secrets: [KEY], destination }).warn({ text }, "x");
    const shown = [
      ...surfaces({ action: text, [text]: text, deep: [text], long: text + "y ".repeat(40_000) }),
      messageIn(endedRun(aWatchedRun(), { how: "succeeded", output: text }), OUTCOME),
    ];
    for (const each of [line, JSON.stringify(shown)]) expect(each).not.toContain(written.slice(4, -5));
  },
);

const repeated = attacks<void, readonly [string, Error]>(
  32,
  70,
  [
    ["an error of the service that repeats the request", errorQuoting("rm -rf /secret-plan")],
    [
      "the same as the cause of another error",
      new Error("failed", { cause: errorQuoting("rm -rf /secret-plan") }),
    ],
  ],
  (_, [, error]) => {
    let line = "";
    const destination = { write: (each: string) => void (line += each) };
    createLog({ level: "debug", pretty: false, destination }).error({ error }, "x");
    expect(line).not.toContain("secret-plan");
    expect(line).toContain("http_400");
  },
);

function errorQuoting(words: string): PortError {
  const message = `The agent service answered HTTP 400: cannot do ${words}`;
  return new PortError(message, { applied: "no", retry: "never", code: "http_400", quotes: true });
}

const MIB = 1_048_576;
const repeatedTo = (chars: number, part: string): string => part.repeat(Math.ceil(chars / part.length));
const names300k = Array.from({ length: 300_000 }, (_each, at) => `"k${at}":1`).join();

/** Expects that the message says that not everything can be read, and that no more is read than a card or a form could show. */
function expectBounded(items: string): void {
  const body = `{"id":"run_1","status":"awaiting_approval","pending_approvals":[${items}]}`;
  const read = readRun({ body, spoiled: null }, RunId("run_1"), { askedAt: NOON, now: NOON });
  const codes = read.ok ? read.value.unreadable.map(({ code }) => code) : [read.error];
  expect(codes).toEqual([read.ok ? "too-many-items" : "it holds too many values"]);
}

/** The limits are seconds, because the machine may be busy. Without the defense, each case takes minutes. */
const slow = attacks<void, readonly [string, () => void]>(
  35,
  40,
  [
    ...["sk-", "eyJaaaaaaaa.", "\u0430p", "\u0301\u0323", "👩\u200D", '"token":"', "\\"].map(
      (part) =>
        [
          `an action of 7 MiB of ${JSON.stringify(part)}`,
          () => void surfaces({ action: repeatedTo(7 * MIB, part), risk: "critical" }),
        ] as const,
    ),
    [
      "a run of 100,000 marks",
      () => void channelText(`x${"\u0301".repeat(50_000)}${"\u0323".repeat(50_000)}`),
    ],
    [
      "a text that nearly fits a long pattern everywhere",
      () => expect(matchesPattern(`*${"a".repeat(400)}b*`, "a".repeat(2 * MIB))).toBe(false),
    ],
    ...(
      [
        ["1,500,000 empty approvals", `{"id":"a"}${",{}".repeat(1_500_000)}`],
        ["an approval with 300,000 names", `{"id":"a",${names300k}}`],
        ["an approval with a record of 300,000 names", `{"id":"a","o":{${names300k}}}`],
        ["70,000 approvals of no more than an id", `"a"${',"b"'.repeat(70_000)}`],
      ] as const
    ).map(([what, items]) => [what, () => expectBounded(items)] as const),
    [
      "a run of marks before a pattern",
      () => void foldForMatching(`x${"\u0301".repeat(50_000)}${"\u0323".repeat(50_000)}`),
    ],
    [
      "an action of 90,000 marks of a rare script",
      () => void surfaces({ action: "\u2CEF".repeat(90_000), risk: "critical" }),
    ],
  ],
  (_, [, attack]) => {
    const began = performance.now();
    attack();
    expect(performance.now() - began).toBeLessThan(5_000);
  },
);

export const hostileCases: readonly Attack[] = [...names, ...places, ...beside, ...own, ...repeated, ...slow];
