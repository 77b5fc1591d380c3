// "This was not me": a new audit entry marks the entry of the decision as disputed, and the admins are notified. The decision stays: it may
// have reached the service already, and only people can undo what followed.

import { aboutSameRun, auditEntry, isUndo, type KeptEntry } from "../audit/entry.ts";
import type { AuditPlace } from "../domain/audit/hash-chain.ts";
import type { Nonce, PersonId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Integrity } from "../engine/integrity.ts";
import { BEGINNING } from "../domain/audit/verify-chain.ts";
import { readAfter } from "../engine/proven-entries.ts";
import { factsOf, type NotificationDeps } from "../notifications/from-audit.ts";
import { reachOf } from "../notifications/reach.ts";
import type { Counters } from "../ports.ts";
import {
  isReceipt,
  type Notification,
  type NotificationFacts,
  type Reach,
  type Report,
  SEVERAL_RECEIPTS,
} from "../ports/notification.ts";
import { createNoteRefusal } from "./refusals.ts";

export type Disputed = {
  /** True if the decision was disputed before. Nothing was written then. */
  readonly again: boolean;
  /** How many admins are notified, and whether the audit channel is. If there is neither, the dispute is only in the log and the audit. */
  readonly notified: { readonly admins: number; readonly channel: boolean };
  /** When the decision was first disputed (ms since 1970). Null if this is no longer known. */
  readonly reportedAt: number | null;
  /** The entry of the decision. */
  readonly entry: KeptEntry;
  /** The receipt, which is drawn again without its button. */
  readonly receipt: Notification;
  /** What the receipt shows. Null if it could not be read. */
  readonly facts: NotificationFacts | null;
  /** Whether the decision has left. */
  readonly reach: Reach;
  /** All receipts in the same message, if the receipt shares a message. Empty if it has its own message, or if they are not known. */
  readonly together: readonly SharedReceipt[];
};

/** `reportedAt` is left out if the decision is not disputed. */
export type SharedReceipt = {
  readonly receipt: Notification;
  readonly facts: NotificationFacts;
  readonly reportedAt?: number;
};

/**
 * `nonce` is null if the button carried no valid nonce. `shown`: the entry that the receipt shows, with the first digits of its link. The buttons
 * of earlier releases do not say it. Rejects with PortError if nothing could be written.
 */
export type Dispute = (
  by: PersonId,
  nonce: Nonce | null,
  shown?: AuditPlace | null,
) => Promise<Result<Disputed, NotDisputed>>;

/** "gone": the receipt is the person's, but its entry is archived. "unproven": the entry is missing, or does not prove what they decided. */
export type NotDisputed = "unknown" | "gone" | "unproven";

type DisputeDeps = NotificationDeps & {
  readonly metrics: Counters;
  readonly integrity: Pick<Integrity, "found">;
};

export function createDispute(deps: DisputeDeps): Dispute {
  const { store, audit, context, log } = deps;
  const refuse = createNoteRefusal(deps);
  return async (by, nonce, shown = null) => {
    const row = nonce === null ? null : await store.notification(nonce);
    const pressed = row === null ? null : { row, ...(shown ?? { seq: row.entry, link: "" }) };
    const found = pressed === null ? err("unknown" as const) : await ownDecision(deps, by, pressed);
    if (!found.ok) {
      const refers = pressed === null || found.error === "unknown" ? {} : { refers: pressed.seq };
      await refuse(by, found.error === "unproven" ? "tampered" : "unknown", { step: "receipt", ...refers });
      return found;
    }
    const { receipt, decided } = found.value;
    const { run, runId, approval, verdict, digest, policy } = decided.entry;
    const decision = { approval, verdict, digest, policy, refers: decided.seq };
    const about = { ...aboutSameRun(decided.entry), ...decision };
    const facts = { at: context().now, what: "disputed", outcome: "disputed", by } as const;
    const marked = await store.dispute(receipt.id, auditEntry(null, { ...facts, ...about }));
    log.error({ ...by, run, runId, entry: decided.seq }, "a person disputes a decision in their name");
    const again = marked === "known";
    const redrawn = await receiptOf(deps, by, found.value, again ? null : facts.at);
    const notified = { admins: audit.admins.length, channel: audit.channel !== null };
    return ok({ again, notified, entry: decided, ...redrawn });
  };
}

/** The stored receipt, and the entry that it is about. `link`: the first digits of its link, as far as they are known. */
type Pressed = AuditPlace & { readonly row: Notification };

type OwnDecision = { readonly receipt: Notification; readonly decided: KeptEntry };

/**
 * The row of a receipt is not sealed. So its message says which decision the person means, and the proven entry says whose decision it is. A
 * row that disagrees is a finding. Damage to the entry may be acknowledged already, so each report that it spoils is a finding of its own.
 */
async function ownDecision(
  { store, audit, context, integrity, log }: DisputeDeps,
  by: PersonId,
  { row, seq, link }: Pressed,
): Promise<Result<OwnDecision, NotDisputed>> {
  if (by.team !== audit.team) return err("unknown");
  const proven = await store.provenEntry(seq);
  const id = `${context().digest(row.id).slice(0, ID_CHARS)} ${seq}`;
  if (proven.ok && isDecisionOf(by, proven.kept) && proven.kept.link.startsWith(link)) {
    if (row.entry !== seq)
      integrity.found({ id: `receipt ${id}`, words: wrongRow(row.entry, seq), run: null });
    return ok({ receipt: { ...row, kind: "receipt", entry: seq, to: by.user }, decided: proven.kept });
  }
  if (!isReceipt(row) || row.to !== by.user) return err("unknown");
  log.error(
    { ...by, entry: seq },
    "a person disputes a decision in their name that the audit does not prove",
  );
  if (await isArchived(store, seq)) return err("gone");
  integrity.found({ id: `report ${id}`, words: reportWords(by, seq), run: null });
  return err("unproven");
}

const isDecisionOf = ({ user }: PersonId, { entry }: KeptEntry): boolean =>
  (entry.what === "decided" || entry.what === "voted" || isUndo(entry)) && entry.by?.user === user;

/** The id of a receipt is the value of its button, so a finding has only its digest. */
const ID_CHARS = 16;

const wrongRow = (named: number, shown: number): string =>
  `a stored receipt was changed outside Countersign: it names audit entry ${named}, but its message shows entry ${shown}`;

const reportWords = ({ user }: PersonId, seq: number): string =>
  `${user} pressed "This was not me" on a receipt, but audit entry ${seq} is missing or does not prove their decision. End this person's Slack sessions`;

/** Returns whether the entry is in an archive file, so that it is no finding that the database lacks it. */
async function isArchived(store: DisputeDeps["store"], seq: number): Promise<boolean> {
  if ((await store.auditProof(seq)) !== null) return false;
  const { rows } = await readAfter(store, BEGINNING, ["archived"]);
  return rows.some(
    (row) =>
      row.type === "unreadable" || (row.type === "proven" && (row.kept.entry.archive?.seq ?? 0) >= seq),
  );
}

/** Never rejects, because the dispute is already written. `at` is null if the decision was disputed before. */
async function receiptOf(
  deps: NotificationDeps,
  by: PersonId,
  { receipt, decided }: OwnDecision,
  at: number | null,
): Promise<Pick<Disputed, "reportedAt" | "receipt" | "facts" | "reach" | "together">> {
  const { store, log } = deps;
  try {
    const facts = await factsOf(deps, receipt);
    const reportedAt = at ?? (await store.disputedAt(reportOf(by, decided)));
    const reach = await reachOf(store, decided);
    return { reportedAt, receipt, facts, reach, together: await sharedWith(deps, by, receipt) };
  } catch (error) {
    log.warn(
      { entry: decided.seq, error },
      "a disputed receipt keeps its button; pressing it again reports nothing new",
    );
    return { reportedAt: at, receipt, facts: null, reach: "maybe", together: [] };
  }
}

/**
 * Resolves to no receipts if one of them cannot be drawn, or if two rows name one decision, because the button of each must stay: rows are
 * not sealed.
 */
async function sharedWith(
  deps: NotificationDeps,
  by: PersonId,
  pressed: Notification,
): Promise<readonly SharedReceipt[]> {
  const { store } = deps;
  const { post, to } = pressed;
  if (post.type !== "up" || post.shows !== SEVERAL_RECEIPTS) return [];
  const stored = await store.notificationsIn(to, post.ts);
  const receipts = stored
    .map((each) => (each.id === pressed.id ? pressed : each))
    .toSorted((a, b) => a.entry - b.entry);
  if (new Set(receipts.map(({ entry }) => entry)).size < receipts.length) return [];
  const drawn: SharedReceipt[] = [];
  for (const receipt of receipts) {
    const facts = await factsOf(deps, receipt);
    if (facts === null) return [];
    const reportedAt = await store.disputedAt(reportOf(by, facts.entry));
    drawn.push(reportedAt === null ? { receipt, facts } : { receipt, facts, reportedAt });
  }
  return drawn;
}

const reportOf = (by: PersonId, { seq, entry }: KeptEntry): Report => ({ ...entry, refers: seq, by });
