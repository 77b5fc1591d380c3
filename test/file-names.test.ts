// Checks the names and sizes of our files.

import { describe, expect, test } from "vitest";
import { ownSources, type Sources } from "./make/own-sources.ts";

/** Names that do not say what a file contains. */
const GRAB_BAGS = /(^|\/)(utils?|helpers?|common|misc|types|constants|index)(\/|\.[jt]s$)/;
const grabBags = (sources: Sources): string[] => [...sources.keys()].filter((path) => GRAB_BAGS.test(path));

const MAX_LINES = 300;
const tooLong = (sources: Sources): string[] =>
  [...sources]
    .filter(([, text]) => text.trimEnd().split("\n").length > MAX_LINES)
    .map(([path, text]) => `${path}: ${text.trimEnd().split("\n").length} lines`);

/** The programs have the names that people expect: `main`, and what a command is about. */
const PROGRAMS = /^(src\/cli\/.*|(src|sandbox)\/main\.ts)$/;

/** Returns the modules that share a name, whatever their folders. */
function sharedNames(sources: Sources): string[] {
  const modules = [...sources.keys()].filter((path) => path.endsWith(".ts") && !PROGRAMS.test(path));
  const places = Map.groupBy(modules, (path) => path.slice(path.lastIndexOf("/") + 1));
  return [...places.values()].filter(({ length }) => length > 1).map((paths) => paths.join(", "));
}

const plan = (...files: (readonly [string, string])[]): Sources => new Map(files);

describe("our files", () => {
  const all = ownSources();
  test("have names that say what they contain", () => expect(grabBags(all)).toEqual([]));
  test("have names of their own", () => expect(sharedNames(all)).toEqual([]));
  test("have at most 300 lines", () => expect(tooLong(all)).toEqual([]));
});

describe("the check finds", () => {
  test("names that say nothing", () => {
    const paths = [
      "src/domain/index.ts",
      "src/domain/utils/text.ts",
      "src/adapters/slack/types.ts",
      "src/adapters/slack/constants.ts",
      "src/adapters/http/helpers.ts",
    ];
    expect(grabBags(plan(...paths.map((path) => [path, ""] as const)))).toEqual(paths);
  });

  test("two modules with one name", () => {
    const paths = ["src/domain/a.ts", "sandbox/slack/a.ts", "src/cli/a.ts", "src/domain/b.ts"];
    expect(sharedNames(plan(...paths.map((path) => [path, ""] as const)))).toEqual([
      "src/domain/a.ts, sandbox/slack/a.ts",
    ]);
  });

  test("long files", () => {
    const long = plan(["src/domain/a.ts", "x\n".repeat(301)], ["src/domain/b.ts", "x\n".repeat(300)]);
    expect(tooLong(long)).toEqual(["src/domain/a.ts: 301 lines"]);
  });
});
