// One page of the queue of one person, with the links to the cards and the values of the buttons.

import type { UserId } from "../../domain/ids.ts";
import { filtered, needsOwnForm, type QueueItem, reviewGroups } from "../../domain/queue.ts";
import { cardSlot, UNREADABLE } from "../../domain/slot.ts";
import type { WholeQueue } from "../../usecases/read-queue.ts";
import type { GroupRow, QueuePage, QueueRow } from "./blocks/queue-list.ts";
import { cutIntoPages, fitted } from "./blocks/queue-room.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { linkTo } from "./own-messages.ts";
import { filterOf, type QueueChoice } from "./queue-choice.ts";

/** The most decisions on their way to the service that are listed. */
const MAX_UNDELIVERED = 5;
/** The most runs with unreadable approvals that are listed. Their threads show all of them. */
const MAX_UNREADABLE = 5;

type Drawing = Pick<ListenerDeps, "review" | "team" | "quick" | "deployment">;

export async function queuePage(
  deps: Drawing,
  user: UserId,
  queue: WholeQueue,
  choice: QueueChoice,
): Promise<QueuePage> {
  const { yours, others, undelivered, unreadable } = filtered(queue, filterOf(choice, user));
  const first: QueuePage = {
    ...NO_ROWS,
    counts: countsOf({ yours, others, undelivered, unreadable }),
    choice,
    rules: [...new Set([...queue.yours, ...queue.others].map(({ rule }) => rule.name))].toSorted(),
    groups: groupRows(deps, user, yours),
    closed: queue.closedTo !== null,
    more: queue.more,
    freezes: queue.freezes,
  };
  const all = cutIntoPages([...yours, ...others], first);
  const page = Math.min(choice.page, all.length - 1);
  const readersOwn = new Set(yours);
  const [rows, below] = await Promise.all([
    Promise.all((all[page] ?? []).map((item) => rowOf(deps, user, item))),
    page === 0 ? rowsBelow(deps, { undelivered, unreadable }) : NO_ROWS_BELOW,
  ]);
  return fitted({
    ...first,
    yours: rows.filter(({ item }) => readersOwn.has(item)),
    others: rows.filter(({ item }) => !readersOwn.has(item)),
    ...below,
    groups: page === 0 ? first.groups : [],
    page,
    pages: all.length,
    choice: { ...choice, page },
  });
}

const NO_ROWS_BELOW = { undelivered: [], unreadable: [] } as const;
const NO_ROWS = { yours: [], others: [], ...NO_ROWS_BELOW, page: 0, pages: 1 } as const;

/** The rows below the requests. */
async function rowsBelow(
  deps: Drawing,
  { undelivered, unreadable }: Pick<WholeQueue, "undelivered" | "unreadable">,
): Promise<Pick<QueuePage, "undelivered" | "unreadable">> {
  const [sent, runs] = await Promise.all([
    Promise.all(undelivered.slice(0, MAX_UNDELIVERED).map((item) => withCardLink(deps, item))),
    Promise.all(unreadable.slice(0, MAX_UNREADABLE).map((run) => linkTo(deps, run, UNREADABLE))),
  ]);
  return { undelivered: sent, unreadable: runs };
}

const countsOf = (lists: { readonly [list in keyof QueuePage["counts"]]: readonly unknown[] }) => ({
  yours: lists.yours.length,
  others: lists.others.length,
  undelivered: lists.undelivered.length,
  unreadable: lists.unreadable.length,
});

/** Adds the link to the card. */
const withCardLink = async (deps: Drawing, item: WholeQueue["undelivered"][number]) => ({
  ...item,
  link: (await linkTo(deps, item.run, cardSlot(item.approval.id))).link,
});

async function rowOf(deps: Drawing, user: UserId, item: QueueItem): Promise<QueueRow> {
  const { run, approval, may } = item;
  const { link } = await linkTo(deps, run, cardSlot(approval.id));
  const by = { team: deps.team, user };
  return { item, link, review: may.length === 0 ? null : deps.review.valueFor("one", by, approval.nonce) };
}

/** How many of the largest groups get a button. The requests of a run often belong to one rule, so one group of a run is enough. */
const MAX_GROUPS = { run: 1, rule: 2 };

function groupRows({ review, team }: Drawing, user: UserId, yours: readonly QueueItem[]): GroupRow[] {
  const groups = reviewGroups(yours);
  const shown = (["rule", "run"] as const).flatMap((kind) =>
    groups.filter((group) => group.kind === kind).slice(0, MAX_GROUPS[kind]),
  );
  return shown.flatMap((group) => {
    const [first] = group.items;
    if (first === undefined) return [];
    const value = review.valueFor(group.kind, { team, user }, first.approval.nonce);
    return [{ group, together: group.items.filter((item) => !needsOwnForm(item)).length, review: value }];
  });
}
