import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCommandLine, pastedId } from "#src/adapters/slack/typed-command.ts";
import { SUBCOMMANDS } from "#src/adapters/slack/names.ts";
import { always, anyText } from "./blocks/hostile.ts";

test("the task is returned byte for byte, whatever it is", () => {
  const before = fc.constantFrom("", " ", "\t", "  \n");
  const between = fc.constantFrom(" ", "\n", "\t", "\u00A0");
  always(fc.tuple(before, fc.constantFrom(...SUBCOMMANDS), between, anyText), ([start, word, gap, rest]) => {
    expect(parseCommandLine(`${start}${word}${gap}${rest}`)).toEqual({ type: word, rest });
  });
});

test("any text is parsed as a form, a subcommand or an unknown word", () => {
  always(anyText, (text) => {
    const typed = parseCommandLine(text);
    expect(text.trim() === "" ? ["form"] : [...SUBCOMMANDS, "unknown"]).toContain(typed.type);
  });
});

describe("a command line", () => {
  test.each([
    ["", { type: "form" }],
    ["   ", { type: "form" }],
    ["run", { type: "run", rest: "" }],
    ["RUN Deploy", { type: "run", rest: "Deploy" }],
    ["run  two spaces ", { type: "run", rest: " two spaces " }],
    ["run\nfirst\nsecond", { type: "run", rest: "first\nsecond" }],
    ["status run_7", { type: "status", rest: "run_7" }],
    ["approve apr_1 because", { type: "unknown", word: "approve" }],
    ["deny", { type: "unknown", word: "deny" }],
    ["runs", { type: "unknown", word: "runs" }],
    ["__proto__ x", { type: "unknown", word: "__proto__" }],
    ["constructor", { type: "unknown", word: "constructor" }],
  ])("is parsed: %j", (text, typed) => expect(parseCommandLine(text)).toEqual(typed));
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
])("the pasted id in %j is %j", (rest, id) => expect(pastedId(rest)).toBe(id));
