import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as runs from "#sandbox/service/service-run.ts";
import type { Run } from "#sandbox/service/service-run.ts";
import { wake } from "#sandbox/service/script.ts";
import { stepsFor } from "#sandbox/service/tasks.ts";

const inputs = [
  "Deploy billing",
  "Just say hello",
  "Deploy with two approvals",
  "Do several things",
  "A staged rollout",
  "Please withdraw",
  "Please change it",
  "Deploy, fail if denied",
  "Now fail",
  "Now cancel",
  "Work forever",
];

/** Selects an approval of the run. One past the last selects an unknown approval. */
const which = fc.nat({ max: 4 });
const action = fc.oneof(
  fc.record({ do: fc.constant("wake" as const) }),
  fc.record({ do: fc.constantFrom("withdraw", "change", "reopen"), which }),
  fc.record({ do: fc.constant("decide" as const), which, verdict: fc.constantFrom("approve", "deny") }),
  fc.record({ do: fc.constant("ask" as const), count: fc.nat({ max: 2 }) }),
  fc.record({ do: fc.constant("end" as const), type: fc.constantFrom("succeeded", "failed", "canceled") }),
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

const ending = (is: runs.Ending["type"]): runs.Ending =>
  ({
    succeeded: { type: "succeeded", output: "done" } as const,
    failed: { type: "failed", code: "x", message: "x" } as const,
    canceled: { type: "canceled", reason: "x" } as const,
  })[is];

function moved(run: Run, action: Exclude<Action, { do: "wake" }>, now: number): runs.Moved {
  const id = "which" in action ? (run.approvals[action.which]?.id ?? "unknown") : "";
  switch (action.do) {
    case "decide":
      return runs.decide(run, id, { verdict: action.verdict, reason: null }, now);
    case "withdraw":
      return runs.withdraw(run, id, now);
    case "change":
      return runs.change(run, id, { action: `changed at ${now}` });
    case "reopen":
      return runs.reopen(run, id);
    case "ask": {
      const ask = (index: number) => ({ id: `asked-${now}-${index}`, action: "more", details: {} });
      return runs.ask(
        run,
        Array.from({ length: action.count }, (_, index) => ask(index)),
        now,
      );
    }
    case "end":
      return runs.end(run, ending(action.type), now);
  }
}

function act(run: Run, action: Action, now: number): Run {
  if (action.do === "wake") {
    let count = 0;
    return wake(run, stepsFor(run.input), { now, tempo: 1, newApprovalId: () => `${now}-${count++}` });
  }
  const result = moved(run, action, now);
  return result.ok ? result.run : run;
}

function histories(check: (before: Run, after: Run, action: Action) => void) {
  fc.assert(
    fc.property(fc.constantFrom(...inputs), fc.array(action, { maxLength: 40 }), (input, actions) => {
      let run = runs.newRun("run_1", input, 0);
      for (const [index, action] of actions.entries()) {
        const next = act(run, action, index + 1);
        check(run, next, action);
        run = next;
      }
    }),
    { numRuns: 2_000 },
  );
}

test("a run with a pending approval is awaiting, and one without is not, whatever happens", () => {
  histories((_, after) => expect(after.phase === "awaiting_approval").toBe(runs.pendingOf(after).length > 0));
});

test("a run leaves awaiting_approval only by its last resolution, a failure or a cancellation", () => {
  histories((before, after, action) => {
    if (before.phase !== "awaiting_approval" || after.phase === "awaiting_approval") return;
    if (after.phase === "failed" || after.phase === "canceled") return;
    expect(after.phase).toBe("working");
    expect(["decide", "withdraw", "wake"]).toContain(action.do);
    expect(runs.pendingOf(before)).toHaveLength(1);
  });
});

test("a run that has ended does not change", () => {
  histories((before, after) => {
    if (!runs.isOver(before)) return;
    expect({ ...after, wakeAt: null }).toEqual(before);
  });
});

test("a decision keeps its verdict unless the request is made again", () => {
  histories((before, after, action) => {
    if (action.do === "reopen") return;
    for (const approval of before.approvals.filter(({ state }) => state.type === "decided")) {
      expect(after.approvals).toContainEqual(approval);
    }
  });
});
