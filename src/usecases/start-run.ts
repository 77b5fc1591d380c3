// Turns a task that a person typed into a stored run, which the engine then starts. The task may be a filled-in saved task of the policy.

import { aboutTask, auditEntry } from "../audit/entry.ts";
import { answerUnknownStart } from "../domain/apply-outcome.ts";
import type { Context } from "../domain/context.ts";
import type { CommandRefusal } from "../domain/command-refusal.ts";
import { RunKey } from "../domain/ids.ts";
import { canonicalJson } from "../domain/json.ts";
import { fillTask, readTaskLine, type SavedTask, type TaskValues } from "../domain/policy/saved-task.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { canRunAgain, isStoppable, newRun, type Run } from "../domain/run.ts";
import { isBlank } from "../domain/text/text.ts";
import { type Asker, isAmongAny, noteIfRefused, refusalToStart, type UseCaseDeps } from "./access.ts";
import { runEntry, storeRun } from "./store-run.ts";

export type StartRun = {
  /** The run is stored when this resolves. */
  start(by: Asker, task: Task): Promise<Result<RunKey, CommandRefusal>>;
  /** Resolves to the saved tasks that this person may use in this channel. */
  offered(by: Asker): Promise<readonly OfferedTask[]>;
  /** Returns the saved task that a typed line names, with its fields, or null if the line is a task in the person's own words. */
  named(line: string): ReturnType<typeof taskNamed>;
  /** Starts the task of a finished run again, for the person who presses. Refused while a run that was started this way is not over. */
  again(by: Asker, key: RunKey, answerUrl: string): Promise<Result<RunKey, CommandRefusal>>;
  /** Takes the requester's answer to "a run may have started". "started" starts a second run. */
  answerUnknownStart(
    by: Asker,
    key: RunKey,
    again: "started" | "left",
  ): Promise<Result<RunKey, CommandRefusal>>;
};

/** How long we answer at a `response_url` (ms). Slack accepts answers for 30 minutes. */
const ANSWER_URL_LIFE_MS = 25 * 60_000;

export function createStartRun(deps: UseCaseDeps): StartRun {
  return {
    start: async (by, task) => {
      const ctx = deps.context();
      const filled = task.saved === undefined ? ok(task.input) : await filledTask(deps, by, task.saved);
      const input = filled.ok ? filled.value : task.input;
      const started = filled.ok ? await start(deps, by, { ...task, input }) : filled;
      return noteIfRefused(deps, by, started, { step: "start", ...aboutTask(input, ctx) });
    },
    offered: (by) => tasksFor(deps, by),
    named: (line) => taskNamed(deps, line),
    again: async (by, key, answerUrl) =>
      noteIfRefused(deps, by, await startAgain(deps, by, key, answerUrl), { step: "start", run: key }),
    answerUnknownStart: async (by, key, again) =>
      noteIfRefused(deps, by, await answer(deps, by, key, again), { step: "start", run: key }),
  };
}

type Task = {
  readonly input: string;
  /** Identifies the command or form, so that its repetition starts no second run. */
  readonly intention: string;
  readonly answerUrl: string | null;
  /** The filled-in text of this saved task replaces `input`. */
  readonly saved?: FilledIn;
};

async function start(deps: UseCaseDeps, by: Asker, task: Task): Promise<Result<RunKey, CommandRefusal>> {
  const started = await startOnce(deps, by, task);
  if (!started.ok) return started;
  const { key, isNew } = started.value;
  const before = isNew ? undefined : (await deps.store.load(key))?.run;
  const isSame = before === undefined || (before.input === task.input && before.channel === by.channel);
  return isSame ? ok(key) : err({ type: "form-used", run: before });
}

/** `isNew` is false if this intention has started the run before. */
async function startOnce(
  deps: UseCaseDeps,
  by: Asker,
  task: Task,
): Promise<Result<{ readonly key: RunKey; readonly isNew: boolean }, CommandRefusal>> {
  if (isBlank(task.input)) return err({ type: "empty-task" });
  const refusal = await refusalToStart(deps, by);
  if (refusal !== null) return err(refusal);
  const ctx = deps.context();
  const askedAt = ctx.now;
  const answer =
    task.answerUrl === null ? null : { url: task.answerUrl, until: ctx.monotonic + ANSWER_URL_LIFE_MS };
  const { team, channel, user: requester } = by;
  const run = newRun({
    key: RunKey(deps.newKey()),
    team,
    channel,
    requester,
    input: task.input,
    askedAt,
    answer,
  });
  const savedTask = task.saved === undefined ? {} : { savedTask: task.saved.name };
  const audit = [{ ...runEntry(run, by, "started", ctx), ...savedTask }];
  const key = await storeRun(deps, run, { intention: task.intention, audit });
  return ok({ key, isNew: key === run.key });
}

/** A second press by the same person within this time (ms) counts as a double click, or as Slack's repetition of the first press. */
const SAME_PRESS_MS = 60_000;

async function startAgain(
  deps: UseCaseDeps,
  by: Asker,
  key: RunKey,
  answerUrl: string,
): Promise<Result<RunKey, CommandRefusal>> {
  const run = (await deps.store.load(key))?.run;
  if (run === undefined || run.team !== by.team || run.channel !== by.channel || !canRunAgain(run))
    return err({ type: "unknown-run" });
  // Takes the first free number: each number starts one run.
  for (let attempt = 1; ; attempt += 1) {
    const task = { input: run.input, intention: `run again ${key} ${attempt}`, answerUrl };
    const started = await startOnce(deps, by, task);
    if (!started.ok) return started;
    if (started.value.isNew) return ok(started.value.key);
    const before = (await deps.store.load(started.value.key))?.run;
    if (before === undefined) continue;
    // A wall clock that was set back shows a long time.
    const sinceMs = Math.abs(deps.context().now - before.askedAt);
    if (before.requester === by.user && sinceMs < SAME_PRESS_MS) return ok(before.key);
    if (!isOver(before)) return err({ type: "running-again", run: before });
  }
}

/** A start that the service did not confirm is not over until its requester has said what to do. */
const isOver = (run: Run): boolean =>
  !isStoppable(run) && !(run.creation.type === "unknown" && run.creation.again === "asked");

async function answer(
  deps: UseCaseDeps,
  by: Asker,
  key: RunKey,
  again: "started" | "left",
): Promise<Result<RunKey, CommandRefusal>> {
  const run = (await deps.store.load(key))?.run;
  if (run === undefined || run.requester !== by.user || run.team !== by.team)
    return err({ type: "unknown-run" });
  if (run.creation.type !== "unknown" || run.creation.again !== "asked") return err({ type: "answered" });
  // Either answer takes this intention: the second run, or the first one if it is left. So only one of them counts.
  const intention = `again ${key}`;
  if (again === "left") return leave(deps, by, key, intention);
  const task = { input: run.input, intention, answerUrl: null };
  const started = await start(deps, { ...by, channel: run.channel }, task);
  if (!started.ok) return started;
  if (started.value === key) return err({ type: "answered" });
  await recordAnswer(deps, by, key, { again: "started", outcome: `started again as ${started.value}` });
  return started;
}

async function leave(
  deps: UseCaseDeps,
  by: Asker,
  key: RunKey,
  intention: string,
): Promise<Result<RunKey, CommandRefusal>> {
  const leaving = { again: "left", outcome: "left as it is", intention } as const;
  const before = await deps.store.byIntention(intention);
  const left = before === null ? await recordAnswer(deps, by, key, leaving) : null;
  if (left?.creation.type === "unknown" && left.creation.again === "left") return ok(key);
  // The second run is stored first. The process that stored it may have died before it recorded the answer.
  const second = before ?? (await deps.store.byIntention(intention));
  if (second !== null && second !== key)
    await recordAnswer(deps, by, key, { again: "started", outcome: `started again as ${second}` });
  return err({ type: "answered" });
}

type Answer = {
  readonly again: "started" | "left";
  readonly outcome: string;
  readonly intention?: string;
};

/** Resolves to the first run, or to null if it could not be saved because another run has the intention. */
async function recordAnswer(
  { engine, context }: UseCaseDeps,
  { team, user }: Asker,
  key: RunKey,
  { again, outcome, ...sideWrites }: Answer,
): Promise<Run | null> {
  return engine.changeAnywhere(key, (newest) => {
    const run = answerUnknownStart(newest, again);
    if (run === null) return newest;
    const facts = { at: context().now, what: "start-unconfirmed", outcome, by: { team, user } } as const;
    return { run, sideWrites: { ...sideWrites, audit: [auditEntry(run, facts)] } };
  });
}

// The saved tasks of the policy: which ones a person may use in a channel, and the text of a filled-in task. The current policy decides. If
// it has changed a task since the form was opened, the start is refused.

/** `digest`: the digest of the task as the person saw it. Left out if they typed its name. */
export type FilledIn = { readonly name: string; readonly values: TaskValues; readonly digest?: string };

/** The length of a task's digest (hex digits). Enough to distinguish two versions of a task. */
const DIGEST_CHARS = 12;

function digestOfTask(task: SavedTask, { digest }: Pick<Context, "digest">): string {
  return digest(canonicalJson(JSON.parse(JSON.stringify(task)))).slice(0, DIGEST_CHARS);
}

export type OfferedTask = { readonly task: SavedTask; readonly digest: string };

/** Ignores freezes. If Slack does not say who belongs to a group, the tasks for that group are left out. */
async function tasksFor(deps: UseCaseDeps, by: Asker): Promise<readonly OfferedTask[]> {
  const ctx = deps.context();
  const { tasks } = ctx.policy;
  const refusal = tasks.length === 0 ? null : await refusalToStart(deps, by);
  if (refusal !== null && refusal.type !== "frozen") return [];
  const refusals = await Promise.all(tasks.map((task) => refusalToUseTask(deps, by, task)));
  return tasks
    .filter((_task, at) => refusals[at] === null)
    .map((task) => ({ task, digest: digestOfTask(task, ctx) }));
}

/** Returns null if the line is a task in the person's own words. `lacks`: some fields are missing, and nothing else is wrong. */
function taskNamed(
  deps: Pick<UseCaseDeps, "context">,
  line: string,
): { readonly saved: FilledIn; readonly lacks: boolean } | null {
  const read = readTaskLine(line, deps.context().policy.tasks);
  if (read === null) return null;
  const filled = fillTask(read.task, read.values);
  const lacks = filled.type === "unfinished" && filled.wrong.length + filled.unknown.length === 0;
  return { saved: { name: read.task.name, values: read.values }, lacks };
}

/** A person who may start nothing here does not learn which saved tasks there are. */
async function filledTask(
  deps: UseCaseDeps,
  by: Asker,
  { name, values, digest }: FilledIn,
): Promise<Result<string, CommandRefusal>> {
  const startRefusal = await refusalToStart(deps, by);
  if (startRefusal !== null) return err(startRefusal);
  const ctx = deps.context();
  const task = ctx.policy.tasks.find((candidate) => candidate.name === name);
  if (task === undefined) return err({ type: "saved-task-gone" });
  const taskRefusal = await refusalToUseTask(deps, by, task);
  if (taskRefusal !== null) return err(taskRefusal);
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
  return who === null ? null : isAmongAny(deps, by, [who], { otherwise: "not-your-task" });
}
