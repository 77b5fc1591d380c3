// The form that starts a run, with the saved tasks of the policy. The bare command opens it, and so does a saved task that was typed
// without all its fields. It is drawn again when another task is chosen.

import type { View } from "@slack/types";
import { type ChannelId, ChannelId as toChannel, parsed } from "../../domain/ids.ts";
import type { TaskValues } from "../../domain/policy/saved-task.ts";
import { PortError } from "../../ports.ts";
import type { Asker } from "../../usecases/access.ts";
import type { FilledIn, OfferedTask } from "../../usecases/start-run.ts";
import type { Message } from "./blocks/rich.ts";
import { fieldBlock, fitsForm, OWN_WORDS, runForm, savedTaskForm, taskMenu } from "./blocks/run-form.ts";
import { withTypedRun } from "./blocks/command-refusal-words.ts";
import { FORM_NOT_OPENED, recordRun, type StartTask } from "./record-start.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { TASK_CHOICE, TASK_FIELD_BLOCK, TASK_FIELD_INPUT, TASK_MENU_BLOCK } from "./names.ts";
import type { ChoicePayload, SubmitPayload } from "./payloads.ts";

type Drawn = {
  readonly offered: readonly OfferedTask[];
  readonly chosen: OfferedTask | null;
  readonly values?: TaskValues;
  /** A word that no earlier drawing of this form had. It makes the menu's block id new. */
  readonly drawing?: string;
};

/** `nonce` and `channel` identify the form. Its metadata contains them and the chosen task. */
function taskForm(nonce: string, channel: ChannelId, { offered, chosen, values = {}, drawing }: Drawn) {
  const tasks = offered.map(({ task }) => task);
  const menu = taskMenu(tasks, chosen?.task ?? null, drawing);
  if (chosen === null) return runForm(`${nonce} ${channel}`, false, "", menu);
  const metadata = `${nonce} ${channel} ${chosen.task.name} ${chosen.digest}`;
  return savedTaskForm(metadata, menu, chosen.task, values);
}

/** A saved task that was typed without all its fields, and the line as the person typed it. */
export type UnfinishedTask = StartTask & { readonly saved: FilledIn; readonly typed: string };

/** `unfinished` is null for the bare command. Resolves to null, or to the answer that says why there is no form. */
export async function openTaskForm(
  deps: ListenerDeps,
  by: Asker,
  trigger_id: string,
  unfinished: UnfinishedTask | null,
): Promise<Message | null> {
  const offered = await deps.startRun.offered(by);
  const chosen = offered.find(({ task }) => task.name === unfinished?.saved.name) ?? null;
  // The refusal of its start says why the task is not offered to this person here, or which fields are missing.
  if (unfinished !== null && (chosen === null || !fitsForm(unfinished.saved.values)))
    return recordRun(deps, by, unfinished);
  const view = taskForm(deps.nonce(), by.channel, {
    offered,
    chosen,
    values: unfinished?.saved.values ?? {},
  });
  try {
    await deps.quick("views.open", { trigger_id, view });
    return null;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not open the form that starts a run");
    return unfinished === null
      ? FORM_NOT_OPENED
      : withTypedRun(FORM_NOT_OPENED, deps.command, unfinished.typed);
  }
}

export async function onTaskChosen(deps: ListenerDeps, payload: ChoicePayload): Promise<void> {
  const { view, user, actions } = payload;
  const [nonce = "", where = ""] = view.private_metadata.split(" ");
  const channel = parsed<ChannelId>(toChannel, where);
  const who = { team: deps.team, user: user.id };
  if (channel === null) return deps.noteRefusal(who, "unknown", { step: "start" });
  const drawn = await formOf(deps, { ...who, channel }, nonce, actions[0].selected_option.value);
  try {
    await deps.quick("views.update", { view_id: view.id, hash: view.hash, view: drawn });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not show a saved task in a form");
  }
}

/** Draws the form of a task that was chosen in its menu. */
async function formOf(deps: ListenerDeps, by: Asker, nonce: string, name: string): Promise<View> {
  const offered = await deps.startRun.offered(by);
  const chosen = offered.find(({ task }) => task.name === name) ?? null;
  // The task is no longer offered. The form shows the current ones.
  if (chosen === null && name !== OWN_WORDS) await deps.noteRefusal(by, "unknown", { step: "start" });
  return taskForm(nonce, by.channel, { offered, chosen, drawing: deps.nonce() });
}

/**
 * Returns the form of the task that is chosen in the menu, or null if the submitted form already is that form. The two can differ, because
 * Slack may draw the form of a newly chosen task late or never.
 */
export async function formOfOtherTask(
  deps: ListenerDeps,
  by: Asker,
  { view }: SubmitPayload,
): Promise<View | null> {
  const [nonce = "", , shown = OWN_WORDS] = view.private_metadata.split(" ");
  const menu = Object.entries(view.state.values).find(([block]) => block.startsWith(`${TASK_MENU_BLOCK}:`));
  const name = menu?.[1][TASK_CHOICE]?.selected_option?.value ?? shown;
  return name === shown ? null : formOf(deps, by, nonce, name);
}

/** The saved task of the submitted form, filled in. Null if the task is in the person's own words. */
export function savedTaskIn({ view }: SubmitPayload): FilledIn | null {
  const [, , name, digest] = view.private_metadata.split(" ");
  if (name === undefined || digest === undefined) return null;
  const prefix = fieldBlock({ name }, "");
  const values = Object.entries(view.state.values).flatMap(([block, inputs]) => {
    const input = inputs[TASK_FIELD_INPUT];
    if (!block.startsWith(prefix) || input === undefined) return [];
    return [[block.slice(prefix.length), input.value ?? input.selected_option?.value ?? ""] as const];
  });
  return { name, digest, values: Object.fromEntries(values) };
}

/** The block of the form's first field, beside which an error can be shown. Null if the form has no field. */
export function firstFieldOf({ view }: SubmitPayload): string | null {
  return Object.keys(view.state.values).find((block) => block.startsWith(TASK_FIELD_BLOCK)) ?? null;
}
