import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { oneLine } from "#src/domain/text/excerpt.ts";
import { clip, isBlank, pieces, visible } from "#src/domain/text/text.ts";
import { INVISIBLE, LOOKS_BLANK, STAYS } from "./deceptive-text.ts";
import { anyCodePoint } from "../make/code-points.ts";

const anyText = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(...INVISIBLE),
);

describe("visible", () => {
  test.for(INVISIBLE)("shows the hidden characters in %j by number", (text) => {
    const shown = visible(text);
    expect(shown).toMatch(/⟨U\+[0-9A-F]{4,6}⟩/);
    expect(shown).not.toBe(text);
  });

  test.for(STAYS)("leaves %j unchanged", (text) => {
    expect(visible(text)).toBe(text);
  });

  test("never makes two different texts equal, except for line ends and number signs typed by hand", () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        fc.pre(![a, b].some((text) => text.includes("\r\n") || text.includes("⟨U+")));
        expect(visible(a) === visible(b)).toBe(a === b);
      }),
    );
  });

  test("leaves nothing unseen, and does not change text that was already shown", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = visible(text);
        expect(visible(shown)).toBe(shown);
        expect(shown.replaceAll("\u200D", "")).not.toMatch(
          /(?![\t\n])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u,
        );
      }),
    );
  });
});

describe("isBlank", () => {
  test.for(LOOKS_BLANK)("%j is blank", (text) => {
    expect(isBlank(text)).toBe(true);
  });
  test.for(["x", ".", " 0 ", "\u200Bno\u200B", "👍", "é"])("%j is not", (text) => {
    expect(isBlank(text)).toBe(false);
  });
});

describe("clip", () => {
  test("keeps the beginning, says how much is missing, and splits no character", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 20 }), (text, max) => {
        const { shown, hidden } = clip(text, max);
        expect(shown.length).toBeLessThanOrEqual(max);
        expect(text.startsWith(shown) && shown.length + hidden === text.length).toBe(true);
        expect(shown.isWellFormed() || !text.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("pieces", () => {
  test("joined are the text again; each fits, and none splits a character", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 20 }), (text, max) => {
        const cut = pieces(text, max);
        expect(cut.join("")).toBe(text);
        for (const piece of cut) {
          expect(piece.length).toBeLessThanOrEqual(max);
          expect(piece.isWellFormed() || !text.isWellFormed()).toBe(true);
        }
      }),
    );
  });
  test("of an empty text are one empty piece; of a short text, the text", () => {
    expect(pieces("", 10)).toEqual([""]);
    expect(pieces("0123456789", 10)).toEqual(["0123456789"]);
  });
  test("end at a newline if one is near", () => {
    expect(pieces("12345678\nabcdef", 12)).toEqual(["12345678\n", "abcdef"]);
  });
});

describe("oneLine", () => {
  test("returns one line that fits, with nothing unseen in it", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 60 }), (text, max) => {
        const line = oneLine(text, max);
        expect(line.length).toBeLessThanOrEqual(max);
        expect(line).not.toMatch(/[\r\n\t\u2028\u2029]/);
      }),
    );
  });
  test("says when it cuts", () => {
    expect(oneLine("delete everything", 10)).toBe("delete ev…");
    expect(oneLine(`delete ${"x".repeat(2_000)}`, 40)).toBe(`delete ${"x".repeat(19)}… (1,981 more)`);
    expect(oneLine(" two\n\nlines ", 10)).toBe("two lines");
  });
});
