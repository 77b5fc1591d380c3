// Records the start of a run for a person who asked for it with a command or a button, and says what came of it.

import { PortError } from "../../ports.ts";
import type { Asker } from "../../usecases/access.ts";
import { textAnswer } from "./blocks/message-id.ts";
import { commandRefusal } from "./blocks/refusal-words.ts";
import type { Message } from "./blocks/rich.ts";
import type { ListenerDeps } from "./listener-deps.ts";

/** `intention`: the same one twice starts one run. */
export type StartTask = {
  readonly input: string;
  readonly intention: string;
  readonly answerUrl: string | null;
};

/** Null: the run is recorded. Otherwise the answer. */
export async function recordRun(
  { startRun, command, log }: Pick<ListenerDeps, "startRun" | "command" | "log">,
  by: Asker,
  task: StartTask,
): Promise<Message | null> {
  try {
    const started = await startRun.start(by, task);
    return started.ok ? null : commandRefusal(started.error, command);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    log.error({ error }, "could not record a run");
    return error.applied === "maybe" ? maybeStarted(command) : NOT_STARTED;
  }
}

const NOT_STARTED = textAnswer(
  "answer:run-not-recorded",
  "Not started: Countersign could not record your task just now. Try again.",
);
const maybeStarted = (command: string): Message =>
  textAnswer(
    "answer:run-maybe-recorded",
    `Countersign could not confirm that your task is recorded. Before you try again, check with \`${command} list\` whether the run is there.`,
  );
export const RECORDED = textAnswer(
  "answer:run-recorded",
  "Your task is recorded, although Slack may have shown you an error. Its thread opens in this channel; do not start it again.",
);
