import { describe, expect, test } from "vitest";
import { suggestCommand } from "#src/adapters/slack/typed-command.ts";

describe("a suggestion for a mistyped command", () => {
  test.for([
    ["statsu", "status", ""],
    ["STATSU run_7", "status", "run_7"],
    ["staus run_7", "status", "run_7"],
    ["lsit", "list", ""],
    ["halp", "help", ""],
    ["unwach run_7", "unwatch", "run_7"],
    ["freez here it burns", "freeze", "here it burns"],
    ["/health", "health", ""],
  ])('"%s" suggests %s', ([text = "", subcommand, rest]) => {
    expect(suggestCommand(text)).toEqual({ type: "command", subcommand, rest });
  });

  test.for([
    ["deploy billing-api to production", "deploy billing-api to production"],
    ["rnu deploy it", "deploy it"],
    ["match the versions of both", "match the versions of both"],
    ["improve the docs", "improve the docs"],
    ["  deploy\n  it  ", "deploy\n  it"],
  ])('"%s" suggests a task', ([text = "", task]) => {
    expect(suggestCommand(text)).toEqual({ type: "run", task });
  });

  test.for([
    "approve run_1",
    "Deny apr_1 no",
    "/approve",
    "aprove it",
    "reject",
    "Approve!",
    "yes run_1",
    "yes, go on",
  ])('"%s" is an attempt to decide, and never a task', (text) => {
    expect(suggestCommand(text)).toEqual({ type: "decide" });
  });

  test.for(["frobnicate", "x".repeat(5_000), "run", "🚀", ""])('"%s" suggests nothing', (text) => {
    expect(suggestCommand(text)).toBeNull();
  });
});
