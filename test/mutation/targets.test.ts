import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { TARGETS } from "./targets.ts";

const patterns = Object.values(TARGETS).flatMap(({ mutate, tests }) => [
  ...mutate,
  ...tests.flatMap(alternatives),
]);

/** Each name that a pattern such as "{a,b}.test.ts" stands for. */
function alternatives(pattern: string): readonly string[] {
  const [, before = "", names, after = ""] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names?.split(",").map((name) => `${before}${name}${after}`) ?? [pattern];
}

test.each([...new Set(patterns)])("%s, which mutation testing needs, exists", (pattern) => {
  expect(globSync(pattern)).toHaveLength(1);
});
