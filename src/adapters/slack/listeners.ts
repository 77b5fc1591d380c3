// Registers the listeners. Each listener reads its payload, acknowledges it, and calls one function.

import type { App } from "@slack/bolt";
import type { EventLog } from "../../ports.ts";
import { messageModal } from "./blocks/decision-modal.ts";
import { textAnswer } from "./blocks/message-id.ts";
import { onBrakeClick, onCardClick, onUndoClick, onUndoInWindow } from "./clicks.ts";
import { onRunAgain, onUnknownStartClick } from "./start-clicks.ts";
import { onCommand, onRunsPage } from "./commands.ts";
import {
  onQueueChoice,
  onReviewInChannel,
  openFormFromHome,
  refreshHome,
  showHome,
} from "./home-and-queue.ts";
import {
  onAnswerSubmit,
  onHandOverSubmit,
  onAnswerQuestion,
  onClaim,
  onMore,
  onQuestionSubmit,
  onSnoozeSubmit,
} from "./follow-up-clicks.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { EVERYTHING } from "./queue-choice.ts";
import { onMention, onRunOnMessage, onSuggestedRun } from "./free-text.ts";
import {
  ANSWER_MODAL,
  CARD_APPROVE,
  CARD_CLAIM,
  CARD_DENY,
  CARD_MORE,
  CARD_READ,
  CARD_UNDO,
  DECISION_MODAL,
  HAND_OVER_MODAL,
  HOME_OPENED,
  HOME_REFRESH,
  HOME_START,
  MEMBER_JOINED,
  MENTIONED,
  MESSAGE,
  OPEN_QUEUE,
  PRESET_SELECT,
  QUESTION_ANSWER,
  QUESTION_MODAL,
  QUEUE_CHANNEL,
  QUEUE_CLEAR,
  QUEUE_NEXT,
  QUEUE_PREVIOUS,
  QUEUE_REVIEW,
  QUEUE_REVIEW_RULE,
  QUEUE_REVIEW_RUN,
  QUEUE_SHOW,
  READING_MODAL,
  RECEIPT_NOT_ME,
  REVIEW_MODAL,
  REVIEW_NEXT_MODAL,
  REVIEW_PRESET_SELECT,
  RUN_AGAIN,
  RUN_FORM,
  RUN_LIFT,
  RUN_ON_MESSAGE,
  RUN_STOP,
  RUN_SUGGESTED,
  RUNS_NEWEST,
  RUNS_NEXT,
  SNOOZE_MODAL,
  TASK_CHOICE,
  UNKNOWN_LEAVE,
  UNKNOWN_START_AGAIN,
  WINDOW_UNDO,
} from "./names.ts";
import { onTaskChosen } from "./task-form.ts";
import {
  choicePayload,
  type ClickPayload,
  clickPayload,
  commandPayload,
  type HomeClickPayload,
  homeClickPayload,
  homeOpenedEvent,
  isPersonsOwn,
  memberJoinedEvent,
  menuPayload,
  mentionEvent,
  messageDeletedEvent,
  privateClickPayload,
  type QueueClickPayload,
  queueClickPayload,
  readPayload,
  type Shape,
  shortcutPayload,
  type SubmitPayload,
  submitPayload,
  windowClickPayload,
} from "./payloads.ts";
import {
  onNextReviewSubmit,
  onReview,
  onReviewDenyReason,
  onReviewSeveral,
  onReviewSubmit,
} from "./review-form.ts";
import { onNotMe } from "./notifications.ts";
import {
  onDecisionSubmit,
  onRunFormSubmit,
  onDenyReason,
  onReadingSubmit,
  type SubmitAnswer,
} from "./form-answers.ts";

type OnClick = (deps: ListenerDeps, payload: ClickPayload) => Promise<void>;
type OnSubmit = (deps: ListenerDeps, payload: SubmitPayload) => Promise<SubmitAnswer>;

const CLICKS: readonly (readonly [string, OnClick])[] = [
  [CARD_APPROVE, onCardClick],
  [CARD_DENY, onCardClick],
  [CARD_READ, onCardClick],
  [CARD_UNDO, onUndoClick],
  [CARD_CLAIM, onClaim],
  [QUESTION_ANSWER, onAnswerQuestion],
  [RUN_STOP, onBrakeClick],
  [RUN_LIFT, onBrakeClick],
  [RUN_AGAIN, onRunAgain],
  [RECEIPT_NOT_ME, onNotMe],
  [OPEN_QUEUE, onReviewInChannel],
  [UNKNOWN_START_AGAIN, onUnknownStartClick],
  [UNKNOWN_LEAVE, onUnknownStartClick],
];

type OnHomeClick = (deps: ListenerDeps, payload: HomeClickPayload) => Promise<void>;

const HOME_CLICKS: readonly (readonly [string, OnHomeClick])[] = [
  [HOME_START, openFormFromHome],
  [HOME_REFRESH, (deps, payload) => refreshHome(deps, payload.user.id)],
];

type OnQueueClick = (deps: ListenerDeps, payload: QueueClickPayload) => Promise<void>;

const QUEUE_CLICKS: readonly (readonly [string, OnQueueClick])[] = [
  [QUEUE_SHOW, onQueueChoice],
  [QUEUE_CHANNEL, onQueueChoice],
  [QUEUE_CLEAR, onQueueChoice],
  [QUEUE_PREVIOUS, onQueueChoice],
  [QUEUE_NEXT, onQueueChoice],
  [QUEUE_REVIEW, onReview],
  [QUEUE_REVIEW_RUN, onReviewSeveral],
  [QUEUE_REVIEW_RULE, onReviewSeveral],
];

const SUBMITS: readonly (readonly [string, OnSubmit])[] = [
  [DECISION_MODAL, onDecisionSubmit],
  [READING_MODAL, onReadingSubmit],
  [QUESTION_MODAL, onQuestionSubmit],
  [ANSWER_MODAL, onAnswerSubmit],
  [HAND_OVER_MODAL, onHandOverSubmit],
  [SNOOZE_MODAL, onSnoozeSubmit],
  [REVIEW_MODAL, onReviewSubmit],
  [REVIEW_NEXT_MODAL, onNextReviewSubmit],
  [RUN_FORM, onRunFormSubmit],
];

const UNREADABLE_TEXT =
  "Slack sent this in a format that Countersign does not know, so nothing was done. Tell the people who operate Countersign.";
const UNREADABLE_ID = "answer:unread-payload";
const unreadableForm: SubmitAnswer = {
  response_action: "update",
  view: messageModal("Nothing was done", UNREADABLE_TEXT, UNREADABLE_ID),
};

export function listen(app: App, deps: ListenerDeps): void {
  app.command(deps.command, async ({ body, ack }) => {
    const payload = readPayload(commandPayload, body, deps.log);
    if (payload === null)
      return ack({ response_type: "ephemeral", ...textAnswer(UNREADABLE_ID, UNREADABLE_TEXT) });
    return onCommand(deps, payload, (message) => {
      const answer = message === undefined ? ack : () => ack({ response_type: "ephemeral", ...message });
      return tryAck(() => answer(), deps.log);
    });
  });
  listenToActions(app, deps);
  app.shortcut(RUN_ON_MESSAGE, async ({ body, ack }) => {
    await tryAck(ack, deps.log);
    const payload = readPayload(shortcutPayload, body, deps.log);
    if (payload !== null) await onRunOnMessage(deps, payload);
  });
  listenToEvents(app, deps);
  for (const [name, onSubmit] of SUBMITS) {
    app.view(name, async ({ body, ack }) => {
      const payload = readPayload(submitPayload, body, deps.log);
      // An empty answer would close the form, as if the submit had succeeded.
      const answer = payload === null ? unreadableForm : await onSubmit(deps, payload);
      // If Slack does not get the answer, the form stays open with an error. Submitting it again counts only once.
      await tryAck(() => (answer === undefined ? ack() : ack({ ...answer })), deps.log);
    });
  }
}

/** Acknowledges each action before handling it, because the work may take longer than Slack waits. */
function listenToActions(app: App, deps: ListenerDeps): void {
  const on = <Payload>(
    name: string,
    shape: Shape<Payload>,
    act: (deps: ListenerDeps, payload: Payload) => Promise<void>,
  ): void => {
    app.action(name, async ({ body, ack }) => {
      await tryAck(ack, deps.log);
      const payload = readPayload(shape, body, deps.log);
      if (payload !== null) await act(deps, payload);
    });
  };
  for (const [name, onClick] of CLICKS) on(name, clickPayload, onClick);
  for (const [name, onHomeClick] of HOME_CLICKS) on(name, homeClickPayload, onHomeClick);
  for (const [name, onQueueClick] of QUEUE_CLICKS) on(name, queueClickPayload, onQueueClick);
  on(CARD_MORE, menuPayload, onMore);
  on(RUN_SUGGESTED, privateClickPayload, onSuggestedRun);
  for (const name of [RUNS_NEWEST, RUNS_NEXT]) on(name, privateClickPayload, onRunsPage);
  on(WINDOW_UNDO, windowClickPayload, onUndoInWindow);
  on(PRESET_SELECT, choicePayload, onDenyReason);
  on(TASK_CHOICE, choicePayload, onTaskChosen);
  on(REVIEW_PRESET_SELECT, choicePayload, onReviewDenyReason);
}

function listenToEvents(app: App, deps: ListenerDeps): void {
  app.event(MENTIONED, async ({ event }) => {
    const mention = isPersonsOwn(event) ? readPayload(mentionEvent, event, deps.log) : null;
    if (mention !== null) await onMention(deps, mention);
  });
  app.event(HOME_OPENED, async ({ event }) => {
    const opened = readPayload(homeOpenedEvent, event, deps.log);
    if (opened?.tab !== "home") return;
    await showHome(deps, opened.user, { ...EVERYTHING, menuName: String(deps.clock.now()) });
  });
  app.event(MESSAGE, async ({ event }) => {
    const deletion = messageDeletedEvent.safeParse(event);
    if (deletion.success) await deps.cards.deleted(deletion.data.channel, deletion.data.deleted_ts);
  });
  app.event(MEMBER_JOINED, async ({ event }) => {
    const joined = readPayload(memberJoinedEvent, event, deps.log);
    if (joined?.user === deps.self) await deps.cards.appJoined(joined.channel);
  });
}

/**
 * Resolves to false if the acknowledgement did not reach Slack, for example because the socket has dropped. The work continues anyway,
 * because we have the payload.
 */
async function tryAck(ack: () => Promise<void>, log: EventLog): Promise<boolean> {
  try {
    await ack();
    return true;
  } catch (error) {
    log.warn({ error }, "could not acknowledge a payload to Slack");
    return false;
  }
}
