import * as fc from "fast-check";
import { expect, test } from "vitest";
import { embed } from "#sandbox/service/embedding.ts";
import { complete, countTokens } from "#sandbox/service/local-model.ts";
import { anyCodePoint } from "../../make/code-points.ts";

const anyText = fc.string({ unit: anyCodePoint, maxLength: 200 });
const near = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

test("an answer is the same for the same text, and has as many tokens as pieces", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 300 }), (said, maxTokens) => {
      const answer = complete(said, { maxTokens, stopAt: [] });
      expect(complete(said, { maxTokens, stopAt: [] })).toEqual(answer);
      expect(answer.pieces.length).toBeLessThanOrEqual(maxTokens);
      expect(countTokens(answer.pieces.join(""))).toBe(answer.pieces.length);
      const whole = complete(said, { maxTokens: Infinity, stopAt: [] }).pieces;
      expect(answer.pieces).toEqual(whole.slice(0, maxTokens));
      expect(answer.ended.by).toBe(whole.length > maxTokens ? "limit" : "itself");
    }),
  );
});

test("an answer never contains a stop word", () => {
  const stops = fc.array(fc.constantFrom("local", "s", "you", "“", " of ", "nowhere"), { minLength: 1 });
  fc.assert(
    fc.property(anyText, stops, (said, stopAt) => {
      const text = complete(said, { maxTokens: Infinity, stopAt }).pieces.join("");
      for (const stop of stopAt) expect(text).not.toContain(stop);
    }),
  );
});

test("a very long message is quoted in part, and no character is cut in two", () => {
  const answer = complete("🛂".repeat(1_000), { maxTokens: Infinity, stopAt: [] }).pieces.join("");
  expect(answer).toContain(`${"🛂".repeat(400)}…`);
  expect(answer.isWellFormed()).toBe(true);
});

test("every text has a vector of unit length, and the same text always has the same vector", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 8, max: 300 }), (text, dimensions) => {
      const vector = embed(text, dimensions);
      expect(vector).toHaveLength(dimensions);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
      expect(embed(text, dimensions)).toEqual(vector);
    }),
    { numRuns: 500 },
  );
});

test.for([
  ["deploy the billing service", "deploying billing services", "a recipe for plum cake"],
  ["restart the database in staging", "the staging database was restarted", "send a notice to all customers"],
  ["how do I reset my password?", "password reset does not work", "opening hours of the museum"],
  ["Die Rechnung ist falsch", "falsche Rechnungen korrigieren", "the weather in the mountains"],
  ["roll back release 2.3 of billing", "release 2.3 was rolled back", "hire two more people for support"],
  ["承認を待っている実行", "承認を待つ実行の一覧", "天気は晴れです"],
] as const)('"%s" is closer to "%s" than to "%s"', ([text, similar, different]) => {
  for (const dimensions of [256, 1536]) {
    const vector = embed(text, dimensions);
    expect(near(vector, embed(similar, dimensions))).toBeGreaterThan(
      near(vector, embed(different, dimensions)) + 0.15,
    );
  }
});

test("case and letter forms make no difference", () => {
  expect(embed("DEPLOY Ｂilling", 256)).toEqual(embed("deploy billing", 256));
});
