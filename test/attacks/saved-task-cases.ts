// Forged forms of a saved task. Slack's own client sends only what the bot drew, but an attacker can send anything.

import { ben, guest, opsAgents } from "../make/world.ts";
import { type Attack, attacks } from "./classes.ts";
import type { Body, Expected, People } from "./people-cases.ts";

const savedTaskForm = (task: string): Body => ({
  callback_id: "run_form",
  private_metadata: `${"D".repeat(22)} ${opsAgents} ${task} 0123456789ab`,
  blocks: [
    {
      type: "input",
      block_id: `task_field:${task}:service`,
      element: { type: "plain_text_input", action_id: "task_field" },
    },
  ],
});

const forged = attacks<People, readonly [string, string, string, Partial<Expected>]>(
  6,
  110,
  [
    [
      "a form of a saved task that the policy does not have",
      "deploy",
      ben,
      { because: "saved-task-gone", says: "command-refusal:saved-task-gone" },
    ],
    [
      "a form of a saved task named like a property of every object",
      "constructor",
      ben,
      { because: "saved-task-gone", says: "command-refusal:saved-task-gone" },
    ],
    [
      "a form of a saved task by a guest",
      "deploy",
      guest,
      { because: "guest", says: "command-refusal:guest" },
    ],
  ],
  async (on, [, task, user, expected]) => {
    const { form, world } = on;
    const made = { ...form, view: { ...form.view, ...savedTaskForm(task) } };
    await on.refused(() => world.forgeSubmit(user, made, "let it through"), {
      because: null,
      says: null,
      user,
      ...expected,
    } as Expected);
  },
);

export const savedTaskCases: readonly Attack<People>[] = forged;
