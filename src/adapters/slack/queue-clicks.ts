// Handles clicks in the queue, on the Home tab and in the answer to "pending": filters, pages and Review.

import { parsed, RunKey } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import type { OpenedReview } from "../../usecases/review.ts";
import { type Apart, reviewSeveralModal, reviewView } from "./blocks/review-modal.ts";
import { type Answer, openModal, showAnswer, showRefusal } from "./clicks.ts";
import { showHome } from "./home-tab.ts";
import { linkTo } from "./own-messages.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { QUEUE_REVIEW_RUN } from "./names.ts";
import type { ClickPayload, QueueClickPayload } from "./payloads.ts";
import { choiceOf, pendingAnswer } from "./queue.ts";
import { EVERYTHING } from "./queue-choice.ts";
import { cardSlot } from "../../domain/run.ts";

/** A page or a filter: draws the list anew where it was clicked. */
export async function onQueueChoice(deps: ListenerDeps, payload: QueueClickPayload): Promise<void> {
  const { user, view, channel, response_url } = payload;
  const choice = choiceOf(payload);
  if (view !== undefined) return showHome(deps, user.id, choice);
  if (channel === undefined || response_url === undefined) return;
  try {
    const answer = await pendingAnswer(deps, user.id, channel.id, choice);
    await deps.answerAt(response_url, { ...answer, replace_original: true });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not turn a page of the queue");
  }
}

/** Review on the notice of many requests: the reader's own queue of the channel, in an answer that only they see. */
export async function onStormReview(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const { user, channel, message, actions, response_url } = payload;
  const press = { team: deps.team, user: user.id, channel: channel.id, ts: message.ts };
  try {
    const opened = await deps.openStorm({ ...press, run: parsed<RunKey>(RunKey, actions[0].value) });
    if (!opened.ok) return await showRefusal(deps, payload, opened.error.refusal);
    const answer = await pendingAnswer(deps, user.id, channel.id, { ...EVERYTHING, channel: channel.id });
    await deps.answerAt(response_url, answer);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not list what waits in a channel");
    await showAnswer(deps, payload, NOT_READ);
  }
}

const NOT_READ: Answer = {
  id: "answer:queue-not-read",
  heading: "Try again",
  text: "Countersign could not list what waits for you just now. Nothing was decided. Press Review again.",
};

const answerable = ({ user, trigger_id, response_url }: QueueClickPayload) => ({
  user,
  trigger_id,
  response_url: response_url ?? null,
});

/** Review of one request. */
export async function onReview(deps: ListenerDeps, payload: QueueClickPayload): Promise<void> {
  const [{ value = "" }] = payload.actions;
  const opened = await deps.review.open({ team: deps.team, user: payload.user.id }, value);
  if (!opened.ok) return showRefusal(deps, answerable(payload), opened.error.refusal);
  await openModal(deps, answerable(payload), reviewView(opened.value, deps.deployment));
}

/** Review of several requests in one form. */
export async function onReviewSeveral(deps: ListenerDeps, payload: QueueClickPayload): Promise<void> {
  const [{ action_id, value = "" }] = payload.actions;
  const kind = action_id === QUEUE_REVIEW_RUN ? "run" : "rule";
  const opened = await deps.review.openSeveral({ team: deps.team, user: payload.user.id }, kind, value);
  if (!opened.ok) return showRefusal(deps, answerable(payload), opened.error.refusal);
  const apart = await apartOf(deps, opened.value);
  await openModal(deps, answerable(payload), reviewSeveralModal(opened.value, apart));
}

/** Those that keep their own form are listed with links; so many links are asked for at most. */
const MOST_LINKS = 10;

export function apartOf(deps: ListenerDeps, { apart }: OpenedReview): Promise<readonly Apart[]> {
  return Promise.all(
    apart.slice(0, MOST_LINKS).map(async (item) => {
      const { link } = await linkTo(deps, item.run, cardSlot(item.approval.id));
      return { item, link };
    }),
  );
}
