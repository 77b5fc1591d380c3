import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markHomoglyphs, visible } from "#src/domain/text/text.ts";
import { STAYS } from "./deceptive-text.ts";
import { anyCodePoint } from "../make/code-points.ts";
import { costOfFourfold, NEARLY_LINEAR } from "../make/cpu-cost.ts";

/** Cyrillic letters that look like a, e, o, p and c. Written by number, so that this file deceives no one. */
const [A, E, O, P, C] = ["\u0430", "\u0435", "\u043E", "\u0440", "\u0441"];

describe("homoglyphs are marked in", () => {
  test.each([
    ["one Cyrillic letter in a Latin word", `p${A}yroll`, `p${A}⟨U+0430⟩yroll`],
    ["one Latin letter in a Cyrillic word", "д\u0065ньги", "де⟨U+0065⟩ньги".replace("\u0435", "e")],
    ["a Greek letter in a Latin word", "paypa\u03BF", "paypa\u03BF⟨U+03BF⟩"],
    ["an Armenian letter in a Latin word", "c\u0585de", "c\u0585⟨U+0585⟩de"],
    ["a Cherokee letter", "\u13AAdmin", "\u13AA⟨U+13AA⟩dmin"],
    ["a word of look-alikes only", `${C}${O}${C}${O}`, `${C}⟨U+0441⟩${O}⟨U+043E⟩${C}⟨U+0441⟩${O}⟨U+043E⟩`],
    ["such a word beside Latin ones", `rm ${A}${P}i now`, `rm ${A}⟨U+0430⟩${P}⟨U+0440⟩i⟨U+0069⟩ now`],
    ["a domain with such a label", `https://${E}${A}.example`, `https://${E}⟨U+0435⟩${A}⟨U+0430⟩.example`],
    ["a letter hidden behind a joiner", `p\u200B${A}y`, `p\u200B${A}⟨U+0430⟩y`],
    ["a fullwidth letter", "\uFF52m", "\uFF52⟨U+FF52⟩m"],
    ["a mathematical letter", "\u{1D42B}m", "\u{1D42B}⟨U+1D42B⟩m"],
    ["a ligature", "con\uFB01g", "con\uFB01⟨U+FB01⟩g"],
    ["the Kelvin sign", "\u212Aey", "\u212A⟨U+212A⟩ey"],
    ["a stroke that looks like a slash", "a\u2215b", "a\u2215⟨U+2215⟩b"],
    ["a character that looks like a dot", "evil\u2024example", "evil\u2024⟨U+2024⟩example"],
    ["a space that does not separate arguments", "rm\u00A0-rf", "rm\u00A0⟨U+00A0⟩-rf"],
    ["a strike through a letter", "n\u0336o\u0336", "n⟨U+0336⟩o⟨U+0336⟩"],
    ["the fifth mark on one letter", "e\u0301\u0302\u0303\u0304\u0305", "e\u0301\u0302\u0303\u0304⟨U+0305⟩"],
    ["a literal mark with a false number", `p${A}⟨U+0061⟩y`, `p${A}⟨U+0430⟩⟨U+0061⟩y`],
  ])("%s", (_what, text, marked) => {
    expect(markHomoglyphs(text)).toBe(marked);
  });
});

describe("homoglyphs are not marked in", () => {
  test.each([
    ...STAYS.map((text) => ["honest text", text]),
    ["a compound of two scripts", "API-сервер и Slack-бот, deploy в production"],
    ["Russian with short words", "Я и ты о том, а он у нас; с api"],
    ["Japanese with Latin in one word", "PDFファイルをAPIで"],
    ["Chinese and Korean", "部署API服务，请确认！ API를 배포"],
    ["Greek in formulas", "Δt = 5 µs, kΩ, λx, 3σ"],
    ["Greek text", "Καλημέρα, διαγραφή της βάσης"],
    ["Armenian text", "Բարև ձեզ, ջնջել"],
    ["accents in any form", "naïve e\u0301\u0302 Łódź İstanbul ırmak"],
    ["typography", "10\u00A0% « oui\u00A0» 10\u202F000 1\u20442 x² ½ …"],
    ["Arabic and Hebrew beside Latin", "الـAPI وPDF ו-API"],
  ])("%s: %s", (_what, text) => {
    expect(markHomoglyphs(text)).toBe(text);
  });
});

test("marking a text twice changes nothing more, whatever the text", () => {
  const pieces = fc.constantFrom(
    A,
    E,
    O,
    "a",
    "b",
    "p",
    " ",
    "-",
    "\u200B",
    "я",
    "\u03BF",
    "Δ",
    "\uFF52",
    "\u0301",
    "⟨U+0430⟩",
    "⟨U+",
    "1",
    "_",
    "\u00A0",
    "\u2215",
    "漢",
    "\u2CEF",
    "👩\u200D💻",
  );
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join("")),
    fc.string({ unit: anyCodePoint }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(visible(visible(text))).toBe(visible(text));
    }),
    { numRuns: 3_000 },
  );
});

test.for([A, `p${A} `, "\u0301", "\u2CEF", "я", `${A}⟨U+0430⟩`, "\uFF52", "\u00A0a"])(
  "the cost of a text grows with its length: %s",
  (part) => {
    expect(costOfFourfold(part, 5_000, visible)).toBeLessThan(NEARLY_LINEAR);
  },
);
