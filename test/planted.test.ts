// Keeps the planted bugs up to date: each patch applies to the current tree and names a test that exists. `npm run planted` plants them.

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { plantedBugs, ROOT } from "./planted/planted-bugs.ts";

const bugs = plantedBugs();
const run = promisify(execFile);

test("each planted bug has a description, and names the test that must catch it", () => {
  const incomplete = bugs.filter((each) => [each.bug, each.test, each.title].includes(""));
  expect(incomplete).toEqual([]);
  expect(bugs.length).toBeGreaterThanOrEqual(40);
});

test("each patch applies to the code in src/, and to nothing else", async () => {
  const checked = await Promise.all(
    bugs.map(async ({ name, patch }) => {
      const { stdout } = await run("git", ["apply", "--check", "--numstat", patch], { cwd: ROOT }).catch(
        (error: unknown) => ({ stdout: `0\t0\tdoes not apply: ${String(error)}` }),
      );
      const files = stdout
        .trim()
        .split("\n")
        .map((line) => line.split("\t")[2] ?? "");
      return files.every((file) => file.startsWith("src/")) ? [] : [`${name}: ${files.join(", ")}`];
    }),
  );
  expect(checked.flat()).toEqual([]);
});

/** Returns the text of the file and of all test files that it imports. */
function sourcesOf(file: string, known = new Set<string>()): string {
  if (known.has(file)) return "";
  known.add(file);
  const source = readFileSync(join(ROOT, file), "utf8");
  const imported = [...source.matchAll(/from "(\.{1,2}\/[^"]+)"/g)].map(([, path = ""]) =>
    sourcesOf(join(dirname(file), path), known),
  );
  return [source, ...imported].join("\n");
}

test("each test that must catch a bug exists", () => {
  const missing = bugs.filter(({ test: file, title }) => {
    return !existsSync(join(ROOT, file)) || !sourcesOf(file).includes(title);
  });
  expect(missing.map(({ name, title }) => `${name}: ${title}`)).toEqual([]);
});
