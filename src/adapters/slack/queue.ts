// The queue in Slack: one page of it for the Home tab or the answer to "pending", and the clicks that turn its pages and set its
// filters.

import { ChannelId, parsed, type UserId } from "../../domain/ids.ts";
import { filtered, needsOwnForm, type QueueItem, reviewGroups } from "../../domain/queue.ts";
import { cardSlot, UNREADABLE } from "../../domain/run.ts";
import type { WholeQueue } from "../../usecases/queue.ts";
import { withId } from "./blocks/message-id.ts";
import {
  CLOSED_QUEUE,
  type GroupRow,
  isEmpty,
  NOTHING_WAITS,
  queueBlocks,
  type QueuePage,
  type QueueRow,
} from "./blocks/queue-list.ts";
import { count, line, type Message, rich, span } from "./blocks/rich.ts";
import { linkTo } from "./own-messages.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { QUEUE_CHANNEL, QUEUE_FILTERS, QUEUE_SHOW } from "./names.ts";
import type { QueueClickPayload } from "./payloads.ts";
import { decodeChoice, EVERYTHING, filterOf, type QueueChoice, shown } from "./queue-choice.ts";

/** Requests on one page. With the filters and the person's own runs, Home stays below 100 blocks, and an answer below 50. */
const PAGE_SIZE = 15;
/** Most runs with something unreadable that are listed; the cards show all. */
const MOST_UNREADABLE = 5;

type Drawing = Pick<ListenerDeps, "review" | "team" | "quick" | "deployment">;

export async function queuePage(
  deps: Drawing,
  user: UserId,
  queue: WholeQueue,
  choice: QueueChoice,
): Promise<QueuePage> {
  const { yours, others, unreadable } = filtered(queue, filterOf(choice, user));
  const all = [...yours, ...others];
  const pages = Math.max(1, Math.ceil(all.length / PAGE_SIZE));
  const page = Math.min(choice.page, pages - 1);
  const items = all.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE);
  const mine = new Set(yours);
  const [rows, unread] = await Promise.all([
    Promise.all(items.map((item) => rowOf(deps, user, item))),
    Promise.all(
      (page === 0 ? unreadable : []).slice(0, MOST_UNREADABLE).map((run) => linkTo(deps, run, UNREADABLE)),
    ),
  ]);
  return {
    yours: rows.filter(({ item }) => mine.has(item)),
    others: rows.filter(({ item }) => !mine.has(item)),
    counts: { yours: yours.length, others: others.length },
    page,
    pages,
    choice: { ...choice, page },
    rules: [...new Set([...queue.yours, ...queue.others].map(({ rule }) => rule.name))].toSorted(),
    groups: page === 0 ? groupRows(deps, user, yours) : [],
    unreadable: unread,
    closed: queue.closedTo !== null,
    more: queue.more,
    freezes: queue.freezes,
  };
}

async function rowOf(deps: Drawing, user: UserId, item: QueueItem): Promise<QueueRow> {
  const { run, approval, may } = item;
  const { link } = await linkTo(deps, run, cardSlot(approval.id));
  const by = { team: deps.team, user };
  return { item, link, review: may.length === 0 ? null : deps.review.valueFor("one", by, approval.nonce) };
}

/** The largest groups of what waits for this person get a button; a run often lies within the group of its rule. */
const MOST_GROUPS = { run: 1, rule: 2 };

function groupRows({ review, team }: Drawing, user: UserId, yours: readonly QueueItem[]): GroupRow[] {
  const groups = reviewGroups(yours);
  const shown = (["rule", "run"] as const).flatMap((kind) =>
    groups.filter((group) => group.kind === kind).slice(0, MOST_GROUPS[kind]),
  );
  return shown.flatMap((group) => {
    const [first] = group.items;
    if (first === undefined) return [];
    const value = review.valueFor(group.kind, { team, user }, first.approval.nonce);
    return [{ group, many: group.items.filter((each) => !needsOwnForm(each)).length, review: value }];
  });
}

/** The private answer to "pending". `channel`: where the person asks. Rejects with PortError. */
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
  const text = `Waiting for you: ${count(page.counts.yours)}. Waiting for others: ${count(page.counts.others)}.`;
  return withId("answer:pending", { text, blocks: queueBlocks(page) });
}

/** What a click on a filter or a page chooses. A new filter starts at its first page. */
export function choiceOf({ actions: [{ action_id, value }], state, view }: QueueClickPayload): QueueChoice {
  if (action_id !== QUEUE_SHOW && action_id !== QUEUE_CHANNEL) return decodeChoice(value ?? "");
  const values = (view?.state ?? state)?.values[QUEUE_FILTERS];
  const channel = parsed<ChannelId>(ChannelId, values?.[QUEUE_CHANNEL]?.selected_conversation);
  return { show: shown(values?.[QUEUE_SHOW]?.selected_option?.value), channel, page: 0 };
}
