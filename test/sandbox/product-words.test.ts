// The emulated Slack and its page are not part of the product: they would work for another app as well.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** HTTP clients are also called user agents. */
const WORDS = /countersign|approv|(?<!user[- ])agent|four[- ]eyes/i;

const withProductWords = (sources: readonly (readonly [path: string, text: string])[]): string[] =>
  sources.filter(([, text]) => WORDS.test(text)).map(([path]) => path);

test.each(["slack", "page"])("no file of sandbox/%s names concepts of the product", (name) => {
  const folder = fileURLToPath(new URL(`../../sandbox/${name}/`, import.meta.url));
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sources = paths
    .filter((path) => /\.(ts|js|css)$/.test(path))
    .map((path) => [path, readFileSync(`${folder}${path}`, "utf8")] as const);
  expect(sources.length).toBeGreaterThan(20);
  expect(withProductWords(sources)).toEqual([]);
});

test("the check finds such words", () => {
  expect(withProductWords([["a.ts", 'const words = "waits for approval";']])).toEqual(["a.ts"]);
  expect(withProductWords([["a.ts", 'const header = "user-agent";']])).toEqual([]);
});
