import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, isRecord, isSameJson, type Json } from "#src/domain/json.ts";
import { nameText, requestParts, requestText } from "#src/domain/text/request-text.ts";
import { visible } from "#src/domain/text/text.ts";
import { anyCodePoint } from "../make/code-points.ts";

const json = fc.jsonValue() as fc.Arbitrary<Json>;

/** The value after a round trip over the wire. */
const sent = (value: Json): Json => JSON.parse(JSON.stringify(value)) as Json;

/** Returns the same value with the keys of each record in the opposite order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map((each: Json) => reversed(each));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, each]) => [key, reversed(each)]),
  );
}

describe("the canonical form", () => {
  test("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test("parses to the same value", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(sent(value));
      }),
    );
  });

  test("is the same only for equal values", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const same = canonicalJson(sent(a)) === canonicalJson(sent(b));
        expect(isSameJson(sent(a), sent(b))).toBe(same);
        expect(isSameJson(sent(a), reversed(sent(a)))).toBe(true);
        expect(same).toBe(isDeepStrictEqual(sent(a), sent(b)));
      }),
    );
  });

  test.for<[Json, Json]>([
    ["1", 1],
    [null, "null"],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: null }, {}],
    [{ a: { b: 1 } }, { "a.b": 1 }],
    [["a,b"], ["a", "b"]],
    [{ 'a":1,"b': 1 }, { a: 1, b: 1 }],
    [{ __proto__x: 1 }, {}],
    ["é", "e\u0301"],
  ])("%j and %j have different canonical forms", ([a, b]) => {
    expect(canonicalJson(a)).not.toBe(canonicalJson(b));
  });

  test("keeps a key that every object inherits", () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1,"constructor":2}') as Json)).toBe(
      '{"__proto__":1,"constructor":2}',
    );
  });
});

describe("a request written out", () => {
  test("drops nothing that the service sent: each field appears by name with its whole value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCodePoint }), json), fc.string(), (fields, action) => {
        const apart = ["id", "action", "requested_at", "status"];
        const text = requestText({ action, content: { ...fields, action } }, "open");
        expect(text).toContain(visible(action));
        for (const [name, value] of Object.entries(fields).filter(([name]) => !apart.includes(name))) {
          expect(text).toContain(nameText(name, "open"));
          expect(text).toContain(visible(typeof value === "string" ? value : JSON.stringify(value, null, 2)));
        }
      }),
    );
  });

  test.for<[string, string | null, Json, object]>([
    ["a bare id", null, "apr_1", { action: null, fields: [] }],
    ["a list", null, [1], { fields: [{ name: "sent", text: "[\n  1\n]" }] }],
    ["a number", null, 7, { fields: [{ name: "sent", text: "7" }] }],
    ["an action that is not text", null, { id: "a", action: { rm: "/" } }, { fields: [{ name: "action" }] }],
    [
      'a field that says "risk: low"',
      "x",
      { action: "x", risk: "low" },
      { action: "x", fields: [{ name: "risk", text: "low" }] },
    ],
    [
      "an action beside the record of the approval",
      "Delete it",
      { approval: { id: "a", action: "Delete it" }, action: "Read it" },
      { action: "Delete it", fields: [{ name: "approval" }, { name: "action", text: "Read it" }] },
    ],
    ["the usual state", "x", { action: "x", status: "pending" }, { fields: [] }],
    [
      "another state",
      "x",
      { action: "x", status: "urgent" },
      { fields: [{ name: "status", text: "urgent" }] },
    ],
    [
      "an empty name and value",
      "x",
      { action: "x", "": null },
      { fields: [{ name: "(no name)", text: "null" }] },
    ],
    [
      "hidden text",
      "a\u202Eb",
      { "n\u200B": "v\u2028" },
      { action: "a⟨U+202E⟩b", fields: [{ name: "n⟨U+200B⟩", text: "v⟨U+2028⟩" }] },
    ],
  ])("%s", ([, action, content, parts]) => {
    expect(requestParts({ action, content }, "open")).toMatchObject(parts);
  });

  test("says so when the service did not say what the action is", () => {
    expect(requestText({ action: null, content: "apr_1" }, "masked")).toMatch(/did not say/);
  });
});
