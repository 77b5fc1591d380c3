// Reads the items of `pending_approvals`: full or partial records, records in records, or bare ids. An unreadable item is reported and never
// counts as absent, because that would close an approval that someone waits for.

import { ApprovalId, MAX_SERVICE_ID_CHARS } from "../../domain/ids.ts";
import {
  canonicalJson,
  isList,
  isRecord,
  type Json,
  type JsonRecord,
  numberText,
} from "../../domain/json.ts";
import { actionIn, ID_NAMES, idIn, RECORD_NAMES, recordIn } from "../../domain/listed-item.ts";
import {
  MAX_UNREADABLE_SHOWN,
  type PendingApproval,
  type ResolvedItem,
  type Snapshot,
  type UnreadableItem,
} from "../../domain/snapshot.ts";
import { clip } from "../../domain/text/text.ts";
import { capped, faultWords, type Listed, piecesOf } from "./json-body.ts";

/** Statuses of an approval that is no longer pending. Any other word counts as pending. */
const RESOLVED = new Set([
  "approved",
  "denied",
  "rejected",
  "declined",
  "expired",
  "canceled",
  "cancelled",
  "withdrawn",
  "resolved",
  "completed",
]);
/** The number of characters of an unreadable item that we keep. */
const SOURCE_CHARS = 2_000;

type Unread = Omit<UnreadableItem, "source" | "hidden"> & { readonly text: () => string };
type Item = PendingApproval | ResolvedItem | Unread | null;

type ReadItems = Pick<Snapshot, "pending" | "unreadable" | "resolved">;

/** `now` is wall time. */
export function readPending(items: readonly Listed[], now: number): ReadItems {
  const read = capped(items.flatMap(flat)).map((item) => itemOf(item, now));
  const unreadable = sourcesOf(read.filter((item) => item !== null && "ids" in item));
  const spoiled = new Set(unreadable.flatMap(({ ids }) => ids));
  const byId = new Map<string, PendingApproval[]>();
  for (const item of read) {
    if (item === null || "ids" in item || "said" in item) continue;
    const same = byId.get(item.id);
    if (same === undefined) byId.set(item.id, [item]);
    else same.push(item);
  }
  const readable = [...byId.entries()].filter(([id]) => !spoiled.has(ApprovalId(id)));
  const resolved = read.filter((item) => item !== null && "said" in item);
  return {
    pending: readable.flatMap(([, same]) => merged(same)),
    unreadable,
    ...(resolved.length === 0 ? {} : { resolved }),
  };
}

/** Removes lists around items. */
function flat(listed: Listed): Listed[] {
  const { read } = listed;
  if (!read.ok || !isList(read.value)) return [listed];
  return read.value.flatMap((value) =>
    flat({ name: null, read: { ok: true, value }, text: () => JSON.stringify(value, null, 2) }),
  );
}

function itemOf({ name, read, text }: Listed, now: number): Item {
  if (!read.ok) {
    const fault = { code: read.error.type, why: faultWords(read.error) };
    const ids = idsIn(text());
    return read.error.type === "too-many-items"
      ? { ...fault, ids, text, count: read.error.count }
      : { ...fault, ids, text };
  }
  const { value } = read;
  return isRecord(value) ? recordItem({ name, value, text }, now) : bareItem(name, value, text);
}

type ListedRecord = { readonly name: string | null; readonly value: JsonRecord; readonly text: () => string };

/** Returns null if the approval is resolved, and no word says how. */
function recordItem({ name, value, text }: ListedRecord, now: number): Item {
  const record = recordIn(value);
  const given = idIn(record) ?? idIn(value) ?? name;
  const id = serviceId(given);
  if (isResolved(record, now)) {
    const said = wordOf(record);
    return id === null || said === "" ? null : { id: ApprovalId(id), said };
  }
  if (id === null) return { ids: [], ...idFault(given), text };
  const { requested_at } = record;
  return pendingApproval(id, typeof requested_at === "string" ? requested_at : null, value);
}

const pendingApproval = (id: string, requestedAt: string | null, content: Json): PendingApproval => ({
  id: ApprovalId(id),
  action: actionIn(content, id),
  requestedAt,
  content,
});

/** A text instead of a record: the id alone or, in a record by id, the action. */
function bareItem(name: string | null, value: Json, text: () => string): Item {
  if (value === null) return null;
  // A 0 in the place of an id more likely means "no id".
  const id = name === null && numberText(value) === "0" ? null : serviceId(name ?? value);
  if (name !== null && (value === "" || value === false || value === 0)) return null;
  if (id === null) return { ids: [], ...idFault(name ?? value), text };
  if (name === null) return pendingApproval(id, null, value);
  if (typeof value !== "string") return { ids: [ApprovalId(id)], ...NO_RECORD, text };
  return pendingApproval(id, null, { [name]: value });
}

const NO_RECORD = { code: "no-record", why: "it is not a record" };

/** Returns the unreadable item for a value in the place of the list. */
export function oddList(text: string): UnreadableItem {
  const why = "the list of approvals is neither a list nor a record";
  return withSource({ ids: [], code: "odd-list", why, text: () => text });
}

/** Returns the id of a listed approval in any of its forms, or null if it has none. */
export function approvalIdIn(item: Json): string | null {
  return serviceId(isRecord(item) ? idIn(recordIn(item)) : item);
}

function idFault(id: Json): { code: string; why: string } {
  if (id === null) return { code: "no-id", why: "it has no id" };
  return { code: "odd-id", why: "its id cannot be part of an address of the service" };
}

/**
 * In doubt an approval counts as pending, so that we lose none because of a word or time that we do not understand. A known word decides. A
 * time decides only if there is no word.
 */
function isResolved(record: JsonRecord, now: number): boolean {
  const { status = null, resolved_at = null } = record;
  const word = wordOf(record);
  if (word !== "") return RESOLVED.has(word);
  const noWord =
    status === null || typeof status === "string" || status === false || numberText(status) === "0";
  return noWord && isPast(resolved_at, now);
}

const wordOf = ({ status = null }: JsonRecord): string =>
  typeof status === "string" ? status.trim().toLowerCase() : "";

/** How far the service's clock may be ahead of ours. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;
/** Smaller numbers are seconds since 1970: as milliseconds they would all lie before March 1973. */
const MIN_MS = 100_000_000_000;

/** After the start of 1970, so neither zero nor a language's zero time (`0001-01-01T00:00:00Z`), and not in the future. */
function isPast(value: Json, now: number): boolean {
  const time = timeOf(value);
  return time > 0 && time <= now + MAX_CLOCK_SKEW_MS;
}

/** ISO 8601 (docs/agent-service.md). `Date.parse` also takes "pending 2" for a time. */
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/i;

/** Milliseconds since 1970. NaN: not a time. */
export function timeOf(value: Json): number {
  const digits = numberText(value);
  if (digits === null) return typeof value === "string" && ISO_TIME.test(value) ? Date.parse(value) : NaN;
  const time = Number(digits);
  return time < MIN_MS ? time * 1_000 : time;
}

/**
 * How many records inside one another are searched for ids: one more than `recordIn` reads. Each takes a pass over its text, and an item may
 * hold thousands.
 */
const MAX_SEARCHED = 3;

/** Returns every id that some parser would find in the text, except deeper ones. */
function idsIn(text: string, searched = 1): ApprovalId[] {
  if (searched > MAX_SEARCHED) return [];
  const names = piecesOf({ text, bytes: false }) ?? [];
  const ids = names.flatMap(({ name, source }) => {
    if (RECORD_NAMES.includes(name ?? "")) return idsIn(source.text, searched + 1);
    return ID_NAMES.includes(name ?? "") ? (idOf(source.text) ?? []) : [];
  });
  return [...new Set(ids)];
}

function idOf(source: string): ApprovalId | null {
  try {
    const id = serviceId(JSON.parse(source));
    return id === null ? null : ApprovalId(id);
  } catch {
    return null;
  }
}

/**
 * Puts the items in an order that does not depend on the order of the list. Writes out only the items that are reported, because writing
 * out every item takes long.
 */
function sourcesOf(unread: readonly Unread[]): UnreadableItem[] {
  return inOrder(unread, ({ ids, why }) => JSON.stringify([ids, why])).map((each, at) =>
    withSource(at < MAX_UNREADABLE_SHOWN ? each : { ...each, text: () => "" }),
  );
}

function withSource({ text, ...item }: Unread): UnreadableItem {
  const { shown, hidden } = clip(text(), SOURCE_CHARS);
  return { ...item, source: shown.toWellFormed(), hidden };
}

/**
 * Merges items with the same id into one approval, whose approver sees all of them. The service may list them in another order at each
 * answer, and one of them more than once; neither changes the request.
 */
function merged(same: readonly PendingApproval[]): readonly PendingApproval[] {
  if (same.length === 1) return same;
  const byText = new Map(same.map((each) => [canonicalJson(each.content), each]));
  const different = inOrder([...byText], ([text]) => text).map(([, each]) => each);
  const [first, ...others] = different;
  if (first === undefined || others.length === 0) return different;
  const content = different.map((each) => each.content);
  return [pendingApproval(first.id, first.requestedAt, content)];
}

const inOrder = <T>(items: readonly T[], key: (item: T) => string): T[] =>
  items
    .map((item) => ({ item, by: key(item) }))
    .sort((a, b) => (a.by < b.by ? -1 : Number(a.by > b.by)))
    .map(({ item }) => item);

// The ids of runs and approvals, which become part of addresses.

/** Returns the id as text (the digits as sent, if it is a whole number), or null if it cannot be part of an address. */
export function serviceId(value: unknown): string | null {
  const digits = numberText(value as Json);
  const id = digits !== null && /^-?\d+$/.test(digits) ? digits : value;
  return typeof id === "string" && fitsAddress(id) ? id : null;
}

/**
 * Almost any text can be an id, except "." and "..", which most servers resolve to another path even if encoded, and a text with a lone
 * surrogate, which has no encoding.
 */
export function fitsAddress(id: string): boolean {
  return id.length > 0 && id.length <= MAX_SERVICE_ID_CHARS && id !== "." && id !== ".." && id.isWellFormed();
}
