import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCommandLine, pastedId } from "#src/slack/command-line.ts";
import { SUBCOMMANDS } from "#src/slack/names.ts";
import { always, anyText } from "./blocks/hostile.ts";

test("the task comes back byte for byte, whatever it is", () => {
  const before = fc.constantFrom("", " ", "\t", "  \n");
  const between = fc.constantFrom(" ", "\n", "\t", "\u00A0");
  always(fc.tuple(before, fc.constantFrom(...SUBCOMMANDS), between, anyText), ([start, word, gap, rest]) => {
    expect(parseCommandLine(`${start}${word}${gap}${rest}`)).toEqual({ is: word, rest });
  });
});

test("any text at all is a form, a subcommand or an unknown word", () => {
  always(anyText, (text) => {
    const typed = parseCommandLine(text);
    expect(text.trim() === "" ? ["form"] : [...SUBCOMMANDS, "unknown"]).toContain(typed.is);
  });
});

describe("a command line", () => {
  test.each([
    ["", { is: "form" }],
    ["   ", { is: "form" }],
    ["run", { is: "run", rest: "" }],
    ["RUN Deploy", { is: "run", rest: "Deploy" }],
    ["run  two spaces ", { is: "run", rest: " two spaces " }],
    ["run\nfirst\nsecond", { is: "run", rest: "first\nsecond" }],
    ["status run_7", { is: "status", rest: "run_7" }],
    ["approve apr_1 because", { is: "unknown", word: "approve" }],
    ["deny", { is: "unknown", word: "deny" }],
    ["runs", { is: "unknown", word: "runs" }],
    ["__proto__ x", { is: "unknown", word: "__proto__" }],
    ["constructor", { is: "unknown", word: "constructor" }],
  ])("%j", (text, typed) => expect(parseCommandLine(text)).toEqual(typed));
});

test.each([
  ["run_7", "run_7"],
  [" run_7\n", "run_7"],
  ["`run_7`", "run_7"],
  [" ` run 7 ` ", "run 7"],
  ["`", "`"],
  ["``", ""],
  ["", ""],
  ["a`b`c", "a`b`c"],
])("the id in %j is %j", (rest, id) => expect(pastedId(rest)).toBe(id));
