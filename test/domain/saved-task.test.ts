// Saved tasks: how a typed line is read, and what the filled-in text says.

import { describe, expect, test } from "vitest";
import { fieldNames, fillTask, readTaskLine, type SavedTask } from "#src/domain/policy/saved-task.ts";

const DEPLOY: SavedTask = {
  name: "deploy",
  description: "Deploys a service",
  text: "Deploy {service} to {env}{note}",
  fields: [
    { name: "service", label: "Service", choices: null, required: true },
    { name: "env", label: "Environment", choices: ["staging", "eu west"], required: true },
    { name: "note", label: "Note", choices: null, required: false },
  ],
  channels: null,
  who: null,
};

describe("a typed line", () => {
  test.each<[string, object | null]>([
    ["deploy", {}],
    ["deploy service=billing", { service: "billing" }],
    ['  deploy  service="billing api"   env=staging ', { service: "billing api", env: "staging" }],
    ["deploy service=“billing api”", { service: "billing api" }], // quoted as phones do
    ['deploy note="" service=a=b', { note: "", service: "a=b" }],
    ["deploy billing to staging", null],
    ["deploy service=billing to staging", null],
    ['deploy service="billing', null],
    ['deploy service="a"b', null],
    ["deployed service=billing", null],
    ["Deploy service=billing", null],
    ["", null],
  ])("%j", (line, values) => {
    expect(readTaskLine(line, [DEPLOY])?.values ?? null).toEqual(values);
  });

  test("names only tasks that the policy has", () => {
    expect(readTaskLine("constructor a=b", [DEPLOY])).toBeNull();
  });
});

describe("a filled-in text", () => {
  test("has each value in its place, unchanged", () => {
    const values = { service: "{env} $& $1", env: "eu west", note: " now" };
    expect(fillTask(DEPLOY, values)).toEqual({ type: "filled", text: "Deploy {env} $& $1 to eu west now" });
  });

  test("may leave optional fields empty", () => {
    expect(fillTask(DEPLOY, { service: "a", env: "staging" })).toEqual({
      type: "filled",
      text: "Deploy a to staging",
    });
  });

  test.each<[object, object]>([
    [{ env: "staging" }, { missing: ["Service"], wrong: [], unknown: [] }],
    [
      { service: " \u200B", env: "staging" },
      { missing: ["Service"], wrong: [], unknown: [] },
    ],
    [
      { service: "a", env: "production" },
      { missing: [], wrong: [{ label: "Environment", choices: ["staging", "eu west"] }], unknown: [] },
    ],
    [
      { service: "a", env: "staging", sevice: "b" },
      { missing: [], wrong: [], unknown: ["sevice"] },
    ],
    [{ toString: "x" }, { missing: ["Service", "Environment"], wrong: [], unknown: ["toString"] }],
  ])("is refused with %j", (values, why) => {
    expect(fillTask(DEPLOY, { ...values })).toEqual({ type: "unfinished", ...why });
  });
});

test("the fields of a text are the names in its braces, once each", () => {
  expect(fieldNames("Deploy {a} {b} {a} {A} { c } {d-1} {}")).toEqual(["a", "b", "d-1"]);
});
