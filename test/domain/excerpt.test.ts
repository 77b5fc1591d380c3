import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ends, fitted, from, head, lineExcerpt, oneLine, shortened, tail } from "#src/domain/text/excerpt.ts";
import { SLICE_CHARS, slices } from "#src/domain/request-file.ts";
import { masked } from "#src/domain/text/secrets.ts";
import { channelText, countedChars, visible } from "#src/domain/text/text.ts";
import { costOfFourfold, NEARLY_LINEAR } from "../make/cpu-cost.ts";
import { INVISIBLE } from "./deceptive-text.ts";
import { SECRETS } from "./secret-shapes.ts";

const MIB = 1_048_576;
const plain = fc.string({
  unit: fc.constantFrom("a", "b", " ", "<", "&", "\n", "\u200B", "\u0430", "😀"),
  maxLength: 400,
});
const max = fc.integer({ min: 1, max: 300 });

describe("the head of a text", () => {
  test("fits the limit and equals the drawing of the shown part", () => {
    fc.assert(
      fc.property(plain, max, (text, most) => {
        const { text: shown, hidden } = head(text, most, "open");
        expect(countedChars(shown)).toBeLessThanOrEqual(most);
        expect(shown).toBe(visible(text.slice(0, text.length - hidden)));
      }),
    );
  });

  test("is the whole text if that fits", () => {
    fc.assert(
      fc.property(plain, (text) => {
        expect(head(text, 20 * text.length + 1, "masked")).toEqual({ text: channelText(text), hidden: 0 });
      }),
    );
  });
});

test("the tail of a text fits the limit and equals the drawing of the shown part", () => {
  fc.assert(
    fc.property(plain, max, (text, most) => {
      const { text: shown, hidden } = tail(text, most, "open");
      expect(countedChars(shown)).toBeLessThanOrEqual(most);
      expect(shown).toBe(visible(text.slice(hidden)));
    }),
  );
});

test("an excerpt of both ends shows nothing twice, and counts what is left out", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "b", " ", "\n"), maxLength: 2_000 }), (text) => {
      const { head: begin, left, tail: end } = ends(text, 400, "masked");
      expect(begin.length + left + end.length).toBe(text.length);
      expect(text.startsWith(begin) && text.endsWith(end)).toBe(true);
    }),
  );
});

test("a line that is cut says how many characters are left out", () => {
  expect(lineExcerpt(`a ${"b".repeat(98)}`, 40, "open").hidden).toBe(71);
  expect(shortened("x".repeat(1_010), 10, "masked")).toBe(`${"x".repeat(10)}… (1,000 more characters)`);
});

describe("the part of a text that fits", () => {
  test("is found in a few drawings, although secrets are drawn whole or not at all", () => {
    const secret = fc.record({ chars: fc.integer({ min: 1, max: 9_000 }), drawnAs: fc.nat(9_000) });
    const oneTooLong = [
      { chars: 1_000, drawnAs: 1_000 },
      { chars: 60_000, drawnAs: 19_001 },
    ];
    fc.assert(
      fc.property(fc.array(secret), fc.nat(24_000), fc.nat(24_000), (secrets, chars, most) => {
        let drawings = 0;
        const draw = (end: number): number => {
          drawings += 1;
          let [start, length] = [0, 0];
          for (const each of secrets) {
            if (start < end) length += each.drawnAs;
            start += each.chars;
          }
          return length;
        };
        expect(fitted(chars, most, draw, (length) => length)).toBeLessThanOrEqual(most);
        expect(drawings).toBeLessThan(25);
      }),
      { examples: [[oneTooLong, 20_000, 20_000]] },
    );
  });

  test("ends before a masked secret that is one character too long", () => {
    const before = `${"\uFF46".repeat(5)} `;
    const text = `${before}ghp_${"Ab1".repeat(500)}`;
    const most = countedChars(channelText(text)) - 1;
    expect(head(text, most, "masked")).toEqual({ text: `${visible(before)}ghp_`, hidden: 1_500 });
  });
});

describe("no cut reveals half a secret:", () => {
  const cuts = (draw: (text: string, cut: number) => string) => (text: string, secret: string) => {
    for (let cut = 1; cut <= text.length; cut += 1) {
      const shown = draw(text, cut);
      for (let at = 0; at + 8 <= secret.length; at += 4)
        expect(shown).not.toContain(secret.slice(at, at + 8));
    }
  };
  const secrets = SECRETS.map(([what, text, secret]) => [what, `${text} and more`, secret] as const);
  const behind = "words before it ".repeat(300);

  test.each(secrets)("%s, at the end of a head", (_what, text, secret) =>
    cuts((each, cut) => head(each + behind, cut, "masked").text)(text, secret),
  );

  test.each(secrets)("%s, at the beginning of a tail", (_what, text, secret) =>
    cuts((each, cut) => tail(behind + each, cut, "masked").text)(text, secret),
  );

  test.each(secrets)("%s, in the middle of a text", (_what, text, secret) =>
    cuts((each, cut) => from(behind + each, behind.length + cut, 60, "masked").text)(text, secret),
  );

  test.each(secrets)("%s, on one line", (_what, text, secret) =>
    cuts((each, cut) => oneLine(each, cut))(text, secret),
  );

  test("a key that is longer than the searched text", () => {
    const key = "QWErty0123456789".repeat(4_000);
    for (const text of [
      `ghp_${key} end`,
      `-----BEGIN PRIVATE KEY-----\n${key.replace(/(.{64})/g, "$1\n")}`,
    ]) {
      expect(tail(text, 300, "masked").text).not.toMatch(/QWErty|0123456789/);
      const drawn = [...slices(`${behind}${text} and ${behind}`, "masked")].map((each) => each.text).join("");
      expect(drawn).not.toMatch(/QWErty|0123456789/);
    }
  });

  test.each(secrets)("%s, between two slices of a file", (_what, text, secret) => {
    for (let before = SLICE_CHARS - text.length - 8; before < SLICE_CHARS + 8; before += 3) {
      const whole = `${"x".repeat(before)} ${text} ${"y ".repeat(2_000)}`;
      const parts = [...slices(whole, "masked")];
      expect(parts.map((each) => each.text).join("")).not.toContain(secret);
      expect(parts.flatMap((each) => each.secrets).join("\n")).toContain(secret);
    }
  });
});

test("the slices of a text join to the whole text, masked", () => {
  const word = fc.constantFrom(
    "deploy ",
    "it\n",
    "password=correct-horse ",
    `ghp_${"Ab1".repeat(12)} `,
    "\u0430 ",
  );
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 900 }),
      (words, times) => {
        const text = words.join("").repeat(times);
        expect([...slices(text, "masked")].map((each) => each.text).join("")).toBe(masked(text).text);
      },
    ),
    { numRuns: 30 },
  );
});

/** Each is the worst case of another step. */
const WORST = [
  "a",
  "-",
  "sk-",
  "sk-a1",
  "eyJ-",
  "eyJaaaaaaaa.",
  "token=",
  '"token":"',
  "-----BEGIN PRIVATE KEY-----",
  "://a:b",
  "Bearer ",
  "\\",
  "%25",
  "\u0430",
  "\u0430p",
  "\u0301\u0323",
  "👩\u200D",
  "\u200B",
  "&<>",
  "\n",
  " ",
  ...INVISIBLE.filter((_, nth) => nth % 10 === 0),
];

test.for(WORST)(
  "an excerpt of 4 MiB costs no more than one of 1 MiB, except that white space is skipped: %j",
  (part) => {
    const allKinds = (text: string): void => {
      for (const as of ["open", "masked"] as const) {
        head(text, 2_000, as);
        ends(text, 2_000, as);
        oneLine(text, 200, as);
      }
    };
    const most = part.trim() === "" ? NEARLY_LINEAR : 2.5;
    expect(costOfFourfold(part, MIB, allKinds)).toBeLessThan(most);
  },
);

test("the cost of combining marks on one letter grows with their number", () => {
  const onOneLetter = (marks: string): string =>
    channelText(`x${marks}${marks.replaceAll("\u0301", "\u0323")}`);
  expect(costOfFourfold("\u0301", 10_000, onOneLetter)).toBeLessThan(NEARLY_LINEAR);
});
