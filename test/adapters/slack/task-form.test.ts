// The form that starts a run, while its person chooses among the saved tasks.

import type { View } from "@slack/types";
import { expect, test } from "vitest";
import { onRunFormSubmit } from "#src/adapters/slack/form-answers.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import type { SubmitPayload } from "#src/adapters/slack/payloads.ts";
import { onTaskChosen, openTaskForm } from "#src/adapters/slack/task-form.ts";
import type { SavedTask } from "#src/domain/policy/saved-task.ts";
import type { Block } from "#sandbox/slack/model.ts";
import { isJson, type Json } from "#sandbox/slack/json-object.ts";
import { stateOf } from "#sandbox/slack/state-values.ts";
import { createBench } from "../../make/bot.ts";
import { aPolicy } from "../../make/policy.ts";
import { SAVED_TASK } from "../../make/saved-task.ts";
import { aNonce, CHANNEL, REQUESTER, TEAM } from "../../make/run.ts";
import { expectView, textOf, wire } from "./blocks/oracle.ts";

const OTHER: SavedTask = { ...SAVED_TASK, name: "other" };

function chosenIn(inputs: readonly Json[]): unknown {
  const menu = inputs.find((each) => "task_chosen" in each)?.["task_chosen"];
  const option = isJson(menu) ? menu["selected_option"] : null;
  return isJson(option) ? option["value"] : null;
}

/** Opens the form. As in Slack, a choice stays in its menu until the menu gets another block id. */
async function opened() {
  const slack = { view: null as View | null, drawn: 0, offered: [SAVED_TASK, OTHER] };
  const values: Record<string, Record<string, string>> = {};
  const deps = {
    team: TEAM,
    nonce: aNonce,
    startRun: { offered: async () => slack.offered.map((task) => ({ task, digest: "0123456789ab" })) },
    quick: async (_method: string, { view }: { view: View }) => {
      slack.view = view;
      slack.drawn += 1;
    },
    noteRefusal: async () => {},
    log: { warn() {} },
  } as unknown as ListenerDeps;
  await openTaskForm(deps, { team: TEAM, user: REQUESTER, channel: CHANNEL }, "1", null);
  const metadata = () => slack.view?.private_metadata ?? "";
  const blocks = () => wire(slack.view?.blocks) as unknown as readonly Block[];
  return {
    slack,
    choose: async (value: string): Promise<void> => {
      const menu = Object.entries(stateOf(blocks(), values)).find(([, each]) => "task_chosen" in each);
      values[menu?.[0] ?? ""] = { task_chosen: value };
      await onTaskChosen(deps, {
        user: { id: REQUESTER },
        view: { id: "V1", hash: `${slack.drawn}.1`, private_metadata: metadata(), state: { values: {} } },
        actions: [{ action_id: "task_chosen", selected_option: { value } }],
      });
    },
    /** The task of the form, and the task that its menu shows as chosen. */
    shown: () => [metadata().split(" ")[2] ?? "*", chosenIn(Object.values(stateOf(blocks(), values)))],
  };
}

test("the menu of the form shows the task of the form, whichever tasks were chosen before", async () => {
  const { choose, shown } = await opened();
  for (const name of [SAVED_TASK.name, "other", SAVED_TASK.name, "*", "other", "*"]) {
    await choose(name);
    expect(shown()).toEqual([name, name]);
  }
});

test("the menu of the form shows no task that was chosen when it was no longer offered", async () => {
  const { slack, choose, shown } = await opened();
  slack.offered = [OTHER];
  await choose(SAVED_TASK.name);
  expect(shown()).toEqual(["*", "*"]);
  slack.offered = [SAVED_TASK, OTHER];
  await choose(SAVED_TASK.name);
  expect(shown()).toEqual([SAVED_TASK.name, SAVED_TASK.name]);
});

/** What a person gets for a deploy with this note, typed without its required fields. */
async function typedWith(note: string) {
  const bench = await createBench();
  bench.policy = { ...aPolicy({}), tasks: [SAVED_TASK] };
  const views: View[] = [];
  const deps = {
    command: "/agent",
    nonce: aNonce,
    startRun: bench.flow.startRun,
    quick: async (_method: string, { view }: { view: View }) => void views.push(view),
  } as unknown as ListenerDeps;
  const typed = `deploy note="${note}"`;
  const saved = { name: SAVED_TASK.name, values: { note } };
  const start = { input: typed, intention: "1", answerUrl: null, typed, saved };
  const answer = await openTaskForm(deps, { team: TEAM, user: REQUESTER, channel: CHANNEL }, "1", start);
  return { typed, views, answer };
}

test("the form holds the whole of a field that was typed with the command", async () => {
  const note = "🚀 notes ".repeat(333).padEnd(3_000, ".");
  expect(note).toHaveLength(3_000);
  const { views, answer } = await typedWith(note);
  expect(answer).toBeNull();
  views.forEach(expectView);
  expect(JSON.stringify(views)).toContain(`"initial_value":${JSON.stringify(note)}`);
});

test("a field that is too long for the form opens none, and the whole command is given back", async () => {
  const { typed, views, answer } = await typedWith("n".repeat(3_001));
  expect(views).toEqual([]);
  expect(answer?.text).toContain("Missing: Service, Environment.");
  expect(textOf(answer?.blocks)).toContain(`/agent run ${typed.slice(0, 20)}`);
  expect(textOf(answer?.blocks).match(/n/g)?.length).toBeGreaterThanOrEqual(3_001);
});

// A press of Start whose menu shows another task than the form, because Slack has not drawn the form of the chosen task.

/** Submits the form of `shown`, in whose menu `chosen` is chosen. */
async function submittedWith(
  shown: string,
  chosen: string,
  inputs: SubmitPayload["view"]["state"]["values"],
) {
  const bench = await createBench();
  bench.policy = { ...aPolicy({}), tasks: [SAVED_TASK, OTHER] };
  const { startRun, noteRefusal } = bench.flow;
  const parts = { team: TEAM, command: "/agent", nonce: aNonce, startRun, noteRefusal };
  const deps = parts as unknown as ListenerDeps;
  const by = { team: TEAM, user: REQUESTER, channel: CHANNEL };
  const digest = (await startRun.offered(by)).find(({ task }) => task.name === shown)?.digest;
  const task = digest === undefined ? "" : ` ${shown} ${digest}`;
  const menu = { "task_menu:1.1": { task_chosen: { selected_option: { value: chosen } } } };
  const answer = await onRunFormSubmit(deps, {
    user: { id: REQUESTER },
    view: { private_metadata: `${aNonce()} ${CHANNEL}${task}`, state: { values: { ...menu, ...inputs } } },
  });
  const view = answer?.response_action === "update" ? answer.view : null;
  return { bench, view, started: (await bench.store.auditAfter(0, ["started"], 9)).length };
}

const FILLED = {
  "task_field:deploy:service": { task_field: { value: "billing" } },
  "task_field:deploy:env": { task_field: { selected_option: { value: "staging" } } },
};
const OWN_TEXT = { task: { task_text: { value: "Deploy billing" } } };

test.each([
  [SAVED_TASK.name, "other", FILLED],
  [SAVED_TASK.name, "*", FILLED],
  ["*", SAVED_TASK.name, OWN_TEXT],
])(
  "a form of %s whose menu shows %s starts nothing and becomes the form of that task",
  async (shown, chosen, inputs) => {
    const { view, started } = await submittedWith(shown, chosen, inputs);
    expect(started).toBe(0);
    expectView(view);
    expect(view?.private_metadata?.split(" ")[2] ?? "*").toBe(chosen);
    expect(chosenIn(Object.values(stateOf(wire(view?.blocks) as unknown as Block[], {})))).toBe(chosen);
    expect(JSON.stringify(view)).not.toContain("task_menu:1.1");
  },
);

test("a form whose menu shows its own task starts a run", async () => {
  expect(await submittedWith(SAVED_TASK.name, SAVED_TASK.name, FILLED)).toMatchObject({ started: 1 });
  expect(await submittedWith("*", "*", OWN_TEXT)).toMatchObject({ started: 1 });
});

test("a form that started a run stays open when it is submitted with another task, and closes when it is submitted again", async () => {
  const bench = await createBench();
  const { startRun, noteRefusal } = bench.flow;
  const parts = { team: TEAM, command: "/agent", nonce: aNonce, startRun, noteRefusal };
  const metadata = `${aNonce()} ${CHANNEL}`;
  const submit = (value: string) =>
    onRunFormSubmit(parts as unknown as ListenerDeps, {
      user: { id: REQUESTER },
      view: { private_metadata: metadata, state: { values: { task: { task_text: { value } } } } },
    });
  expect(await submit("Deploy billing")).toBeUndefined();
  expect(await submit("Deploy search")).toMatchObject({ response_action: "errors" });
  expect(await submit("Deploy billing")).toBeUndefined();
});

test("a form whose menu shows a task that is not offered starts nothing, and the audit has the attempt", async () => {
  const { bench, view, started } = await submittedWith(SAVED_TASK.name, "gone", FILLED);
  expect(started).toBe(0);
  expect(view?.private_metadata?.split(" ")).toHaveLength(2);
  const refused = await bench.store.auditAfter(0, ["refused"], 9);
  expect(refused.map(({ entry }) => entry)).toMatchObject([{ refusal: "unknown", step: "start" }]);
});
