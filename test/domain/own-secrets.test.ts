import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formsOf, keepSecrets, OWN_MARK, rangesOf } from "#src/domain/text/own-secrets.ts";
import { masked } from "#src/domain/text/secrets.ts";
import { oneLine } from "#src/domain/text/excerpt.ts";
import { channelText, visible } from "#src/domain/text/text.ts";

const KEY = 'Agent+Key/0123456789=\\"abc';
const SEED = Buffer.from("0123456789abcdef0123456789abcdef").toString("base64");
const forms = formsOf([KEY, SEED]);

const escaped = (text: string, write: (code: string) => string): string =>
  Array.from(text, (char) => write(char.charCodeAt(0).toString(16).padStart(2, "0"))).join("");

const WAYS: readonly (readonly [what: string, written: string])[] = [
  ["as it is", KEY],
  ["percent-encoded", encodeURIComponent(KEY)],
  ["percent-encoded, every character", escaped(KEY, (code) => `%${code}`)],
  ["in JSON", JSON.stringify(KEY).slice(1, -1)],
  ["in JSON inside JSON", JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
  ["in JSON by numbers", escaped(KEY, (code) => `\\u00${code}`)],
  ["in hex", Buffer.from(KEY).toString("hex")],
  ["in HEX", Buffer.from(KEY).toString("hex").toUpperCase()],
  ["in base64", Buffer.from(KEY).toString("base64").replace(/.=*$/, "")],
  ["in base64url", Buffer.from(KEY).toString("base64url").slice(0, -1)],
  ["a seed by its bytes in hex", Buffer.from(SEED, "base64").toString("hex")],
];

describe("Countersign's own secret is found", () => {
  test.each(WAYS)("%s", (_what, written) => {
    const [range = [0, 0]] = rangesOf(`before ${written} after`, forms);
    expect(`before ${written} after`.slice(...range)).toContain(written);
  });

  test("in base64 at every offset", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 9 }), fc.uint8Array({ maxLength: 9 }), (before, after) => {
        const text = Buffer.concat([before, Buffer.from(KEY), after]).toString("base64");
        const [[start, end] = [0, 0]] = rangesOf(text, forms);
        const left = Buffer.from(text.slice(0, start) + "A".repeat(end - start) + text.slice(end), "base64");
        expect(end).toBeGreaterThan(start);
        expect(left.includes(KEY.slice(1, -1))).toBe(false);
      }),
    );
  });

  test("anywhere among escapes, and covers nothing but itself and the backslashes after it", () => {
    const junk = fc.stringMatching(/^(?:[a-f ]|%4[0-9]|\\u004[0-9]|\\\\n){0,12}$/);
    fc.assert(
      fc.property(junk, junk, fc.constantFrom(...WAYS), (before, after, [, written]) => {
        const text = `${before} ${written} ${after}`;
        const [range = [0, 0], ...others] = rangesOf(text, forms);
        expect(others).toEqual([]);
        expect(text.slice(...range)).toBe(written);
      }),
    );
  });
});

test.each([
  ["a percent sign and two digits", "own%41key%2fof-this-test", ""],
  ["a percent sign at its end, before digits", "own-key-of-this-test%", "41"],
  ["a backslash", "own\\x41key\\u0041-of-this-test", ""],
])("a secret that looks escaped is found both unchanged and escaped: %s", (_what, key, next) => {
  for (const written of [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)]) {
    const [range = [0, 0]] = rangesOf(`a ${written}${next} and 100%25`, formsOf([key]));
    expect(`a ${written}`.slice(...range)).toBe(written);
  }
});

test.each([
  ["percent-encoded, after a percent sign that begins no escape", encodeURIComponent("41-key/of+this\\test")],
  [
    "in JSON, after a percent sign that begins no escape",
    JSON.stringify("41-key/of+this\\test").slice(1, -1),
  ],
  ["percent-encoded, with letters beyond ASCII", encodeURIComponent("schlüssel-of-this-test")],
])("a secret is found %s", (_what, written) => {
  const found = rangesOf(`100%${written} after`, formsOf(["41-key/of+this\\test", "schlüssel-of-this-test"]));
  expect(found.map((range) => `100%${written} after`.slice(...range))).toEqual([written]);
});

test("a secret that unescaping makes too short masks no words", () => {
  const forms = formsOf(["\\\\\\\\\\\\\\\\", "%64%65ploy"]);
  expect(rangesOf("deploy 100%25", forms)).toEqual([]);
  expect(rangesOf("a %64%65ploy", forms)).toEqual([[2, 12]]);
});

test("a secret is masked in every drawing, and is not among the secrets that the form lists", () => {
  keepSecrets(["own-key-of-this-test-0123456789"]);
  const text = "use own-key-of-this-test-0123456789 now, Bearer own-key-of-this-test-0123456789";
  for (const draw of [visible, channelText, (each: string) => oneLine(each, 200)]) {
    expect(draw(text)).not.toContain("own-key");
    expect(draw(text)).toContain(OWN_MARK);
  }
  expect(masked(text).secrets).toEqual([]);
});

test("a short secret counts as a word, and masks nothing", () => {
  keepSecrets(["deploy"]);
  expect(visible("deploy now")).toBe("deploy now");
});
