// Turns a task that a person typed into a stored run, which the engine then starts.

import { RunKey } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { newRun } from "../domain/run.ts";
import { answerUnknown } from "../domain/apply-outcome.ts";
import { isBlank } from "../domain/text/text.ts";
import { aboutTask } from "../audit/entry.ts";
import {
  type Asker,
  type CommandRefusal,
  noteIfRefused,
  refusalToStart,
  runEntry,
  storeRun,
  type UseCaseDeps,
} from "./access.ts";

export type StartRun = {
  /** `intention` identifies the command or form; the same one twice starts one run. The run is stored when this resolves. */
  start(
    by: Asker,
    task: { input: string; intention: string; answerUrl: string | null },
  ): Promise<Result<RunKey, CommandRefusal>>;
  /** The requester's answer to "a run may have started": "started" starts a second one. */
  answerUnknown(by: Asker, key: RunKey, again: "started" | "left"): Promise<Result<RunKey, CommandRefusal>>;
};

/** Slack accepts answers at a `response_url` for 30 minutes; we stop a little earlier (ms). */
const ANSWER_URL_LIFE_MS = 25 * 60_000;

export function createStartRun(deps: UseCaseDeps): StartRun {
  return {
    start: async (by, task) => {
      const tried = { step: "start", ...aboutTask(task.input, deps.context()) } as const;
      return noteIfRefused(deps, by, await start(deps, by, task), tried);
    },
    answerUnknown: async (by, key, again) =>
      noteIfRefused(deps, by, await answer(deps, by, key, again), { step: "start", run: key }),
  };
}

async function start(
  deps: UseCaseDeps,
  by: Asker,
  task: { input: string; intention: string; answerUrl: string | null },
): Promise<Result<RunKey, CommandRefusal>> {
  if (isBlank(task.input)) return err({ type: "empty-task" });
  const no = await refusalToStart(deps, by);
  if (no !== null) return err(no);
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
  return ok(
    await storeRun(deps, run, { intention: task.intention, audit: [runEntry(run, by, "started", ctx)] }),
  );
}

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
  // The second run is stored first. After a crash in between, the same click finds it by its intention.
  const task = { input: run.input, intention: `again ${key}`, answerUrl: null };
  const started = again === "left" ? ok(key) : await start(deps, { ...by, channel: run.channel }, task);
  if (started.ok) await deps.engine.change(key, (newest) => answerUnknown(newest, again) ?? newest);
  return started;
}
