// What policy patterns are compared with: names and texts in a normal form, and every value that a part of a request
// may be read as.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isList, isRecord, type Json, parseJson } from "#src/domain/json.ts";
import type { Comparison } from "#src/domain/policy/comparison.ts";
import {
  everyValue,
  foldForMatching,
  foldName,
  isExactly,
  matchesPattern,
  mayBe,
  type Pattern,
  patternText,
  plainValues,
  type Scalar,
  stepsOf,
  textOf,
} from "#src/domain/policy/pattern.ts";

const MARK = "\u0301";
const number = (text: string) => parseJson(text) as Scalar;

describe("two texts", () => {
  test.each([
    ["in another case", "Deploy", "dEPLOY"],
    ["with other white space", "  a\t\n b ", "a b"],
    ["with an invisible character", "pro\u200Bd", "prod"],
    ["in another Unicode form", `${"x".repeat(30)}e${MARK}`, `${"x".repeat(30)}\u00E9`],
    ["with more than thirty marks on a letter", `q${MARK.repeat(45)}`, `q${MARK.repeat(30)}`],
  ])("%s are the same to a pattern", (_what, one, other) => {
    expect(foldForMatching(one)).toBe(foldForMatching(other));
  });

  test.each([
    ["with another mark", "o\u0323\u0302", "o\u0323"],
    ["with up to thirty marks on a letter", `q${MARK.repeat(30)}`, `q${MARK.repeat(29)}`],
    ["with white space in one", "a b", "ab"],
  ])("%s are different", (_what, one, other) => {
    expect(foldForMatching(one)).not.toBe(foldForMatching(other));
  });
});

describe("two names of fields", () => {
  test.each([
    ["targetenv", "targetEnv"],
    ["targetenv", "TARGET - ENV"],
    ["target_env", "target.env"],
    ["targetenv", "\uFF54arget\u00ADenv"],
    ["straße", "STRASSE"],
    ["zone1", "Zone_1"],
    ["A".repeat(1_000), "a".repeat(1_000)],
  ])("%s and %s are the same", (one, other) => expect(foldName(one)).toBe(foldName(other)));

  test.each([
    ["zone1", "Zone_2"],
    ["target", "targets"],
    ["-", "_"],
    ["", "_"],
    ["A".repeat(1_001), "a".repeat(1_001)],
  ])("%s and %s are not", (one, other) => expect(foldName(one)).not.toBe(foldName(other)));
});

describe("a value", () => {
  const above = { op: ">", than: "1000" } as const;
  const below = { op: "<", than: "1e6" } as const;
  const over: Comparison = { bounds: [above, below], text: "> 1000 and < 1e6" };
  const under: Comparison = { bounds: [below], text: "< 1e6" };
  test.each<[Pattern, Scalar, boolean, boolean]>([
    ["prod", "prod", true, true],
    ["prod", "PROD", false, true],
    ["prod*", "production", true, true],
    ["a*", "b", false, false],
    ["*a", "b", false, false],
    ["*", 4, true, true],
    ["**", true, true, true],
    ["4", 4, false, true],
    ["4*", 42, false, true],
    ["true", true, false, true],
    [4, 4, true, true],
    [4, "4", false, true],
    [5, number("5.0"), false, true],
    [4, 5, false, false],
    [true, true, true, true],
    [true, "true", false, true],
    [true, false, false, false],
    [true, 1, false, true],
    [true, "1", false, true],
    [true, number("1.0"), false, true],
    [true, " Yes", false, true],
    [true, "ON", false, true],
    [true, "y", false, true],
    [true, "t", false, true],
    [true, 2, false, true],
    [true, 0, false, false],
    [true, "no", false, false],
    [true, "", false, false],
    [true, "maybe", false, false],
    [false, 0, false, true],
    [false, number("-0.0"), false, true],
    [false, "off", false, true],
    [false, "N", false, true],
    [false, "f", false, true],
    [false, 1, false, false],
    [false, "", false, false],
    [1, true, false, true],
    ["0", false, false, true],
    ["yes", true, false, true],
    ["no", "off", false, true],
    ["yes", number("1.0"), false, true],
    ["true", 2, false, true],
    [0, true, false, false],
    [1, 2, false, false],
    ["", "0", false, false],
    ["0", "", false, false],
    ["", "", true, true],
    [over, 1_001, true, true],
    [over, 1_000, false, false],
    [over, number("1001.0"), true, true],
    [over, number("1e7"), false, false],
    [under, 1e6, false, false],
    [under, "x", false, true],
    [over, "1001", false, true],
    [over, true, false, true],
    // A float would read it as 1000.
    [over, number("1000.00000000000000000001"), false, true],
  ])("under the pattern %j: %j matches exactly: %s, and may match: %s", (pattern, value, is, may) => {
    expect(isExactly(pattern, value)).toBe(is);
    expect(mayBe(pattern, foldForMatching(textOf(value)), value)).toBe(may);
  });

  test("is shown as it was sent, and a pattern as the policy has it", () => {
    expect(["a", true, 4, number("1.50")].map(textOf)).toEqual(["a", "true", "4", "1.50"]);
    expect(["a*", true, 4, over].map(patternText)).toEqual(["a*", "true", "4", "> 1000 and < 1e6"]);
  });
});

describe("a path", () => {
  test("has a step for each dot that is not part of a name", () => {
    expect(["a.b.c", "a\\.b.c\\.d", "a"].map(stepsOf)).toEqual([["a", "b", "c"], ["a.b", "c.d"], ["a"]]);
  });

  test.each<[string, Json, readonly Scalar[] | null]>([
    ["a text", { a: { b: "x" } }, ["x"]],
    ["false and zero", { a: { b: [false, 0] } }, [false, 0]],
    ["a number as it was sent", { a: { b: number("1.0") } }, [number("1.0")]],
    ["each element of lists in lists", { a: [{ b: ["x", ["y"]] }, { b: "z" }] }, ["x", "y", "z"]],
    ["an empty list", { a: { b: [] } }, null],
    ["a list in which one element lacks it", { a: [{ b: "x" }, { c: "y" }] }, null],
    ["a list with an element that is not a value", { a: { b: ["x", { c: "y" }] } }, null],
    ["null", { a: { b: null } }, null],
    ["a record", { a: { b: { c: "x" } } }, null],
    ["nothing at all", { a: {} }, null],
    ["a text on the way", { a: "x" }, null],
    ["another name", { A: { b: "x" } }, null],
    ["what every object inherits", { a: Object.create({ b: "x" }) as Json }, null],
  ])("leads to %s", (_what, content, values) => {
    expect(plainValues(content, ["a", "b"])).toEqual(values);
  });

  test.each<[string, Json, readonly Scalar[]]>([
    ["its own place", { a: { b: "x" } }, ["x"]],
    ["one name with a dot", { "a.b": "x", a: { b: "y" } }, ["x", "y"]],
    ["a name that is written otherwise", { A_: { B: "x" } }, ["x"]],
    ["a place further in", { of: [{ a: { b: "x" } }], b: "y" }, ["x"]],
    ["everything below it", { a: { b: { c: ["x", { d: 1 }], e: null, f: false } } }, ["x", 1, false]],
    ["lists on the way", { a: [[{ b: "x" }], { b: "y" }] }, ["x", "y"]],
    ["a number as it was sent", { a: { b: number("1.0") } }, [number("1.0")]],
    [
      "names with dots that are longer paths",
      { "a.b.c": "x", "of.a": { "b.c": "y" }, "of.a.B.c": "z" },
      ["x", "y", "z"],
    ],
    ["no longer name without its dots", { "a.bc": "x", "ba.b": "y", a: { "c.b": "z" } }, []],
    ["no other name", { a: { c: "x" }, ab: "y", b: { a: "z" } }, ["y"]],
    ["no name within a value", { a: "b" }, []],
  ])("may be read at %s", (_what, content, values) => {
    expect(everyValue(content, ["a", "b"], foldName)).toEqual(values);
  });

  test("may match a name without letters or digits, and never matches a letter of a text", () => {
    expect(everyValue({ "-.-": "x", "--": "y" }, ["-", "-"], foldName)).toEqual(["x"]);
    expect(everyValue({ a: "bc" }, ["a", "0"], foldName)).toEqual([]);
  });

  test("is sought in a name of a hundred thousand dots without trying each pair of them", () => {
    const content = { [`${".".repeat(100_000)}a${".".repeat(100_000)}`]: "x", [".b".repeat(50_000)]: "y" };
    expect(everyValue(content, ["a"], foldName)).toEqual(["x"]);
  });

  test("leads to each value once, however often its name is nested in itself", () => {
    let nested: Json = [1, 2, 3];
    for (let depth = 0; depth < 59; depth += 1) nested = { a: nested };
    expect(everyValue(nested, ["a"], foldName)).toEqual([1, 2, 3]);
    expect(everyValue(nested, ["a", "a"], foldName)).toEqual([1, 2, 3]);
  });

  test.each<[string, RegExp, readonly string[]]>([
    ["a", /\.a(?:\.|$)/, ["a", "b", "A_"]],
    ["a.b", /\.a\.b(?:\.|$)/, ["a", "b", "c", "A_", "a.b", "c.a", "b.c", "c.a.b.c"]],
  ])("leads to exactly the values whose names contain it (%s)", (path, within, names) => {
    const name = fc.constantFrom(...names);
    const { content } = fc.letrec<{ content: Json }>((tie) => ({
      content: fc.oneof(
        { maxDepth: 6 },
        fc.oneof(fc.integer(), fc.constantFrom<Json>("x", true, null)),
        fc.array(tie("content"), { maxLength: 3 }),
        fc.dictionary(name, tie("content"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(content, (each) => {
        const found = new Set(everyValue(each, stepsOf(path), foldName));
        expect(found).toEqual(new Set(valuesWithin(each, within)));
      }),
    );
  });
});

/** Returns the values whose names, joined by dots, fit. Only for names that have no other marks than `_`. */
function valuesWithin(content: Json, fits: RegExp, names = ""): Json[] {
  if (isList(content)) return content.flatMap((each) => valuesWithin(each, fits, names));
  if (isRecord(content))
    return Object.entries(content).flatMap(([name, inner]) =>
      valuesWithin(inner, fits, `${names}.${name.toLowerCase().replace("_", "")}`),
    );
  return content !== null && fits.test(names) ? [content] : [];
}

test("the text between two stars is found wherever it is, whatever it begins and ends with", () => {
  const wordsOf = (length: number): string[] =>
    length === 0 ? [""] : wordsOf(length - 1).flatMap((each) => [`${each}a`, `${each}b`]);
  const parts = [1, 2, 3, 4, 5, 6].flatMap(wordsOf);
  const texts = [...wordsOf(6), ...wordsOf(9)];
  for (const part of parts) {
    const wrong = texts.filter((text) => matchesPattern(`*${part}*`, text) !== text.includes(part));
    expect(wrong, `*${part}*`).toEqual([]);
  }
});
