import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRecord } from "#src/domain/json.ts";
import type { Request } from "#src/domain/approval.ts";
import { FORM_ROOM, requestLayout } from "#src/domain/text/request-layout.ts";
import { sentParts } from "#src/domain/text/request-text.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { changedModal, formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { aNonce, anApproval, aWatchedRun } from "../../../make/run.ts";
import { requestOf } from "../observed.ts";
import { always, anyRequest, anyText, RUNS } from "./hostile.ts";
import { expectMessage, expectView, lettersOf, objectsIn, textOf, wire } from "./oracle.ts";

const run = aWatchedRun();
const LEFT_OUT = /([\d,]+) more fields? (?:is|are) not shown here/;
/** The number of cases for slow properties. */
const FEWER = RUNS / 5;
/** How much of each name and text is certainly shown (characters of the original). */
const SURE_CHARS = 4;

function surfaces(request: Request): readonly unknown[] {
  const card = approvalCard(run, { ...anApproval(), request });
  const views = [
    formView({ run, ticket: { saw: request, verdict: "deny", nonce: aNonce() } }),
    readModal(run, request),
    changedModal(run, request, request),
  ];
  expectMessage(card);
  for (const view of views) expectView(view);
  return [card.blocks, ...views.map(({ blocks }) => blocks)];
}

/** The card writes a name such as `target_env` as "Target env". */
const plainLetters = (text: string): string => lettersOf(text).replace(/[_.-]/g, "").toLowerCase();

function expectEachField(blocks: unknown, request: Request): void {
  const { fields } = sentParts(request);
  const shown = textOf(blocks);
  const letters = plainLetters(shown);
  const found = new Map<string, boolean>();
  // Thousands of fields may begin alike, so the results are cached.
  const isSeen = (beginning: string): boolean => {
    const known = found.get(beginning) ?? letters.includes(plainLetters(beginning));
    found.set(beginning, known);
    return known;
  };
  const begins = (text: string): boolean => isSeen(text.slice(0, SURE_CHARS));
  // The card gives each value of a record a row of its own, such as "Target env: production", without the braces.
  const hasRow = (name: string): boolean => {
    const value = isRecord(request.content) ? request.content[name] : undefined;
    const [first] = value !== undefined && isRecord(value) ? Object.entries(value) : [];
    return first !== undefined && begins(first[0]) && begins(JSON.stringify(first[1]).replace(/^"/, ""));
  };
  const seen = fields.filter(
    ({ name, text }) => (begins(text) || hasRow(name)) && (name === "" ? isSeen("(no name)") : begins(name)),
  );
  const more = LEFT_OUT.exec(shown);
  const left = more === null ? 0 : Number((more[1] ?? "").replaceAll(",", ""));
  expect(seen.length + left, "fields that are seen or counted").toBeGreaterThanOrEqual(fields.length);
}

describe("whatever a request contains, on the card and in forms", () => {
  test("a record with one short value is shown", () => {
    const request = requestOf("deploy", { A: { A: 0 } });
    for (const blocks of surfaces(request)) expectEachField(blocks, request);
  });

  test("each field is shown by its name and the beginning of its text, or the others are counted", () => {
    always(anyRequest, (request) => {
      for (const blocks of surfaces(request)) expectEachField(blocks, request);
    });
  });

  test("up to twenty fields are all shown, however long they are", () => {
    const long = fc
      .tuple(anyText, fc.constantFrom(0, 10, 500, 30_000))
      .map(([text, times]) => text + "x ".repeat(times));
    const records = fc.dictionary(fc.stringMatching(/^[a-z]{1,12}$/), long, { minKeys: 1, maxKeys: 20 });
    always(
      records,
      (fields) => {
        const request = requestOf("deploy", { ...fields, action: "deploy" });
        for (const blocks of surfaces(request)) {
          expectEachField(blocks, request);
          expect(textOf(blocks)).not.toMatch(LEFT_OUT);
        }
      },
      FEWER,
    );
  });

  test("no name and no text of a field is outside a box", () => {
    const mark = "QZQ";
    always(
      fc.tuple(anyText, anyText, fc.boolean()),
      ([name, text, long]) => {
        const value = `${mark}${text}${long ? "y ".repeat(30_000) : ""}`;
        for (const blocks of surfaces(requestOf("deploy", { action: "deploy", [mark + name]: value }))) {
          const outside = objectsIn(wire(blocks)).filter(({ type }) => type === "rich_text_section");
          expect(textOf(outside)).not.toContain(mark);
        }
      },
      FEWER,
    );
  });
});

test("the remark on fields that may change is outside the boxes, so no field of the service passes for it", () => {
  const REMARK = "These fields may change without notice.";
  const outside = (blocks: unknown): string =>
    textOf(objectsIn(wire(blocks)).filter(({ type }) => type === "rich_text_section"));
  for (const pad of ["", "x ".repeat(2_500), "x ".repeat(30_000)]) {
    const content = {
      target: "a",
      trace: "t",
      pad,
      "May change without notice": "target",
      [REMARK]: "target",
    };
    const sent = requestOf("deploy", content);
    for (const blocks of surfaces(sent)) {
      expect(outside(blocks)).not.toContain("may change");
      expect(textOf(blocks)).toContain("May change without notice: target");
    }
    const shownContext = { fields: { usage: 1 }, volatile: ["usage"], digest: "d", chars: 8 };
    const [card, ...views] = surfaces({ ...sent, volatile: ["trace"], shownContext });
    expect(outside(card).split(REMARK)).toHaveLength(2);
    for (const view of views) expect(outside(view).split(REMARK).length).toBeGreaterThan(2);
    for (const blocks of [card, ...views])
      expect(JSON.stringify(blocks)).toContain(
        'decided:","style":{"italic":true}}]},{"type":"rich_text_preformatted","elements":[{"type":"text","text":"trace"}]}',
      );
  }
});

test("the form of a request that is attached as a file stays within its limit, however many fields there are", () => {
  for (const many of [100, 400, 4_000]) {
    const decoys = Object.fromEntries(Array.from({ length: many }, (_, at) => [`field_${at}`, at]));
    const request = requestOf("deploy", { ...decoys, action: "deploy", pad: "x".repeat(60_000) });
    const { shown, named } = requestLayout(request, FORM_ROOM, "open");
    const chars = [...shown.flatMap((each) => [each.name, each.head, each.tail]), ...named].join("").length;
    expect(chars).toBeLessThanOrEqual(FORM_ROOM.most);
  }
});

test("short fields come before long ones, and both ends of a long one are shown", () => {
  const action = `begin ${"x ".repeat(30_000)}end`;
  const request = requestOf(action, { action, log: `first ${"y ".repeat(30_000)}last`, risk: "critical" });
  expect(isRecord(request.content)).toBe(true);
  for (const blocks of surfaces(request)) {
    const shown = textOf(blocks);
    const places = ["begin x", "end", "risk: critical", "first y", "last"].map((each) => shown.indexOf(each));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(shown.indexOf("risk: critical")).toBeLessThan(shown.indexOf("first y"));
    expect(shown).toMatch(/characters between these two parts are not shown here/);
  }
});
