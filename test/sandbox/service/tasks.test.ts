import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createManualClock } from "#sandbox/base/sandbox-clock.ts";
import type { Run } from "#sandbox/service/service-run.ts";
import { startService } from "#sandbox/service/start-service.ts";
import type { Service } from "#sandbox/service/start-service.ts";
import { scriptFor, tasks } from "#sandbox/service/tasks.ts";

const text: unknown = expect.any(String);

let service: Service;
beforeEach(async () => {
  service = await startService({ clock: createManualClock() });
});
afterEach(() => service.stop());

const started = (input: string) => service.control.createRun(input).id;
const minutes = (count: number) => service.control.advance(count * 60_000);

function now(id: string): Run {
  const run = service.runs.get(id);
  if (run === undefined) throw new Error(`no run ${id}`);
  return run;
}

const pending = (id: string) => now(id).approvals.filter(({ state }) => state.type === "pending");

function decideAll(id: string, verdict: "approve" | "deny", reason: string | null = null) {
  for (const approval of pending(id)) service.control.resolveElsewhere(id, approval.id, { verdict, reason });
}

function outputOf(id: string): string {
  const { ending } = now(id);
  return ending?.type === "succeeded" ? ending.output : `not succeeded: ${JSON.stringify(ending)}`;
}

test("a run changes only with its clock: queued, working, waiting, working, succeeded", () => {
  const id = started("Deploy the billing service");
  const phases = [now(id).phase];
  service.control.advance(500);
  phases.push(now(id).phase);
  minutes(1);
  phases.push(now(id).phase);
  minutes(600);
  expect(pending(id)).toMatchObject([{ action: "Deploy the billing service to production" }]);
  decideAll(id, "approve", "the release notes are fine");
  phases.push(now(id).phase);
  minutes(1);
  phases.push(now(id).phase);
  expect(phases).toEqual(["queued", "working", "awaiting_approval", "working", "succeeded"]);
  expect(outputOf(id)).toContain("approved and done. Reason: the release notes are fine");
});

test("a denied run continues without the action, and says what was not done and why", () => {
  const id = started("Deploy the billing service");
  minutes(1);
  decideAll(id, "deny", "it is Friday");
  minutes(1);
  expect(outputOf(id)).toMatch(
    /not everything was done[^]*\*\*not done\*\*, it was denied\. Reason: it is Friday/,
  );
});

test('a run with "fail if denied" fails if it is denied, and only then', () => {
  const [denied, approved] = [started("Deploy, fail if denied"), started("Deploy, fail if denied")];
  minutes(1);
  decideAll(denied, "deny");
  decideAll(approved, "approve");
  minutes(1);
  expect(now(denied)).toMatchObject({ phase: "failed", ending: { code: "denied" } });
  expect(now(approved).phase).toBe("succeeded");
});

test.for([
  ["Finish immediately", "succeeded", 0],
  ["Please fail", "failed", 0],
  ["Please cancel", "canceled", 0],
  ["Work forever", "working", 0],
  ["Get two approvals", "awaiting_approval", 2],
  ["Get several approvals", "awaiting_approval", 4],
] as const)('"%s" comes to rest as %s with %i pending', ([input, phase, count]) => {
  const id = started(input);
  minutes(10);
  expect(now(id).phase).toBe(phase);
  expect(pending(id)).toHaveLength(count);
});

test('"just say" answers with the words that follow', () => {
  const id = started("Just say good morning");
  minutes(1);
  expect(outputOf(id)).toBe("good morning");
});

test("stages are requested one after another, and end with a denied one", () => {
  const id = started("A staged rollout of billing");
  const asked: unknown[] = [];
  for (const verdict of ["approve", "approve", "deny"] as const) {
    minutes(1);
    asked.push(pending(id).map(({ details }) => details["environment"]));
    decideAll(id, verdict);
  }
  minutes(1);
  expect(asked).toEqual([["staging"], ["canary"], ["production"]]);
  const early = started("A staged rollout of billing");
  minutes(1);
  decideAll(early, "deny");
  minutes(1);
  expect(now(early)).toMatchObject({
    phase: "succeeded",
    approvals: [{ details: { environment: "staging" } }],
  });
});

test("a run continues without its action if the request is withdrawn", () => {
  const id = started("Deploy, then withdraw");
  minutes(1);
  expect(pending(id)).toHaveLength(0);
  expect(outputOf(id)).toContain("withdrawn before anyone decided");
});

test("a changed request keeps its id and asks for something else", () => {
  const id = started("Deploy a change");
  service.control.advance(5_000);
  const [before] = pending(id);
  minutes(1);
  const [after] = pending(id);
  expect(after?.id).toBe(before?.id);
  expect([before?.details["environment"], after?.details["environment"]]).toEqual(["staging", "production"]);
});

test("a slow run is still working after half a minute", () => {
  const id = started("Something slow");
  minutes(0.5);
  expect(now(id).phase).toBe("working");
  minutes(1);
  expect(now(id).phase).toBe("awaiting_approval");
});

test("huge texts have their full length, and hostile texts contain deceptive characters", () => {
  const [request, output, hostile] = [started("A huge request"), started("Be huge"), started("Be hostile")];
  minutes(1);
  expect(pending(request)[0]?.action).toHaveLength(200_000);
  expect(outputOf(output)).toHaveLength(200_000);
  for (const trap of ["<!channel>", "\u202e", "\u200b", "\u0000"]) {
    expect(pending(hostile)[0]?.action).toContain(trap);
  }
});

test("the table of tasks names every word once", () => {
  const words = tasks.flatMap(({ words }) => words.split(", "));
  expect(new Set(words).size).toBe(words.length);
  expect(tasks.every(({ what }) => what.length > 0)).toBe(true);
});

test("a task's script is described: which of its words selected it, and each step", () => {
  expect(scriptFor("Please WITHDRAW the deployment of billing")).toEqual({
    words: "withdraw",
    what: "asks for one approval, withdraws it after 20 s, and continues without it",
    steps: [
      "works for 1.5 s",
      'asks for approval: "Deploy the result of “Please WITHDRAW the deployment of billing” to production"; withdraws it if no one decides within 20 s',
      "works for 1.5 s",
      "succeeds, and says what was decided and why",
    ],
  });
  expect(scriptFor("Deploy billing")).toMatchObject({
    words: "(anything else)",
    steps: [text, 'asks for approval: "Deploy billing to production"', text, text],
  });
});

test("each step of every task in the table has a description", () => {
  for (const { words } of tasks) {
    const { steps } = scriptFor(words.split(", ")[0] ?? "");
    expect(steps.length).toBeGreaterThan(0);
    expect(steps).not.toContain("");
  }
});

test("the README of the sandbox lists all words that select what a run does", () => {
  const readme = readFileSync(new URL("../../../sandbox/README.md", import.meta.url), "utf8");
  const part = readme.split("## Words in a task")[1]?.split("\n## ")[0] ?? "";
  const rows = part.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| words"));
  expect(rows).toEqual(tasks.map(({ words, what }) => `| ${words} | ${what} |`));
});
