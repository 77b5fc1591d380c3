// Records the start of a run, or a refused attempt, and says what to answer. Commands, mentions and forms use this.

import { PortError } from "../../ports.ts";
import type { Asker } from "../../usecases/access.ts";
import type { AttemptDetails } from "../../usecases/refusals.ts";
import type { FilledIn } from "../../usecases/start-run.ts";
import { commandRefusal, typedRunRefusal, withTypedRun } from "./blocks/command-refusal-words.ts";
import { textAnswer } from "./blocks/message-id.ts";
import type { Message } from "./blocks/rich.ts";
import type { ListenerDeps } from "./listener-deps.ts";

/** Two starts with the same `intention` start only one run. */
export type StartTask = {
  readonly input: string;
  readonly intention: string;
  readonly answerUrl: string | null;
  /** A saved task, whose text replaces `input`. */
  readonly saved?: FilledIn;
  /** The task as the person typed it after the command, given back if the run is not started. Left out if they still have it. */
  readonly typed?: string;
};

/** Resolves to null if the run is recorded, otherwise to the answer for the person. */
export async function recordRun(
  { startRun, command, log }: Pick<ListenerDeps, "startRun" | "command" | "log">,
  by: Asker,
  { typed, ...task }: StartTask,
): Promise<Message | null> {
  try {
    const started = await startRun.start(by, task);
    if (started.ok) return null;
    return typed === undefined
      ? commandRefusal(started.error, command)
      : typedRunRefusal(started.error, command, typed);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    log.error({ error }, "could not record a run");
    const failed = error.applied === "maybe" ? maybeStarted(command) : NOT_STARTED;
    return typed === undefined ? failed : withTypedRun(failed, command, typed);
  }
}

export const FORM_NOT_OPENED = textAnswer(
  "answer:form-not-opened",
  "Nothing was started: Slack did not open the form in time. Try again.",
);
const NOT_STARTED = textAnswer(
  "answer:run-not-recorded",
  "Not started: Countersign could not record your task just now. Try again.",
);
export const maybeStarted = (command: string): Message =>
  textAnswer(
    "answer:run-maybe-recorded",
    `Countersign could not confirm that your task is recorded. Before you try again, check with \`${command} list\` whether the run is there.`,
  );
export const RECORDED = textAnswer(
  "answer:run-recorded",
  "Your task is recorded, although Slack may have shown you an error. Its thread opens in this channel; don't start it again.",
);

/** Records a refusal if possible. These attempts are refused even if the audit gets no entry for them. */
export async function recordRefusal(
  { noteRefusal, log }: ListenerDeps,
  by: Asker,
  reason: "unknown-command" | "unknown-run",
  attempt: AttemptDetails,
): Promise<void> {
  try {
    await noteRefusal(by, reason, attempt);
  } catch (error) {
    log.error({ error }, "could not record a refusal in the audit");
  }
}
