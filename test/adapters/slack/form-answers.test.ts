// What the forms for a decision and for a run say when a press could not be recorded, or is refused.

import type { View } from "@slack/types";
import { describe, expect, test } from "vitest";
import { onUndoInWindow } from "#src/adapters/slack/clicks.ts";
import { onAnswerSubmit, onQuestionSubmit } from "#src/adapters/slack/follow-up-clicks.ts";
import {
  drawAgain,
  onDecisionSubmit,
  onRunFormSubmit,
  type SubmitAnswer,
} from "#src/adapters/slack/form-answers.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import {
  APPROVE_REASON_BLOCK,
  DENY_REASON_BLOCK,
  REASON_BLOCK,
  REASON_INPUT,
  REVIEW_BLOCK,
  SAID_BLOCK,
  SAID_INPUT,
  VERDICT_INPUT,
  WINDOW_UNDO,
} from "#src/adapters/slack/names.ts";
import type { SubmitPayload } from "#src/adapters/slack/payloads.ts";
import { onReviewSubmit } from "#src/adapters/slack/review-form.ts";

import type { Run } from "#src/domain/run.ts";
import { cardSlot } from "#src/domain/slot.ts";
import type { Refusal } from "#src/domain/authorization.ts";
import { err, ok } from "#src/domain/result.ts";
import type { Reviewed } from "#src/usecases/submit-review.ts";
import { failure } from "../../make/bot.ts";
import { createHandClock } from "../../make/clock.ts";
import {
  anApproval,
  aRun,
  aNonce,
  APPROVER,
  aRequest,
  aWatchedRun,
  CHANNEL,
  NOON,
  TEAM,
  withApprovals,
} from "../../make/run.ts";
import { UP } from "./blocks/page/example.ts";
import { printedView } from "./blocks/printed.ts";

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

test("an approval is taken back even if Slack does not draw its window again, which is only logged", async () => {
  const nonce = aNonce();
  const undone: unknown[] = [];
  const warned: unknown[] = [];
  const deps = {
    ...failing("no"),
    quick: () => Promise.reject(failure("no_answer", { applied: "maybe" })),
    undoDecision: { inWindow: async (_by: unknown, which: unknown) => (undone.push(which), ok(aRun())) },
    log: { warn: (fields: unknown) => void warned.push(fields) },
  } as unknown as ListenerDeps;
  const [user, view] = [{ id: APPROVER }, { id: "V1" }];
  await onUndoInWindow(deps, { user, view, actions: [{ action_id: "undo", value: nonce }] });
  await drawAgain(deps, { user, view } as Parameters<typeof drawAgain>[1], {} as View);
  expect(undone).toEqual([nonce]);
  expect(warned).toEqual([{ code: "no_answer" }, { code: "no_answer" }]);
});

test.each(["no", "maybe"] as const)(
  "an undo that may be recorded is not called undone or not undone, and its window keeps Undo (%s)",
  async (applied) => {
    const nonce = aNonce();
    const views: View[] = [];
    const fails = () => Promise.reject(failure("store_down", { applied }));
    const deps = {
      ...failing(applied),
      quick: async (_method: string, { view }: { view: View }) => void views.push(view),
      undoDecision: { inWindow: fails },
    } as unknown as ListenerDeps;
    const [user, view] = [{ id: APPROVER }, { id: "V1" }];
    const press = (value: string) =>
      onUndoInWindow(deps, { user, view, actions: [{ action_id: WINDOW_UNDO, value }] });
    await press(nonce);
    const drawn = JSON.stringify(views);
    expect(drawn).not.toMatch(/not taken back/i);
    const { blocks = [] } = views[0] ?? {};
    const buttons = blocks.flatMap((block) => ("elements" in block ? (block.elements as object[]) : []));
    expect(buttons).toMatchObject([{ type: "button", action_id: WINDOW_UNDO, value: nonce }]);
  },
);

describe("a form that something refuses while a person types keeps what they typed", () => {
  const REASON = "checked with the on-call engineer";
  const field = (block: string, value: string) => ({ [block]: { [REASON_INPUT]: { value } } });
  const run = aWatchedRun();
  const stop = { by: APPROVER, at: NOON };
  const freeze = { entry: 1, channel: null, by: APPROVER, at: NOON, why: "" };
  const was = { needs: 2, holdMs: 0 };

  test.each<Refusal>([
    { type: "changed", was: aRequest("deploy"), now: aRequest("delete") },
    { type: "rule-changed", was, now: { needs: 1, holdMs: 0 } },
    { type: "stopped", stop },
    { type: "frozen", freeze },
  ])("in the window that says why ($type)", async (refusal) => {
    const submitDecision = () => Promise.resolve(err({ refusal, run }));
    const deps = { team: TEAM, replacements: noChange, submitDecision } as unknown as ListenerDeps;
    const submit = (typed: string) => onDecisionSubmit(deps, submitted(aNonce(), field(REASON_BLOCK, typed)));
    const shown = printedAnswer(await submit(REASON));
    expect(shown).toContain(`You typed:\n| ${REASON}`);
    expect(printedAnswer(await submit(" "))).not.toContain("You typed");
  });

  test.for<[Refusal["type"], Refusal]>([
    ["changed", { type: "changed", was: aRequest("deploy"), now: aRequest("delete") }],
    ["stopped", { type: "stopped", stop }],
    ["frozen", { type: "frozen", freeze }],
    ["unknown", { type: "unknown" }],
  ])("in the window that refuses a question or an answer (%s)", async ([, refusal]) => {
    const refuse = () => Promise.resolve(err({ refusal, run }));
    const deps = { team: TEAM, askRequester: { ask: refuse, answer: refuse } } as unknown as ListenerDeps;
    for (const submit of [onQuestionSubmit, onAnswerSubmit]) {
      const answerTo = (typed: string) =>
        submit(deps, submitted(aNonce(), { [SAID_BLOCK]: { [SAID_INPUT]: { value: typed } } }));
      expect(printedAnswer(await answerTo(REASON))).toContain(`You typed:\n| ${REASON}`);
      expect(printedAnswer(await answerTo(" "))).not.toContain("You typed");
    }
  });

  test("in the results of Review together, if something was refused", async () => {
    const [nonce, bundle] = [aNonce(), aNonce()];
    const chosen = {
      [`${REVIEW_BLOCK}${nonce}`]: { [VERDICT_INPUT]: { selected_option: { value: "deny" } } },
    };
    const values = { ...chosen, ...field(APPROVE_REASON_BLOCK, REASON), ...field(DENY_REASON_BLOCK, "no") };
    const answerTo = async (refused: Reviewed["refused"]) => {
      const reviewed = ok({ recorded: { approve: 1, deny: 0 }, refused });
      const submitReview = () => Promise.resolve(reviewed);
      const deps = { team: TEAM, clock: createHandClock(), submitReview } as unknown as ListenerDeps;
      return onReviewSubmit(deps, submitted(`${bundle} run value 1`, values));
    };
    const refused = {
      request: aRequest("deploy"),
      run,
      approval: null,
      refusal: { type: "stopped", stop },
    } as const;
    expect(printedAnswer(await answerTo([refused]))).toContain(`You typed:\n| ${REASON}\n| no`);
    expect(JSON.stringify(await answerTo([]))).not.toContain("You typed");
  });
});

test("the results of Review together name a changed request by what it is now, with a link to its card", async () => {
  const was = aRequest({ action: "delete the old certificate" });
  const content = { action: "delete service 1", risk: "critical" };
  const now = { ...aRequest(content), action: "delete service 1" };
  const approval = { ...anApproval(), request: now };
  const run: Run = {
    ...withApprovals(aWatchedRun(), approval),
    posts: { [cardSlot(approval.id)]: UP },
  };
  const line = { request: was, run, approval: approval.id, refusal: { type: "changed", was, now } } as const;
  const reviewed = ok({ recorded: { approve: 1, deny: 0 }, refused: [line] });
  const permalink = "https://acme.slack.com/archives/C0OPS/p1";
  const deps = {
    team: TEAM,
    clock: createHandClock(),
    submitReview: () => Promise.resolve(reviewed),
    quick: () => Promise.resolve({ permalink }),
  } as unknown as ListenerDeps;
  const values = {
    [`${REVIEW_BLOCK}${aNonce()}`]: { [VERDICT_INPUT]: { selected_option: { value: "approve" } } },
  };
  const shown = printedAnswer(await onReviewSubmit(deps, submitted(`${aNonce()} run value 1`, values)));
  expect(shown).toContain("delete the old certificate");
  expect(shown).toContain("Now: 🟥 **delete service 1** · Critical risk");
  expect(shown).toContain(permalink);
});

const printedAnswer = (answer: SubmitAnswer): string =>
  answer?.response_action === "update" ? printedView(answer.view) : "";
