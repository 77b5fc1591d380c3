// Checks the sandbox and the bot against Slack's own types, which Slack generates from its real answers.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { methods } from "#sandbox/slack/methods.ts";
import { aBotsDay } from "./published/bot-day.ts";
import { READ, SENT } from "./published/differences.ts";
import { aJudgedDay } from "./published/judged-day.ts";
import { openTypes, type OpenTypes } from "./published/open-types.ts";
import type { PublishedName } from "./published/published-types.ts";
import { exportedShapes, pathsIn, READS } from "./published/read-keys.ts";

let types: OpenTypes;
beforeAll(() => {
  types = openTypes();
});
afterAll(() => types.close());

const isPublished = (name: string): name is PublishedName => types.names.includes(name);

test("every key that the sandbox sends is a key of Slack's own types, except for the listed differences", async (context) => {
  const sent = [...(await aJudgedDay()), ...(await aBotsDay(context))];
  const seen = new Set(sent.map(({ name }) => name));
  // The answer of a response_url has no published type.
  expect([...seen].filter((name) => !isPublished(name))).toEqual(["response_url"]);
  // Completeness: each method was called, and each payload was sent.
  expect(types.names.filter((name) => !seen.has(name))).toEqual([]);
  expect([...methods.keys()].filter((name) => !isPublished(name))).toEqual([]);

  const strange = sent.flatMap(({ name, body }) => (isPublished(name) ? types.strange(name, body) : []));
  expect([...new Set(strange)].sort()).toEqual(SENT.flatMap(({ at }) => at).sort());
});

test("every key that the bot reads is a key of Slack's own types, except for the listed differences", () => {
  const read = Object.entries(READS).flatMap(([name, all]) =>
    all.flatMap(({ shape, from, at = [] }) =>
      pathsIn(shape).map((path) => ({ name, from, path: [...at, ...path] })),
    ),
  );
  expect(read.length).toBeGreaterThan(150);
  const strange = read
    .filter(({ from, path }) => !from.some((each) => types.has(each, path)))
    .map(({ name, from, path }) => `${name} from ${from.join(" or ")}: ${path.join(".")}`);
  expect(strange.sort()).toEqual(READ.flatMap(({ at }) => at).sort());
});

/** Shapes that are only parts of other shapes. */
const PARTS = ["user", "input", "idOf", "nextCursor"];

test("every shape of the bot is compared", () => {
  expect(exportedShapes().filter((name) => !(name in READS))).toEqual([]);
  const declared = ["answers", "payloads"].flatMap((name) => {
    const source = readFileSync(new URL(`../../../src/adapters/slack/${name}.ts`, import.meta.url), "utf8");
    return [...source.matchAll(/^(?:export )?const (\w+) = z\.object\(/gm)].map(([, shape]) => shape ?? "");
  });
  expect(declared.filter((name) => !(name in READS) && !PARTS.includes(name))).toEqual([]);
  expect(declared.length).toBeGreaterThan(20);
});
