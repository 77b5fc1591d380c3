// The form that starts a run, while its person chooses among the saved tasks.

import type { View } from "@slack/types";
import { expect, test } from "vitest";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
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
