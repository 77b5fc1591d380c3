// One page of a queue, as the Home tab and `pending` draw it.

import type { QueuePage } from "#src/adapters/slack/blocks/queue-list.ts";
import { EVERYTHING } from "#src/adapters/slack/queue-choice.ts";
import type { Person } from "#src/domain/authorization.ts";
import { BUILT_IN, type Policy } from "#src/domain/policy/policy.ts";
import { type Queue, queueOf, reviewGroups } from "#src/domain/queue.ts";
import type { Run } from "#src/domain/run.ts";
import { APPROVER, NOON, TEAM } from "./run.ts";

export const MEMBER: Person = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true };

type Seen = { readonly by?: Person; readonly policy?: Policy; readonly now?: number };

/** A queue of these runs, in all of their channels. */
export function aQueue(
  runs: readonly Run[],
  { by = MEMBER, policy = BUILT_IN, now = NOON }: Seen = {},
): Queue {
  const channels = new Set(runs.map(({ channel }) => channel));
  return queueOf(runs, { user: by.user, person: by, channels }, { policy, now, monotonic: now });
}

export function aQueuePage(
  runs: readonly Run[],
  { link = null, ...seen }: Seen & { readonly link?: string | null } = {},
  facts: Partial<QueuePage> = {},
): QueuePage {
  const { yours, others, undelivered, unreadable, closedTo } = aQueue(runs, seen);
  const row = (item: Queue["yours"][number]) => ({
    item,
    link,
    review: item.may.length === 0 ? null : "value",
  });
  return {
    yours: yours.map(row),
    others: others.map(row),
    undelivered: undelivered.map((item) => ({ ...item, link })),
    counts: {
      yours: yours.length,
      others: others.length,
      undelivered: undelivered.length,
      unreadable: unreadable.length,
    },
    page: 0,
    pages: 1,
    choice: EVERYTHING,
    rules: [...new Set([...yours, ...others].map(({ rule }) => rule.name))],
    groups: reviewGroups(yours).map((group) => ({ group, together: group.items.length, review: "value" })),
    unreadable: unreadable.map((run) => ({ run, link })),
    closed: closedTo !== null,
    more: false,
    freezes: [],
    ...facts,
  };
}
