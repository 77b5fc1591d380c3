import * as fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parseJson } from "#src/domain/json.ts";

const digits = fc.string({ unit: fc.nat({ max: 9 }).map(String), maxLength: 20 });
const written = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.constantFrom("0", "1", "9"),
    digits,
    fc.constantFrom("", ".", "e", "E-", "e+"),
    digits,
  )
  .map(
    ([sign, first, more, mark, last]) =>
      `${sign}${first}${first === "0" ? "" : more}${mark === "" ? "" : `${mark}${last}0`}`,
  );
const text = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 3 },
    written,
    fc.string().map((each) => JSON.stringify(each)),
    fc.array(tie("text"), { maxLength: 3 }).map((members) => `[${members.join(",")}]`),
    fc
      .tuple(fc.constantFrom(" ", "", "\n"), fc.constantFrom(" ", "", "\n"), tie("text"))
      .map(([before, after, member]) => `{"a"${before}:${after}${member}}`),
  ),
})).text;

describe("parsed text", () => {
  test("keeps every number exactly as it was written", () => {
    fc.assert(
      fc.property(text, (each) => {
        expect(JSON.stringify(parseJson(each))).toBe(spaceless(each));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    "-0",
    "1.0",
    "[1e3]",
    "1234567890123456789",
    '{"a": 9007199254740993}',
    '{"a" :1.0}',
    '["1.5", -0]',
  ])("keeps %s", (each) => {
    expect(JSON.stringify(parseJson(each))).toBe(spaceless(each));
  });

  // Almost every stored run has such a time, and parsing with a look at each value takes several times as long.
  test("is parsed without a look at each value if its only fraction is in a time", () => {
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    const written = '{"requested_at":"2026-11-27T21:19:28.387Z","seen_at":1795814368422}';
    expect(JSON.stringify(parseJson(written))).toBe(written);
    expect(parse.mock.calls).toEqual([[written]]);
  });
});

/** Removes white space outside strings. Strings are as `JSON.stringify` writes them. */
const spaceless = (each: string): string =>
  each.replace(/"(?:[^"\\]|\\.)*"|\s/g, (found) => (found.startsWith('"') ? found : ""));
