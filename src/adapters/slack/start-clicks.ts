// Handles clicks on the question after an unconfirmed start, and on the button that starts a finished run's task again.

import { parsed, RunKey } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import { commandRefusalWords } from "./blocks/command-refusal-words.ts";
import { type Answer, refusePress, showAnswer } from "./clicks.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { UNKNOWN_START_AGAIN } from "./names.ts";
import type { ClickPayload } from "./payloads.ts";

export async function onUnknownStartClick(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const [{ action_id, value }] = payload.actions;
  const key = parsed<RunKey>(RunKey, value);
  const by = { team: deps.team, user: payload.user.id, channel: payload.channel.id };
  const choice = action_id === UNKNOWN_START_AGAIN ? "started" : "left";
  const result = key === null ? null : await deps.startRun.answerUnknownStart(by, key, choice);
  if (result?.ok === true) return;
  if (result === null) {
    await deps.noteRefusal(by, "unknown", { step: "start" });
    return refusePress(deps, payload, { type: "unknown" });
  }
  if (result.error.type === "unknown-run") {
    return showAnswer(deps, payload, {
      id: "answer:not-your-run",
      heading: "Not yours to answer",
      text: "Only the person who asked for this run can answer that.",
    });
  }
  const heading = result.error.type === "answered" ? "Already answered" : "Nothing was started";
  const text = commandRefusalWords(result.error, deps.command);
  await showAnswer(deps, payload, { id: `command-refusal:${result.error.type}`, heading, text });
}

/** A successful press gets no answer, because the new thread shows the start. */
export async function onRunAgain(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const key = parsed<RunKey>(RunKey, payload.actions[0].value);
  const by = { team: deps.team, user: payload.user.id, channel: payload.channel.id };
  if (key === null) {
    await deps.noteRefusal(by, "unknown", { step: "start" });
    return showAnswer(deps, payload, NOT_KEPT);
  }
  try {
    const started = await deps.startRun.again(by, key, payload.response_url);
    if (started.ok) return;
    const text = commandRefusalWords(started.error, deps.command);
    const id = `command-refusal:${started.error.type}` as const;
    const answer = { id, heading: "Nothing was started", text };
    return await showAnswer(deps, payload, started.error.type === "unknown-run" ? NOT_KEPT : answer);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not record a run");
    await showAnswer(deps, payload, NOT_AGAIN_YET);
  }
}

const NOT_KEPT: Answer = {
  id: "answer:task-not-kept",
  heading: "Nothing was started",
  text: "Countersign no longer has the task of this run: finished runs are deleted after a time. Start it with the command.",
};
const NOT_AGAIN_YET: Answer = {
  id: "answer:again-not-recorded",
  heading: "Not confirmed",
  text: "Countersign could not record this just now. If no new thread opens in this channel, press the button again.",
};
