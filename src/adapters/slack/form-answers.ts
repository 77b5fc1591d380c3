// Answers what people do in an open form: they submit it or choose an offered reason. A decision is stored before its form is acknowledged.
// If a submit can't be accepted, the form stays open with an error, or is replaced by a window that says why.

import type { View } from "@slack/types";
import type { Verdict } from "../../domain/approval.ts";
import { MAX_REASON_CHARS, type Refusal } from "../../domain/authorization.ts";
import { ChannelId, Nonce, parsed, type UserId } from "../../domain/ids.ts";
import { findApproval } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import type { CommandRefusal } from "../../domain/command-refusal.ts";
import type { RefusedAttempt } from "../../usecases/refusals.ts";
import type { Recorded } from "../../usecases/submit-decision.ts";
import {
  changedModal,
  formView,
  heldModal,
  presetsFor,
  messageModal,
  refusalModal,
} from "./blocks/decision-modal.ts";
import type { Deployment } from "./blocks/deployment.ts";
import type { FilledReason } from "./blocks/form-parts.ts";
import { commandRefusalPlain, commandRefusalWords } from "./blocks/command-refusal-words.ts";
import { refusalPlain } from "./blocks/refusal-words.ts";
import type { MessageId } from "./blocks/message-id.ts";
import { reviewView } from "./blocks/review-modal.ts";
import { withTypedText } from "./blocks/typed-text.ts";
import { refreshHome } from "./home-and-queue.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import {
  CHANNEL_BLOCK,
  CHANNEL_INPUT,
  type DENY_REASON_BLOCK,
  REASON_BLOCK,
  REASON_INPUT,
  TASK_BLOCK,
  TASK_INPUT,
  VERDICT_BLOCK,
  VERDICT_INPUT,
  WORD_BLOCK,
  WORD_INPUT,
} from "./names.ts";
import { maybeStarted } from "./record-start.ts";
import { firstFieldOf, formOfOtherTask, savedTaskIn } from "./task-form.ts";
import { type ChoicePayload, chosenIn, reasonBlockOf, type SubmitPayload, typedInto } from "./payloads.ts";

/** The answer to a submit. If it is undefined, the form closes. */
export type SubmitAnswer =
  | undefined
  | { readonly response_action: "errors"; readonly errors: { [block: string]: string } }
  | { readonly response_action: "update"; readonly view: View };

/** Errors beside a field that are not refusals. */
export const FIELD_ERRORS = {
  // A form may be submitted again after an answer that got lost, so these do not say that nothing is recorded.
  "decision-not-recorded":
    "Not recorded this time. Press the button again. If you stop here, look at the card first: an earlier press may have been recorded.",
  "decision-maybe-recorded":
    "Countersign could not confirm that your decision is recorded. Press the button again: the same decision counts only once.",
  "decisions-maybe-recorded":
    "Countersign could not confirm that all your decisions are recorded. Press the button again: the same decision counts only once.",
  "nothing-chosen": "Choose Approve or Deny for at least one request, or press Cancel.",
  "nothing-chosen-but-typed":
    "Choose Approve or Deny for at least one request. To go on without a decision, clear both reasons.",
  "run-not-recorded":
    "Not recorded this time. Press the button again. If you stop here, look for the run's thread in the channel first: an earlier press may have been recorded.",
  "run-maybe-recorded":
    "Countersign could not confirm that your task is recorded. Press the button again: the same form starts only one run.",
  "not-our-form": "Countersign did not open this form. Open it again with the command.",
} as const;

export async function onDecisionSubmit(deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> {
  const nonce = parsed<Nonce>(Nonce, payload.view.private_metadata);
  const reasonBlock = reasonBlockOf(payload) ?? REASON_BLOCK;
  const reason = typedInto(payload, reasonBlock, REASON_INPUT);
  const changeCard = nonce === null ? null : deps.replacements.ready(nonce, payload.user.id);
  try {
    const by = { team: deps.team, user: payload.user.id };
    const word = typedInto(payload, WORD_BLOCK, WORD_INPUT);
    const recorded = await deps.submitDecision(by, nonce, reason, { word, chosen: verdictIn(payload) });
    if (!recorded.ok) return refusalAnswer(recorded.error, payload, deps.deployment);
    return heldAnswer(deps, recorded.value, nonce);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not record a decision");
    return inField(reasonBlock, FIELD_ERRORS[`decision-${recordedWord(error)}`]);
  } finally {
    changeCard?.();
  }
}

/** Closes the window, unless the decision is on hold. Then the window offers Undo. */
function heldAnswer(
  { deployment }: ListenerDeps,
  { run, approval: id }: Recorded,
  nonce: Nonce | null,
): SubmitAnswer {
  const approval = findApproval(run, id);
  const view = approval === null || nonce === null ? null : heldModal(run, approval, nonce, deployment);
  return view === null ? undefined : { response_action: "update", view };
}

/** The chosen verdict. Null if the form does not ask for one, or if none was chosen. */
function verdictIn(payload: SubmitPayload): Verdict | null {
  const word = chosenIn(payload, VERDICT_BLOCK, VERDICT_INPUT);
  return word === "approve" || word === "deny" ? word : null;
}

/** Handles Continue in the window of a request that must be read first. The form replaces the window. */
export async function onReadingSubmit(deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> {
  const nonce = parsed<Nonce>(Nonce, payload.view.private_metadata);
  try {
    const by = { team: deps.team, user: payload.user.id };
    const opened = await deps.openForm.continueReading(by, nonce);
    if (!opened.ok) return refusalAnswer(opened.error, payload, deps.deployment);
    if (nonce !== null) deps.replacements.handOver(nonce, opened.value.ticket.nonce);
    return { response_action: "update", view: reviewView(opened.value, deps.deployment) };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not record that a person read a request");
    const view = messageModal("Try again in a moment", READING_NOT_RECORDED, "answer:reading-not-recorded");
    return { response_action: "update", view };
  }
}

const READING_NOT_RECORDED =
  "Countersign could not record just now that you read the request. Nothing was sent. Press Approve on the card again.";

function refusalAnswer(
  { refusal, run }: RefusedAttempt,
  { user, view }: SubmitPayload,
  deployment: Deployment,
): SubmitAnswer {
  const asker = user.id;
  const reasonBlock = reasonBlockOf({ view });
  const reason = reasonBlock === null ? "" : typedInto({ view }, reasonBlock, REASON_INPUT);
  switch (refusal.type) {
    case "word-needed":
      // A form that was opened before the rule required a word has no field for it.
      return WORD_BLOCK in view.state.values
        ? inField(WORD_BLOCK, refusalPlain(refusal))
        : refusedForm(refusal, asker, reason);
    case "verdict-needed":
      return VERDICT_BLOCK in view.state.values
        ? inField(VERDICT_BLOCK, refusalPlain(refusal))
        : refusedForm(refusal, asker, reason);
    case "reason-needed":
    case "reason-too-short":
    case "reason-too-long":
    case "unverified": {
      // The window for reading has no field for a reason.
      if (reasonBlock === null) return refusedForm(refusal, asker);
      const word = refusal.type === "unverified" ? undefined : refusal.missingWord;
      const errors = { [reasonBlock]: refusalPlain(refusal) };
      if (word !== undefined && WORD_BLOCK in view.state.values)
        errors[WORD_BLOCK] = refusalPlain({ type: "word-needed", word });
      return { response_action: "errors", errors };
    }
    case "changed":
      if (run === null) return refusedForm(refusal, asker, reason);
      return updated(withTypedText(changedModal(run, refusal.was, refusal.now, deployment), reason));
    default:
      return refusedForm(refusal, asker, reason);
  }
}

/** `typed`: empty if the form has no field for a text. */
export function refusedForm(refusal: Refusal, asker: UserId, typed = ""): SubmitAnswer {
  return updated(withTypedText(refusalModal(refusal, asker), typed));
}

const updated = (view: View): SubmitAnswer => ({ response_action: "update", view });

// A reason for a denial that the rule offers, chosen in the open form. It is appended to the text in the reason field. This decides
// nothing: the reason that counts is the text in the field when the form is submitted.

export async function onDenyReason(deps: ListenerDeps, payload: ChoicePayload): Promise<void> {
  const { view, user, actions } = payload;
  const by = { team: deps.team, user: user.id };
  const { value: preset } = actions[0].selected_option;
  try {
    const opened = await deps.openForm.ofPerson(by, parsed<Nonce>(Nonce, view.private_metadata));
    if (opened === null || !presetsFor(opened).includes(preset))
      return await deps.noteRefusal(by, "unknown", { step: "click" });
    const filled = filledWith(preset, payload, REASON_BLOCK);
    await drawAgain(deps, payload, formView(opened, deps.deployment, filled));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, NOT_FILLED);
  }
}

export const NOT_FILLED = "Slack did not fill a reason into a form; the person can type one";

/** Appends the preset to the typed text. The block gets a new id, because Slack fills only fields in new blocks. */
export function filledWith(
  preset: string,
  payload: ChoicePayload,
  field: typeof REASON_BLOCK | typeof DENY_REASON_BLOCK,
): FilledReason {
  const block = reasonBlockOf(payload, field) ?? field;
  const before = typedInto(payload, block, REASON_INPUT).trimEnd();
  const text = (before === "" ? preset : `${before}\n${preset}`).slice(0, MAX_REASON_CHARS);
  const times = Number(block.split(":")[1] ?? 0) + 1;
  return { block: `${field}:${times}`, text };
}

export async function drawAgain(deps: ListenerDeps, { view }: ChoicePayload, drawn: View): Promise<void> {
  try {
    await deps.quick("views.update", { view_id: view.id, hash: view.hash, view: drawn });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, NOT_FILLED);
  }
}

// The form that starts a run.

export async function onRunFormSubmit(deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> {
  const [nonce = "", commandChannel = ""] = payload.view.private_metadata.split(" ");
  const fromHome = commandChannel === "";
  const channelText = fromHome ? typedInto(payload, CHANNEL_BLOCK, CHANNEL_INPUT) : commandChannel;
  const channel = parsed<ChannelId>(ChannelId, channelText);
  const intention = parsed<Nonce>(Nonce, nonce);
  const who = { team: deps.team, user: payload.user.id };
  const input = typedInto(payload, TASK_BLOCK, TASK_INPUT);
  const saved = savedTaskIn(payload);
  const errorBlock = saved === null ? TASK_BLOCK : firstFieldOf(payload);
  try {
    if (channel === null || intention === null) {
      await deps.noteRefusal({ ...who, channel }, "unknown", { step: "start" });
      return inField(TASK_BLOCK, FIELD_ERRORS["not-our-form"]);
    }
    const by = { ...who, channel };
    const other = await formOfOtherTask(deps, by, payload);
    if (other !== null) return { response_action: "update", view: other };
    const started = await deps.startRun.start(by, {
      input,
      intention: `form ${intention}`,
      answerUrl: null,
      ...(saved === null ? {} : { saved }),
    });
    if (started.ok) {
      if (fromHome) void refreshHome(deps, by.user);
      return undefined;
    }
    if (saved !== null) return savedTaskRefused(errorBlock, started.error, deps.command);
    const block = fromHome && ABOUT_CHANNEL.has(started.error.type) ? CHANNEL_BLOCK : TASK_BLOCK;
    return inField(block, commandRefusalPlain(started.error, deps.command));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not record a run");
    return errorBlock === null
      ? notRecorded(deps.command)
      : inField(errorBlock, FIELD_ERRORS[`run-${recordedWord(error)}`]);
  }
}

/** A form whose saved task is gone or has changed is replaced. Other refusals may be temporary, so the form keeps what was typed. */
function savedTaskRefused(block: string | null, refusal: CommandRefusal, command: string): SubmitAnswer {
  const isObsolete = refusal.type === "saved-task-gone" || refusal.type === "saved-task-changed";
  return block === null || isObsolete
    ? notStarted(commandRefusalWords(refusal, command), `command-refusal:${refusal.type}`)
    : inField(block, commandRefusalPlain(refusal, command));
}

const notStarted = (words: string, id: MessageId): SubmitAnswer => ({
  response_action: "update",
  view: messageModal("Not started", words, id),
});

/** Replaces a form that has no field for an error. An earlier press of it may be recorded, so this one is not certain either. */
function notRecorded(command: string): SubmitAnswer {
  const view = messageModal("Not confirmed", maybeStarted(command).text, "answer:run-maybe-recorded");
  return { response_action: "update", view };
}

/** Refusals that the person can fix by choosing another channel. */
const ABOUT_CHANNEL: ReadonlySet<CommandRefusal["type"]> = new Set([
  "not-in-channel",
  "hidden-channel",
  "not-a-channel",
  "no-runs-here",
  "not-starter",
]);

export function inField(block: string, words: string): SubmitAnswer {
  return { response_action: "errors", errors: { [block]: words } };
}

const recordedWord = ({ applied }: PortError): "maybe-recorded" | "not-recorded" =>
  applied === "maybe" ? "maybe-recorded" : "not-recorded";
