// Handles the buttons, the menu and the forms for claims, questions and extensions. The listener has already acknowledged the press. A
// successful press gets no answer, because the card or the thread shows the result.

import { Nonce, parsed, type PersonId, UserId } from "../../domain/ids.ts";
import type { Result } from "../../domain/result.ts";
import { PortError } from "../../ports.ts";
import type { OpenedForm } from "../../usecases/open-form.ts";
import type { Handled } from "../../usecases/handle-request.ts";
import type { RefusedAttempt } from "../../usecases/refusals.ts";
import { followUpForm } from "./blocks/follow-up-forms.ts";
import { textAnswer } from "./blocks/message-id.ts";
import { refusalPlain, refusalWords } from "./blocks/refusal-words.ts";
import type { Message } from "./blocks/rich.ts";
import {
  type Answer,
  clickAt,
  clickOf,
  logNotOpened,
  NOTHING_OPENED,
  openModal,
  type Pressed,
  refusePress,
  showAnswer,
} from "./clicks.ts";
import { inField, refusedForm, type SubmitAnswer } from "./form-answers.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import {
  MORE_ASK,
  MORE_EXTEND,
  MORE_HAND_OVER,
  MORE_RELEASE,
  MORE_SNOOZE,
  SAID_BLOCK,
  SAID_INPUT,
  SNOOZE_BLOCK,
  SNOOZE_INPUT,
  TAKER_BLOCK,
  TAKER_INPUT,
} from "./names.ts";
import {
  type ClickPayload,
  chosenIn,
  type MenuPayload,
  type MentionEvent,
  type SubmitPayload,
  typedInto,
} from "./payloads.ts";

export async function onClaim(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const click = clickOf(deps, payload);
  await press(deps, payload, () => deps.claimRequest.claim(click));
}

/** Handles a choice in a card's menu. Its value contains the card's nonce and the action. */
export async function onMore(deps: ListenerDeps, payload: MenuPayload): Promise<void> {
  const [nonce = "", act = "", times = ""] = payload.actions[0].selected_option.value.split(" ");
  const click = clickAt(deps, payload, nonce);
  const { claimRequest, askRequester } = deps;
  switch (act) {
    case MORE_RELEASE:
      return press(deps, payload, () => claimRequest.release(click));
    case MORE_EXTEND:
      return press(deps, payload, () =>
        claimRequest.extend(click, /^\d{1,6}$/.test(times) ? Number(times) : null),
      );
    case MORE_ASK:
      return open(deps, payload, () => askRequester.open(click));
    case MORE_SNOOZE:
      return open(deps, payload, () => claimRequest.open(click, "snooze"));
    case MORE_HAND_OVER:
      return open(deps, payload, () => claimRequest.open(click, "hand-over"));
    default: {
      const { user, channel } = payload;
      await deps.noteRefusal({ team: deps.team, user: user.id, channel: channel.id }, "unknown", {
        step: "click",
      });
      return refusePress(deps, payload, { type: "unknown" });
    }
  }
}

export async function onAnswerQuestion(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const click = clickOf(deps, payload);
  await open(deps, payload, () => deps.askRequester.openAnswer(click));
}

async function press(deps: ListenerDeps, payload: Pressed, act: () => Promise<Handled>): Promise<void> {
  try {
    const done = await act();
    if (!done.ok) await refusePress(deps, payload, done.error.refusal);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not record what a person did about a request");
    await showAnswer(deps, payload, NOT_RECORDED);
  }
}

export const NOT_RECORDED: Answer = {
  id: "answer:press-not-recorded",
  heading: "Not done yet",
  text: "Countersign could not record this just now. Look at the card: if it does not show it in a moment, press again.",
};

async function open(
  deps: ListenerDeps,
  payload: Pressed,
  act: () => Promise<Result<OpenedForm, RefusedAttempt>>,
): Promise<void> {
  const opened = await act().catch((error: unknown) => logNotOpened(deps, error));
  if (opened === null) return showAnswer(deps, payload, NOTHING_OPENED);
  if (!opened.ok) return refusePress(deps, payload, opened.error.refusal);
  await openModal(deps, payload, followUpForm(opened.value));
}

// Submits of the forms.

export const onQuestionSubmit = (deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> =>
  submit(deps, payload, SAID_BLOCK, (by, nonce) =>
    deps.askRequester.ask(by, nonce, typedInto(payload, SAID_BLOCK, SAID_INPUT)),
  );

export const onAnswerSubmit = (deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> =>
  submit(deps, payload, SAID_BLOCK, (by, nonce) =>
    deps.askRequester.answer(by, nonce, typedInto(payload, SAID_BLOCK, SAID_INPUT)),
  );

export const onHandOverSubmit = (deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> =>
  submit(deps, payload, TAKER_BLOCK, (by, nonce) => {
    const taker = payload.view.state.values[TAKER_BLOCK]?.[TAKER_INPUT]?.selected_user;
    return deps.claimRequest.handOver(by, nonce, parsed<UserId>(UserId, taker));
  });

export const onSnoozeSubmit = (deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> =>
  submit(deps, payload, SNOOZE_BLOCK, (by, nonce) => {
    const chosen = chosenIn(payload, SNOOZE_BLOCK, SNOOZE_INPUT);
    return deps.claimRequest.snooze(by, nonce, chosen === "" ? null : Number(chosen));
  });

type Submit = (by: PersonId, nonce: Nonce | null) => Promise<Handled>;

/** `field` is the block of the form's only field. */
async function submit(
  deps: ListenerDeps,
  { user, view }: SubmitPayload,
  field: string,
  act: Submit,
): Promise<SubmitAnswer> {
  try {
    const done = await act({ team: deps.team, user: user.id }, parsed<Nonce>(Nonce, view.private_metadata));
    if (done.ok) return undefined;
    const { refusal } = done.error;
    const canFixInForm = FIXABLE_IN_FORM.has(refusal.type) && field in view.state.values;
    if (canFixInForm) return inField(field, refusalPlain(refusal));
    return refusedForm(refusal, user.id, typedInto({ view }, field, SAID_INPUT));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not record what a person did about a request");
    return inField(field, FORM_NOT_RECORDED);
  }
}

/** Refusals that the person can fix in the form. */
const FIXABLE_IN_FORM: ReadonlySet<string> = new Set([
  "cannot-take-over",
  "text-needed",
  "text-too-long",
  "time-needed",
  "unverified",
]);

const FORM_NOT_RECORDED =
  "Countersign could not record this just now. Submit it again: the same form counts only once.";

// Answers that are written as messages in the thread. The app reads only messages that mention it.

/** Resolves to null if the message does not answer a question. */
export async function answerInThread(
  deps: ListenerDeps,
  { user, channel, ts, thread_ts: thread }: MentionEvent,
  text: string,
): Promise<Message | null> {
  if (thread === undefined) return null;
  try {
    const message = { team: deps.team, user, channel, thread, ts, text };
    const done = await deps.askRequester.answerInThread(message);
    if (done === null) return null;
    if (done === "several") return SEVERAL;
    if (done === "answered-before-change") return TAKEN_BEFORE_CHANGE;
    if (done.ok) return TAKEN;
    const { refusal } = done.error;
    if (refusal.type === "already-decided" || refusal.type === "closed") return QUESTION_OVER;
    if (refusal.type === "unknown") return REQUEST_CHANGED;
    return textAnswer(`refusal:${refusal.type}`, refusalWords(refusal, user));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not record an answer");
    return ANSWER_NOT_RECORDED;
  }
}

export const TAKEN = textAnswer(
  "answer:question-answered",
  "Your answer is recorded. The card shows it to the approvers.",
);
export const TAKEN_BEFORE_CHANGE = textAnswer(
  "answer:question-answered-before-change",
  "Your answer is recorded. The request has changed since you wrote it, so its card no longer shows the answer. No run was started: to start one, write outside this thread.",
);
export const SEVERAL = textAnswer(
  "answer:several-questions",
  "You have several open questions in this thread, so your message was not recorded as an answer. Press Answer below the question that you mean.",
);
export const QUESTION_OVER = textAnswer(
  "answer:question-over",
  "The request in this thread no longer waits for a decision, so your message was not recorded as an answer, and no run was started. To start a run, write outside this thread.",
);
export const REQUEST_CHANGED = textAnswer(
  "answer:question-of-changed-request",
  "The request that you were asked about has changed, so the question no longer applies. Your message was not recorded as an answer, and no run was started. To start a run, write outside this thread.",
);
export const ANSWER_NOT_RECORDED = textAnswer(
  "answer:answer-not-recorded",
  "Countersign could not record your answer just now. Press Answer below the question.",
);
