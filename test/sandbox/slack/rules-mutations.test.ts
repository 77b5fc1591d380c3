// Every message and view of the bot, and a sample of everything that the rules allow, each with one fault in any place.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Refused } from "#sandbox/slack/errors.ts";
import { isJson, type Json } from "#sandbox/slack/json-object.ts";
import { typesOf } from "#sandbox/slack/rules-check.ts";
import { inActions, inInput } from "#sandbox/slack/rules-elements.ts";
import { acceptBlocks, acceptView } from "#sandbox/slack/rules-surface.ts";
import { cardExamples, messageExamples, partExamples } from "../../adapters/slack/blocks/page/page.ts";
import { blocksWith, ELEMENTS, plain } from "../page/admitted.ts";

/** A view, or the blocks of a message. */
type Surface = Json | unknown[];

const accept = (surface: Surface): unknown =>
  isJson(surface)
    ? acceptView(surface, surface["type"] === "home" ? "home" : "modal")
    : acceptBlocks(surface);

const complaintsOf = (surface: Surface): string[] => {
  try {
    accept(surface);
    return [];
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { messages } = error.more["response_metadata"] as { messages: string[] };
    return messages.map((message) => message.replace("[ERROR] ", ""));
  }
};

const modal = (...blocks: Json[]): Json => ({
  type: "modal",
  title: plain("T"),
  submit: plain("S"),
  blocks,
});

const drawn = [await messageExamples(), cardExamples(), partExamples()]
  .flatMap((group) => Object.values(group).flat())
  .map((example) => ("type" in example.drawn ? example.drawn : example.drawn.blocks));

const onlyInModals = new Set(["input", "alert"]);
const samples = [
  ...Object.entries(blocksWith(typesOf(inActions))).map(([type, [sample]]) =>
    onlyInModals.has(type) ? modal({ ...sample, type }) : [{ ...sample, type }],
  ),
  ...typesOf(inInput).map((type) =>
    modal({ type: "input", label: plain("L"), element: { ...ELEMENTS[type]?.[0], type } }),
  ),
];

const surfaces = JSON.parse(JSON.stringify([...drawn, ...samples])) as Surface[];

type Place = readonly (string | number)[];

const placesIn = (value: unknown, place: Place = []): Place[] => {
  const entries = Array.isArray(value) ? [...value.entries()] : isJson(value) ? Object.entries(value) : [];
  return [place, ...entries.flatMap(([key, one]) => placesIn(one, [...place, key]))];
};

const at = (value: unknown, place: Place): unknown => place.reduce((held, key) => (held as Json)[key], value);

const pointer = (surface: Surface, place: Place): string =>
  [isJson(surface) ? "/view" : "/blocks", ...place].join("/");

const surfaceAndPlace = fc
  .constantFrom(...surfaces)
  .chain((surface) =>
    fc.record({ surface: fc.constant(surface), place: fc.constantFrom(...placesIn(surface)) }),
  );

test("all are valid without a fault", () => {
  expect(surfaces.map(complaintsOf).filter((found) => found.length > 0)).toEqual([]);
});

const strangeFields = ["no_such_field", "constructor", "toString", "hasOwnProperty", "__proto__"];

test("an unknown field is refused at its object, whatever its name", () => {
  fc.assert(
    fc.property(surfaceAndPlace, fc.constantFrom(...strangeFields), ({ surface, place }, field) => {
      fc.pre(isJson(at(surface, place)));
      const copy = structuredClone(surface);
      // Assigning to "__proto__" would not create a field. JSON.parse creates one.
      Object.defineProperty(at(copy, place), field, { value: {}, enumerable: true });
      expect(complaintsOf(copy)).toContain(
        `invalid additional property: ${field} [json-pointer:${pointer(copy, place)}]`,
      );
    }),
    { numRuns: 2000 },
  );
});

test("an unknown type is refused, whatever its name", () => {
  fc.assert(
    fc.property(surfaceAndPlace, fc.constantFrom(...strangeFields, 7, null), ({ surface, place }, type) => {
      fc.pre(place.length > 0 && typeof (at(surface, place) as Json | null)?.["type"] === "string");
      const copy = structuredClone(surface);
      (at(copy, place) as Json)["type"] = type;
      expect(complaintsOf(copy)).toContain(
        `unsupported type: ${type} [json-pointer:${pointer(copy, [...place, "type"])}]`,
      );
    }),
    { numRuns: 2000 },
  );
});

/** The rules do not restrict the language of code, or the type of a raw number's value. */
const isOpen = (field: unknown, held: unknown): boolean =>
  field === "language" || (field === "value" && typeof held === "number");

test("null is refused in every place, and the refusal points there", () => {
  fc.assert(
    fc.property(surfaceAndPlace, ({ surface, place }) => {
      const key = place.at(-1);
      fc.pre(key !== undefined && !isOpen(key, at(surface, place)));
      const copy = structuredClone(surface);
      (at(copy, place.slice(0, -1)) as Json)[key as string] = null;
      const where = pointer(copy, place);
      expect(complaintsOf(copy).filter((one) => one.includes(`[json-pointer:${where}`))).not.toEqual([]);
    }),
    { numRuns: 4000 },
  );
});
