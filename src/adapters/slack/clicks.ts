// Handles clicks on cards. The listener has acknowledged the click. We open a window, or
// answer privately why not. The submit of a decision form is handled by `onDecisionSubmit` in form-answers.ts.

import type { View } from "@slack/types";
import type { Verdict } from "../../domain/approval.ts";
import type { Refusal } from "../../domain/authorization.ts";
import { Nonce, parsed, RunKey, type UserId } from "../../domain/ids.ts";
import type { Click } from "../../usecases/open-form.ts";
import { PortError } from "../../ports.ts";
import { formView, messageModal, readModal, refusalModal, undoButton } from "./blocks/decision-modal.ts";
import { named } from "./blocks/deployment.ts";
import { type MessageId, textAnswer } from "./blocks/message-id.ts";
import { refusalTitle, refusalWords } from "./blocks/refusal-words.ts";
import { stopShownIn } from "./blocks/brake-blocks.ts";
import { brakeRefusal } from "./blocks/brake-refusal-words.ts";
import type { Message } from "./blocks/rich.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { CARD_APPROVE, CARD_READ, RUN_STOP } from "./names.ts";
import { LITERAL } from "./own-messages.ts";
import type { ClickPayload, WindowClickPayload } from "./payloads.ts";

export async function onCardClick(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const [{ action_id }] = payload.actions;
  const click = clickOf(deps, payload);
  if (action_id === CARD_READ) return openRequest(deps, payload, click);
  const verdict: Verdict = action_id === CARD_APPROVE ? "approve" : "deny";
  const opened = await deps.openForm
    .open(click, verdict)
    .catch((error: unknown) => logNotOpened(deps, error));
  if (opened === null) return showAnswer(deps, payload, NOTHING_OPENED);
  if (!opened.ok) return refusePress(deps, payload, opened.error.refusal);
  const { run, ticket } = opened.value;
  deps.replacements.keep(ticket.nonce, payload);
  await openModal(deps, payload, formView({ run, ticket }, deps.deployment));
}

export function logNotOpened({ log }: ListenerDeps, error: unknown): null {
  if (!(error instanceof PortError)) throw error;
  log.error({ error }, "could not open a form");
  return null;
}

export const NOTHING_OPENED: Answer = {
  id: "answer:nothing-opened",
  heading: "Not opened",
  text: "Countersign could not open this just now, and nothing is decided. Press the button again in a moment. If that fails too, tell the people who operate Countersign.",
};

export type Pressed = Omit<ClickPayload, "actions">;

export const clickOf = (deps: ListenerDeps, payload: ClickPayload): Click =>
  clickAt(deps, payload, payload.actions[0].value);

export function clickAt({ team }: ListenerDeps, { user, channel, message }: Pressed, value: string): Click {
  return { team, user: user.id, channel: channel.id, ts: message.ts, nonce: parsed<Nonce>(Nonce, value) };
}

/** A successful undo gets no answer, because the card shows it. */
export async function onUndoClick(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const changeCard = deps.replacements.readyByClick(payload);
  try {
    const undone = await deps.undoDecision.onCard(clickOf(deps, payload));
    if (!undone.ok) await refusePress(deps, payload, undone.error.refusal);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "an approval could not be taken back");
    await showAnswer(deps, payload, { id: "answer:not-undone", heading: "Not confirmed", text: NOT_UNDONE });
  } finally {
    changeCard();
  }
}

/** Handles Undo in the window after the submit. The window shows the result. */
export async function onUndoInWindow(deps: ListenerDeps, payload: WindowClickPayload): Promise<void> {
  const { user, view, actions } = payload;
  const nonce = parsed<Nonce>(Nonce, actions[0].value);
  const answer = await undoneInWindow(deps, user.id, nonce);
  try {
    await deps.quick("views.update", { view_id: view.id, view: answer });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not show the result of Undo in its window; the card shows it");
  }
}

async function undoneInWindow(deps: ListenerDeps, user: UserId, nonce: Nonce | null): Promise<View> {
  try {
    const undone = await deps.undoDecision.inWindow({ team: deps.team, user }, nonce);
    if (undone.ok) return messageModal("Taken back", TAKEN_BACK, "answer:taken-back");
    return refusalModal(undone.error.refusal, user);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "an approval could not be taken back");
    const answer = messageModal("Not confirmed", NOT_UNDONE, "answer:not-undone");
    return nonce === null ? answer : { ...answer, blocks: [...answer.blocks, undoButton(nonce)] };
  }
}

// The deadline may have passed while the approval was held. The card then closes, or is denied by the policy, a moment later.
const TAKEN_BACK =
  "Your approval is taken back, and nothing was sent. Unless its deadline has passed, the request can be decided again on its card.";

const NOT_UNDONE =
  "Countersign could not confirm that your approval is taken back. If it is not, the approval may still be sent. Press Undo again. The card shows what becomes of the approval.";

/** A successful press gets no answer, because the card and the thread show the stop. */
export async function onBrakeClick(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const [{ action_id, block_id, value }] = payload.actions;
  const press = {
    team: deps.team,
    user: payload.user.id,
    channel: payload.channel.id,
    run: parsed<RunKey>(RunKey, value),
    shown: stopShownIn(block_id),
  };
  try {
    const act = action_id === RUN_STOP ? "stop" : "lift";
    const done = await deps.stopRun[act](press);
    if (!done.ok) await refuseBrake(deps, payload, done.error.refusal, act);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not stop a run, or lift its stop");
    await showAnswer(deps, payload, {
      id: "answer:not-stopped",
      heading: "Not done yet",
      text: STOP_NOT_RECORDED,
    });
  }
}

async function refuseBrake(
  deps: ListenerDeps,
  payload: ClickPayload,
  refusal: Refusal,
  act: "stop" | "lift",
): Promise<void> {
  if (refusal.type === "unknown") return refusePress(deps, payload, refusal);
  const answer = brakeRefusal(refusal, payload.user.id, act);
  await showAnswer(deps, payload, { id: `refusal:${refusal.type}`, ...answer });
}

const STOP_NOT_RECORDED =
  "Countersign could not record this just now. Press again. The run's thread says when it is stopped, and when a stop is lifted.";

async function openRequest(deps: ListenerDeps, payload: ClickPayload, click: Click): Promise<void> {
  let isOpen = false;
  try {
    const read = await deps.openForm.read(click, async (run, request) => {
      isOpen = await openModal(deps, payload, readModal(run, request, deps.deployment));
      return isOpen;
    });
    if (!read.ok) await refusePress(deps, payload, read.error.refusal);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    if (!isOpen) {
      deps.log.error({ error }, "could not open a request");
      return showAnswer(deps, payload, NOTHING_OPENED);
    }
    deps.log.error(
      { error },
      "could not record that a person read a request; if the rule requires it, Approve asks them to read it again",
    );
  }
}

/**
 * Refuses a press. A button that the store does not know may be on a message that is newer than a restored copy; that message is closed.
 */
export async function refusePress(
  deps: ListenerDeps,
  payload: Pick<ClickPayload, "user" | "channel" | "message" | "trigger_id" | "response_url">,
  refusal: Refusal,
): Promise<void> {
  await showRefusal(deps, payload, refusal);
  if (refusal.type === "unknown") await deps.orphans.pressed(payload.channel.id, payload.message.ts);
}

export async function showRefusal(
  deps: ListenerDeps,
  payload: ClickToAnswer,
  refusal: Refusal,
): Promise<void> {
  const text = refusalWords(refusal, payload.user.id);
  await showAnswer(deps, payload, { id: `refusal:${refusal.type}`, heading: refusalTitle(refusal), text });
}

export type Answer = { readonly id: MessageId; readonly heading: string; readonly text: string };

/** Answers in a window, which the person sees wherever they clicked: in the channel, in the thread or on a phone. */
export async function showAnswer(
  deps: ListenerDeps,
  payload: ClickToAnswer,
  { id, heading, text }: Answer,
): Promise<void> {
  try {
    await deps.quick("views.open", { trigger_id: payload.trigger_id, view: messageModal(heading, text, id) });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    await answerPrivately(deps, payload, textAnswer(id, text));
  }
}

/** A click that can be answered. `response_url` is null on the Home tab, so the answer is a direct message. */
type ClickToAnswer = Pick<ClickPayload, "user" | "trigger_id"> & { readonly response_url: string | null };

async function answerPrivately(
  { answerAt, quick, deployment, log }: ListenerDeps,
  { user, response_url }: ClickToAnswer,
  answer: Message,
): Promise<void> {
  if (response_url !== null) return answerAt(response_url, answer);
  try {
    await quick("chat.postMessage", { channel: user.id, ...named(answer, deployment), ...LITERAL });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    log.warn({ code: error.code }, "could not answer a click on the Home tab");
  }
}

const OPENED_BEFORE = textAnswer(
  "answer:opened-before",
  "Slack delivered this click twice. Use the form that is already open.",
);
/** Claims no more than we know: the answer to `views.open` can be lost, and an earlier process may have opened a form for this click. */
const OPENING_NOT_CONFIRMED = textAnswer(
  "answer:opening-not-confirmed",
  "Slack did not confirm that it opened a form for this click. If you see no form, click again. The click alone has sent nothing.",
);

/**
 * Opens a window. Slack allows that within 3 s of the click; after that, the person must click again. Resolves to false if this delivery
 * did not open a window. The person then gets a private answer that says so.
 */
export async function openModal(deps: ListenerDeps, payload: ClickToAnswer, view: object): Promise<boolean> {
  try {
    const { trigger_id } = payload;
    const opened = await deps.once.act(trigger_id, () => deps.quick("views.open", { trigger_id, view }));
    if (opened === "again") await answerPrivately(deps, payload, OPENED_BEFORE);
    return opened === "done";
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "Slack did not open a window");
    await answerPrivately(deps, payload, OPENING_NOT_CONFIRMED);
    return false;
  }
}
