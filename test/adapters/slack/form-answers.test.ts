// What the forms for a decision and for a run say when a press could not be recorded.

import { expect, test } from "vitest";
import { onDecisionSubmit, onRunFormSubmit } from "#src/adapters/slack/form-answers.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import type { SubmitPayload } from "#src/adapters/slack/payloads.ts";
import { failure } from "../../make/bot.ts";
import { aNonce, APPROVER, CHANNEL, TEAM } from "../../make/run.ts";

const noChange = { ready: () => null };

/** The database fails every press. `applied`: whether the press may be stored all the same. */
const failing = (applied: "no" | "maybe") => {
  const fails = () => Promise.reject(failure("store_down", { applied }));
  const quiet = { log: { error: () => undefined }, replacements: noChange };
  const parts = { submitDecision: fails, startRun: { start: fails }, ...quiet };
  return { team: TEAM, command: "/agent", ...parts } as unknown as ListenerDeps;
};

const submitted = (private_metadata: string, values: SubmitPayload["view"]["state"]["values"] = {}) => ({
  user: { id: APPROVER },
  view: { private_metadata, state: { values } },
});
const TASK = { task: { task_text: { value: "deploy" } } };

test("a press that is not recorded says nothing certain about an earlier one of the same form", async () => {
  const deps = failing("no");
  const answers = [
    await onDecisionSubmit(deps, submitted(aNonce())),
    await onRunFormSubmit(deps, submitted(`${aNonce()} ${CHANNEL}`, TASK)),
  ];
  for (const answer of answers.map((each) => JSON.stringify(each))) {
    expect(answer).toContain("an earlier press may have been recorded");
    expect(answer).not.toMatch(/Nothing was sent|Not started/);
  }
});

test.each(["no", "maybe"] as const)(
  "a saved task without fields is never called not started, because an earlier press may be recorded (%s)",
  async (applied) => {
    const form = submitted(`${aNonce()} ${CHANNEL} restart ${"d".repeat(64)}`);
    const answer = JSON.stringify(await onRunFormSubmit(failing(applied), form));
    expect(answer).toContain("answer:run-maybe-recorded");
    expect(answer).toContain("/agent list");
    expect(answer).not.toMatch(/Not started|the button/);
  },
);
