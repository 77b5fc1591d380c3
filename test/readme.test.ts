import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { variables } from "#src/config.ts";
import { SUBCOMMANDS } from "#src/adapters/slack/names.ts";
import { tasks } from "#sandbox/service/tasks.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const reference = readFileSync(new URL("../docs/reference.md", import.meta.url), "utf8");
const agents = readFileSync(new URL("../AGENTS.md", import.meta.url), "utf8");
const scripts = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    scripts: Record<string, string>;
  }
).scripts;

test("the configuration table matches the code", () => {
  const rows = variables.map(
    ({ name, meaning, default: initial }) =>
      `| \`${name}\` | ${meaning} | ${initial === null ? "–" : `\`${initial}\``} |`,
  );
  const table = reference.split("\n").filter((line) => /^\| `[A-Z_]+` \|/.test(line));
  expect(table).toEqual(rows);
});

test("the table of commands names all subcommands, and only them", () => {
  const named = [...readme.matchAll(/^\| `\/agent ([a-z]+)/gm)].map(([, word]) => word);
  expect(new Set(named)).toEqual(new Set(SUBCOMMANDS));
});

test("every npm script in the documents exists, and the first screen shows the first two to run", () => {
  const named = [
    ...`${readme}\n${agents}\n${reference}`.matchAll(/npm (?:run )?(start|test(?![:\w])|(?<=run )[a-z:-]+)/g),
  ].map(([, name]) => name ?? "");
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const firstScreen = readme.split("\n").slice(0, 25).join("\n");
  expect(firstScreen).toMatch(/^npm ci && npm run sandbox$/m);
  expect(firstScreen).toMatch(/^npm ci && npm test$/m);
});

/** The last task is the one without words. */
test("README lists a word of each task of the sandbox, and no others", () => {
  const listed = /choose what a sandbox run does: ([^;]+);/.exec(readme.replaceAll("\n", " "))?.[1] ?? "";
  const words = [...listed.matchAll(/\*([^*]+)\*/g)].map(([, word]) => word ?? "");
  const known = tasks.slice(0, -1).map((task) => task.words.split(", "));
  expect(words.filter((word) => !known.flat().includes(word))).toEqual([]);
  expect(known.filter((any) => !any.some((word) => words.includes(word)))).toEqual([]);
});

test("the picture on the first screen exists", () => {
  const path = /!\[[^\]]*\]\(([^)]+)\)/.exec(readme)?.[1] ?? "";
  expect(
    readFileSync(new URL(`../${path}`, import.meta.url))
      .subarray(1, 4)
      .toString(),
  ).toBe("PNG");
});

test("README.md and AGENTS.md stay short", () => {
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  expect(agents.split("\n").length).toBeLessThan(90);
});
