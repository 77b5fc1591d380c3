// The Home tab, and the queue, which appears on the Home tab and in the private answer to `pending`.

import { ChannelId, parsed, RunKey, type UserId } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import { type HomeRows, homeView } from "./blocks/home-view.ts";
import { runForm } from "./blocks/run-form.ts";
import { withId } from "./blocks/message-id.ts";
import { CLOSED_QUEUE, isEmpty, NOTHING_WAITS, queueBlocks } from "./blocks/queue-list.ts";
import { count, line, type Message, rich, span } from "./blocks/rich.ts";
import { type Answer, openModal, showAnswer, showRefusal } from "./clicks.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { LiveHomes } from "./live-homes.ts";
import { QUEUE_CHANNEL, QUEUE_FILTERS, QUEUE_SHOW } from "./names.ts";
import { linked } from "./own-messages.ts";
import type { ClickPayload, HomeClickPayload, QueueClickPayload } from "./payloads.ts";
import { decodeChoice, EVERYTHING, parseShow, type QueueChoice } from "./queue-choice.ts";
import { queuePage } from "./queue-page.ts";

/** The private answer to `pending`. `channel` is where the person asks. Rejects with PortError. */
export async function pendingAnswer(
  deps: ListenerDeps,
  user: UserId,
  channel: ChannelId,
  choice: QueueChoice = EVERYTHING,
): Promise<Message> {
  const queue = await deps.queries.pending({ team: deps.team, user }, channel);
  deps.cards.lookNow([...new Set([...queue.yours, ...queue.others].map(({ run }) => run))]);
  const page = await queuePage(deps, user, queue, choice);
  if (page.closed || isEmpty(page)) {
    const none = page.closed ? CLOSED_QUEUE : NOTHING_WAITS;
    return withId("answer:pending:empty", { text: none, blocks: [rich(line(span(none)))] });
  }
  const { yours, others, undelivered } = page.counts;
  const sent = undelivered === 0 ? "" : ` Decided, not confirmed yet: ${count(undelivered)}.`;
  const text = `Waiting for you: ${count(yours)}. Waiting for others: ${count(others)}.${sent}`;
  return withId("answer:pending", { text, blocks: queueBlocks(page) });
}

// The Home tab. It is published when someone opens it, presses Refresh or turns a page of its queue, and when something on an open tab
// changes. It shows when it was published.

/** The most of the person's own runs that the tab lists. */
const MAX_ROWS = 10;

/** Draws the tab after the reader has opened it or done something there. Never rejects. */
export async function showHome(deps: ListenerDeps, user: UserId, choice: QueueChoice): Promise<void> {
  deps.homes.opened(user, choice);
  await drawHome(deps, user, choice);
}

/** Draws the tab again, with the page and filters that the reader chose last. Never rejects. */
export async function refreshHome(deps: ListenerDeps, user: UserId): Promise<void> {
  await showHome(deps, user, await deps.homes.choiceOf(user));
}

type HomeDrawing = Omit<ListenerDeps, "homes"> & {
  readonly homes: Pick<LiveHomes, "begin" | "drawn" | "failed">;
};

/** Publishes the tab. Never rejects: after a failure, Slack keeps the previous tab, and it is soon drawn again. Idempotent. */
export async function drawHome(deps: HomeDrawing, user: UserId, choice: QueueChoice): Promise<void> {
  const mayPublish = deps.homes.begin(user);
  try {
    const found = await rows(deps, user, choice);
    if (!mayPublish()) return;
    await deps.quick("views.publish", {
      user_id: user,
      view: homeView(found?.rows ?? null, deps.clock.now()),
    });
    if (found === null) deps.homes.failed(user);
    else deps.homes.drawn(user, found.channels);
  } catch (error) {
    deps.log.warn({ error }, "could not publish a Home tab");
    deps.homes.failed(user);
  }
}

type Found = { readonly rows: HomeRows; readonly channels: ReadonlySet<ChannelId> };

async function rows(deps: HomeDrawing, user: UserId, choice: QueueChoice): Promise<Found | null> {
  try {
    const { queue, own } = await deps.queries.home({ team: deps.team, user }, MAX_ROWS + 1);
    const [page, threads] = await Promise.all([
      queuePage(deps, user, queue, choice),
      Promise.all(own.slice(0, MAX_ROWS).map((run) => linked(deps, run))),
    ]);
    return { rows: { page, own: threads, moreOwn: own.length > MAX_ROWS }, channels: queue.channels };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not look up the runs of a Home tab");
    return null;
  }
}

export async function openFormFromHome(deps: ListenerDeps, payload: HomeClickPayload): Promise<void> {
  await openModal(deps, { ...payload, response_url: null }, runForm(deps.nonce(), true));
}

// Clicks in the queue, on the Home tab and in the answer to `pending`. (For Review, see review-form.ts.)

/** Reads the choice from a click on a filter or a page. A new filter starts at its first page. */
export function choiceOf(payload: QueueClickPayload): QueueChoice {
  const { actions, state, view, trigger_id: menuName } = payload;
  const [{ action_id, value }] = actions;
  if (action_id !== QUEUE_SHOW && action_id !== QUEUE_CHANNEL)
    return { ...decodeChoice(value ?? ""), menuName };
  const states = Object.entries((view?.state ?? state)?.values ?? {});
  const values = states.find(([block]) => block.startsWith(QUEUE_FILTERS))?.[1];
  const channel = parsed<ChannelId>(ChannelId, values?.[QUEUE_CHANNEL]?.selected_conversation);
  return { show: parseShow(values?.[QUEUE_SHOW]?.selected_option?.value), channel, page: 0, menuName };
}

/** Draws the list again in the same place after another page or filter was chosen. */
export async function onQueueChoice(deps: ListenerDeps, payload: QueueClickPayload): Promise<void> {
  const { user, view, channel, response_url, trigger_id } = payload;
  const choice = choiceOf(payload);
  if (view !== undefined) return showHome(deps, user.id, choice);
  if (channel === undefined || response_url === undefined) return;
  try {
    const answer = await pendingAnswer(deps, user.id, channel.id, choice);
    await deps.answerAt(response_url, { ...answer, replace_original: true });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not turn a page of the queue");
    await showAnswer(deps, { user, trigger_id, response_url }, NOT_READ);
  }
}

/**
 * Handles Review on the notice of a storm, and on a message that calls people. Shows the reader's own queue of the run's channel, in an
 * answer that only they see.
 */
export async function onReviewInChannel(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const { user, channel, message, actions, response_url } = payload;
  const press = { team: deps.team, user: user.id, channel: channel.id, ts: message.ts };
  try {
    const opened = await deps.checkReviewPress({ ...press, run: parsed<RunKey>(RunKey, actions[0].value) });
    if (!opened.ok) return await showRefusal(deps, payload, opened.error.refusal);
    const answer = await pendingAnswer(deps, user.id, channel.id, { ...EVERYTHING, channel: opened.value });
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
  text: "Countersign could not list what waits for you just now. Nothing was decided. Press the button again.",
};
