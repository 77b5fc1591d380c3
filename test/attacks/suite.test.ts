import { expect, test } from "vitest";
import { CLASSES } from "./classes.ts";
import { doorCases } from "./door-cases.ts";
import { floodCases } from "./flood-cases.ts";
import { originCases } from "./origin-cases.ts";
import { peopleCases } from "./people-cases.ts";
import { wordCases } from "./word-cases.ts";

const suite = [
  ...doorCases,
  ...floodCases,
  ...originCases(1),
  ...originCases(17),
  ...peopleCases,
  ...wordCases,
];

test("every attack has an id of its own, of a class that there is", () => {
  const ids = suite.map(({ id }) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  const kinds = ids.map((id) => Number(id.slice(1, 3)));
  expect(kinds.filter((kind) => CLASSES[kind - 1] === undefined)).toEqual([]);
});
