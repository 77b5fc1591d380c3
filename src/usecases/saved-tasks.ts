// Which saved tasks of the policy a person may use in a channel, and the task that a filled one becomes. The policy of the moment decides:
// a form that was opened under another one is told so.

import type { Context } from "../domain/context.ts";
import { canonicalJson } from "../domain/json.ts";
import { fillTask, readTaskLine, type SavedTask, type TaskValues } from "../domain/policy/saved-task.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { type Asker, type CommandRefusal, isAmongAny, refusalToStart, type UseCaseDeps } from "./access.ts";

/** `digest`: of the task as the person saw it; left out: they typed its name. */
export type FilledIn = { readonly name: string; readonly values: TaskValues; readonly digest?: string };

/** Enough to tell two versions of one task apart (hex digits). */
const DIGEST_CHARS = 12;

export function digestOfTask(task: SavedTask, { digest }: Pick<Context, "digest">): string {
  return digest(canonicalJson(JSON.parse(JSON.stringify(task)))).slice(0, DIGEST_CHARS);
}

export type OfferedTask = { readonly task: SavedTask; readonly digest: string };

/** Those that the person may use here, a freeze aside. Where Slack does not say who belongs to a group, its tasks are left out. */
export async function tasksFor(deps: UseCaseDeps, by: Asker): Promise<readonly OfferedTask[]> {
  const ctx = deps.context();
  const { tasks } = ctx.policy;
  const no = tasks.length === 0 ? null : await refusalToStart(deps, by);
  if (no !== null && no.type !== "frozen") return [];
  const may = await Promise.all(tasks.map((task) => refusalToUseTask(deps, by, task)));
  return tasks
    .filter((_task, at) => may[at] === null)
    .map((task) => ({ task, digest: digestOfTask(task, ctx) }));
}

/** Null: what was typed is a task in the person's own words. `lacks`: it needs nothing but further fields. */
export function taskNamed(
  deps: Pick<UseCaseDeps, "context">,
  line: string,
): { readonly saved: FilledIn; readonly lacks: boolean } | null {
  const read = readTaskLine(line, deps.context().policy.tasks);
  if (read === null) return null;
  const filled = fillTask(read.task, read.values);
  const lacks = filled.type === "unfinished" && filled.wrong.length + filled.unknown.length === 0;
  return { saved: { name: read.task.name, values: read.values }, lacks };
}

/** Who may start nothing here does not learn which saved tasks there are. */
export async function filledTask(
  deps: UseCaseDeps,
  by: Asker,
  { name, values, digest }: FilledIn,
): Promise<Result<string, CommandRefusal>> {
  const mayNot = await refusalToStart(deps, by);
  if (mayNot !== null) return err(mayNot);
  const ctx = deps.context();
  const task = ctx.policy.tasks.find((each) => each.name === name);
  if (task === undefined) return err({ type: "saved-task-gone" });
  const no = await refusalToUseTask(deps, by, task);
  if (no !== null) return err(no);
  if (digest !== undefined && digest !== digestOfTask(task, ctx)) return err({ type: "saved-task-changed" });
  const filled = fillTask(task, values);
  return filled.type === "filled" ? ok(filled.text) : err({ ...filled, type: "saved-task-unfinished" });
}

async function refusalToUseTask(
  deps: UseCaseDeps,
  by: Asker,
  { channels, who }: SavedTask,
): Promise<CommandRefusal | null> {
  if (channels !== null && !channels.includes(by.channel)) return { type: "not-your-task" };
  return who === null ? null : isAmongAny(deps, by, [who], "not-your-task");
}
