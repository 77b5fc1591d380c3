// Checks the coverage table against the code, the tests and its generated page.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { format } from "oxfmt";
import { describe, expect, test } from "vitest";

import { coverage } from "./coverage/coverage.ts";
import { coverageDocument } from "./coverage/document.ts";
import { namedLimits } from "./coverage/limit-rows.ts";
import { strayMethods } from "./coverage/method-rows.ts";
import { errors } from "#sandbox/slack/errors.ts";
import { eventScopes } from "#sandbox/slack/events.ts";
import { slackTiming } from "#sandbox/slack/slack-context.ts";
import { methods } from "#sandbox/slack/methods.ts";
import { allBlocks } from "#sandbox/slack/rules-blocks.ts";
import { typesOf } from "#sandbox/slack/rules-check.ts";
import { allElements } from "#sandbox/slack/rules-elements.ts";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const rows = coverage.flatMap((section) => section.rows);
const subjects = (title: string): string[] =>
  (coverage.find((section) => section.title === title)?.rows ?? []).map(({ subject }) => subject).sort();

/** Returns the payloads that acts of people send to the app, by their names in the sources. */
const payloads = (): string[] => {
  const folder = at("../../../sandbox/slack/");
  const acts = readdirSync(folder).filter((name) => name.startsWith("act-"));
  const code = acts.map((name) => readFileSync(`${folder}${name}`, "utf8")).join("\n");
  const named = [...code.matchAll(/(?:\btype|\bkind): "([a-z_]+)"/g)].map(([, type]) => type ?? "");
  const doors = ["interactive", "message"];
  return [...new Set(named)].filter((name) => !doors.includes(name));
};

describe("the coverage table has a row", () => {
  test("for every method, with a description", () => {
    expect(subjects("Methods of the Web API")).toEqual([...methods.keys()].sort());
    expect(strayMethods).toEqual([]);
    expect(rows.filter(({ what }) => what.startsWith("this method is not described"))).toEqual([]);
  });

  test("for everything that people do, and every event that the app can receive", () => {
    const sent = new Set([...payloads(), ...eventScopes.keys()]);
    expect(subjects("What people do, and what the app receives")).toEqual([...sent].sort());
  });

  test("for every refusal, block and element", () => {
    expect(subjects("Errors")).toEqual(Object.keys(errors).sort());
    expect(subjects("Blocks")).toEqual(typesOf(allBlocks).sort());
    expect(subjects("Elements")).toEqual(typesOf(allElements).sort());
  });

  test("for every time limit of Slack", () => {
    expect(Object.keys(namedLimits)).toEqual(expect.arrayContaining(Object.keys(slackTiming)));
  });

  test("for each subject only once", () => {
    for (const { rows: own } of coverage) {
      const names = own.map(({ subject }) => subject);
      expect(new Set(names).size).toBe(names.length);
    }
  });
});

test("every row except those of missing features names tests that exist", () => {
  const unproved = rows.filter(({ proof }) => proof === null);
  expect(unproved.filter(({ how }) => how !== "not imitated")).toEqual([]);
  const isTest = (file: string, title: string): boolean => {
    const source = readFileSync(at(`./${file}`), "utf8");
    return ["test(", ")("].some((before) =>
      ['"', "'"].some((quote) =>
        [`${before}${quote}${title}${quote}`, `${before}\n  ${quote}${title}${quote}`].some((call) =>
          source.includes(call),
        ),
      ),
    );
  };
  const proofs = rows.flatMap(({ proof, also = [] }) => (proof === null ? [] : [proof, ...also]));
  expect(proofs.length).toBeGreaterThan(100);
  expect(proofs.filter(([file, title]) => !isTest(file, title))).toEqual([]);
});

test("every refusal of the table is used somewhere in the code", () => {
  const folder = at("../../../sandbox/slack/");
  const code = readdirSync(folder)
    .filter((name) => name !== "errors.ts")
    .map((name) => readFileSync(`${folder}${name}`, "utf8"))
    .join("\n");
  const made = ["invalid_blocks_format", "invalid_metadata_format"];
  expect(code).toContain("`invalid_${name}_format`");
  const never = Object.keys(errors).filter((name) => !made.includes(name) && !code.includes(`"${name}"`));
  expect(never).toEqual([]);
});

test("the judge's suites use only the SDK, the sandbox's start and its tables", () => {
  const shared = ["driven-methods.ts", "used-elements.ts"];
  const judges = readdirSync(at("./")).filter((name) => name.startsWith("judge") || shared.includes(name));
  const SEED = "#sandbox/world/seed.ts";
  const allowed = [
    "node:",
    "@slack/bolt",
    "@slack/web-api",
    "vitest",
    "./judge.ts",
    "#sandbox/slack/",
    SEED,
  ].concat(shared.map((name) => `./${name}`));
  const tables = ["start-slack.ts", "methods.ts", "rules-elements.ts"].map(
    (name) => `#sandbox/slack/${name}`,
  );
  for (const name of judges) {
    const imports = [...readFileSync(at(`./${name}`), "utf8").matchAll(/from "([^"]+)"/g)].map(
      ([, from]) => from ?? "",
    );
    expect(imports.length).toBeGreaterThan(0);
    expect(imports.filter((from) => !allowed.some((start) => from.startsWith(start)))).toEqual([]);
    expect(imports.filter((from) => from.startsWith("#sandbox/slack/") && !tables.includes(from))).toEqual(
      [],
    );
  }
});

test("the page in docs/ matches the table", async () => {
  const { code } = await format("sandbox-coverage.md", coverageDocument(), { printWidth: 110 });
  await expect(code).toMatchFileSnapshot(at("../../../docs/development/sandbox-coverage.md"));
});
