// The look back at a week. When a week ends, one audit entry says so, and the notification follows from that entry. The figures are read
// from the audit when they are shown.

import { auditEntry, type KeptEntry } from "../audit/entry.ts";
import { COUNTED_KINDS, type LookBack, lookBackAt, lookBackWords } from "../audit/look-back.ts";
import type { Context } from "../domain/context.ts";
import type { MessageTs } from "../domain/ids.ts";
import { DEFAULT_LOOK_BACK, lastWeek, type Week } from "../domain/policy/hours.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { Clock } from "../engine/clock.ts";
import type { EventLog } from "../ports.ts";
import type {
  AuditReaders,
  DrawLookBack,
  Notification,
  NotificationFacts,
  NotificationSender,
} from "../ports/notification.ts";
import type { AuditEvidence, AuditLog } from "../ports/audit-store.ts";

type Deps = {
  readonly store: AuditLog & AuditEvidence;
  readonly context: () => Pick<Context, "now" | "policy">;
  readonly clock: Pick<Clock, "after">;
};

/** The time between two checks by the wall clock (ms). Time zone calculations are too costly to do every second. */
const CHECK_EVERY_MS = 20_000;

/** If several weeks ended while Countersign was down, only the newest gets a look back. */
export function createWeekEnds(
  deps: Omit<Deps, "clock"> & { readonly audit: Pick<AuditReaders, "channel"> },
) {
  const { store, context, audit } = deps;
  let recordedTo = 0;
  let checkedAt = -Infinity;
  return {
    /** Records the end of a week, once for each week, in spite of restarts and other replicas. Rejects with PortError. */
    async note(): Promise<void> {
      const { now, policy } = context();
      if (Math.abs(now - checkedAt) < CHECK_EVERY_MS) return;
      checkedAt = now;
      if (audit.channel === null || policy.lookBack === null) return;
      const week = lastWeek(policy.lookBack, now);
      // A week of the future was recorded while the wall clock was wrong.
      if (recordedTo > now) recordedTo = 0;
      if (week === null || week.to <= recordedTo) return;
      // A week before the first entry has no figures. If the entry about the end of this week is archived, all remaining entries are later.
      const [first] = await store.auditRows(0, 1);
      if (first === undefined || first.columns.at >= week.to) return;
      const { from: since, to: until } = week;
      const outcome = `from ${new Date(since).toISOString()} to ${new Date(until).toISOString()}`;
      const ended = auditEntry(null, { at: now, what: "week-ended", outcome, since });
      await store.auditOnce({ ...ended, until });
      recordedTo = until;
    },
  };
}

/** Resolves to null if the entry names no week. Rejects with PortError. */
export async function lookBackIn(deps: Deps, { entry }: KeptEntry): Promise<LookBack | null> {
  const { since, until } = entry;
  if (since === undefined || until === undefined) return null;
  const week = { from: since, to: until };
  const { entries, incomplete } = await entriesOf(deps, week);
  const { policy } = deps.context();
  // Entries do not name the rules of the built-in policy.
  const rules = policy.version === null ? [] : policy.rules.map(({ name }) => name);
  return lookBackAt(entries, { week, rules, tz: zoneOf(policy), incomplete });
}

const zoneOf = ({ lookBack }: Pick<Policy, "lookBack">): string => (lookBack ?? DEFAULT_LOOK_BACK).tz;

/** The number of entries in memory at a time. Between two pages, the event loop runs. */
const PAGE = 500;
/** The wall clock may have been set back by up to this much (ms), so entries are searched for this long before and after the week. */
const SKEW_MS = 24 * 60 * 60_000;

export async function entriesOf(
  { store, clock }: Pick<Deps, "store" | "clock">,
  { from, to }: Week,
): Promise<{ readonly entries: readonly KeptEntry[]; readonly incomplete: boolean }> {
  const [oldest] = await store.auditRows(0, 1);
  const first = oldest?.seq ?? 1;
  const entries: KeptEntry[] = [];
  let after = (await firstAfter(store, first, from - SKEW_MS)) - 1;
  for (;;) {
    const page = await store.auditAfter(after, COUNTED_KINDS, PAGE);
    // Reasons are not counted, and would fill the memory.
    for (const kept of page)
      if (kept.entry.at >= from && kept.entry.at < to)
        entries.push({ ...kept, entry: { ...kept.entry, reason: null } });
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE || last.entry.at >= to + SKEW_MS) break;
    after = last.seq;
    await new Promise<void>((resolve) => clock.after(0, resolve));
  }
  return { entries, incomplete: first > 1 && (oldest?.columns.at ?? 0) >= from };
}

/**
 * Resolves to the number of the first entry at or after this moment. A binary search: except for the skew, entries are in order of time.
 */
async function firstAfter(store: Deps["store"], first: number, at: number): Promise<number> {
  let low = first;
  let high = ((await store.auditHead())?.seq ?? first - 1) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    // This reads the column, because an entry that cannot be read has a time there too.
    const [row] = await store.auditRows(middle - 1, 1);
    if (row?.seq === middle && row.columns.at < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Posts a notification, and below a look back its picture. The picture is tried only once, after the text, because the text says
// everything.

export type PictureDeps = {
  readonly notificationSender: NotificationSender;
  readonly drawLookBack: DrawLookBack;
  readonly context: () => Context;
  readonly log: EventLog;
};

/** Rejects as the post does. */
export async function postWithPicture(
  deps: PictureDeps,
  notification: Notification,
  facts: NotificationFacts,
): Promise<MessageTs> {
  const ts = await deps.notificationSender.post(notification, facts);
  await attachPicture(deps, notification, facts, ts);
  return ts;
}

/** Never rejects. */
async function attachPicture(
  { notificationSender, drawLookBack, context, log }: PictureDeps,
  { to, entry }: Notification,
  { lookBack }: NotificationFacts,
  ts: MessageTs,
): Promise<void> {
  if (lookBack === undefined || lookBack.days.every((day) => day.approved + day.denied + day.expired === 0))
    return;
  const tz = zoneOf(context().policy);
  try {
    const bytes = await drawLookBack(lookBack, tz);
    await notificationSender.attach(to, ts, { name: "week.png", bytes, alt: lookBackWords(lookBack, tz) });
  } catch (error) {
    log.warn({ entry, error }, "the look back has no picture; its text says everything");
  }
}
