// Reads the items of `pending_approvals`: full records, parts of them, records in records, or bare ids. An unreadable item is reported
// and never counts as absent: that would close an approval that someone waits for.

import { ApprovalId, MAX_SERVICE_ID_CHARS } from "../../domain/ids.ts";
import { isList, isRecord, type Json, numberText } from "../../domain/json.ts";
import { MAX_TOLD, type PendingApproval, type Snapshot, type UnreadableItem } from "../../domain/snapshot.ts";
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
/** The first of these fields that holds an id counts. */
const ID_NAMES = ["id", "approval_id", "approvalId"];
/** Names under which an item holds its record. */
const RECORD_NAMES = ["approval", "request", "item", "data"];
/** How many characters of an unreadable item we keep. */
const SOURCE_CHARS = 2_000;

type JsonRecord = { readonly [name: string]: Json };
type Unread = Omit<UnreadableItem, "source" | "hidden"> & { readonly text: () => string };
type Item = PendingApproval | Unread | null;

/** `now`: wall time. */
export function readPending(items: readonly Listed[], now: number): Pick<Snapshot, "pending" | "unreadable"> {
  const read = capped(items.flatMap(flat)).map((item) => itemOf(item, now));
  const unreadable = sourcesOf(read.filter((item) => item !== null && "ids" in item));
  const spoiled = new Set(unreadable.flatMap(({ ids }) => ids));
  const byId = new Map<string, PendingApproval[]>();
  for (const item of read) {
    if (item === null || "ids" in item) continue;
    const same = byId.get(item.id);
    if (same === undefined) byId.set(item.id, [item]);
    else same.push(item);
  }
  const readable = [...byId.entries()].filter(([id]) => !spoiled.has(ApprovalId(id)));
  return { pending: readable.flatMap(([, same]) => merged(same)), unreadable };
}

/** Without the lists around items. */
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

type Told = { readonly name: string | null; readonly value: JsonRecord; readonly text: () => string };

/** Null: it is resolved. */
function recordItem({ name, value, text }: Told, now: number): Item {
  const record = recordIn(value);
  if (isResolved(record, now)) return null;
  const given = idIn(record) ?? idIn(value) ?? name;
  const id = serviceId(given);
  if (id === null) return { ids: [], ...idFault(given), text };
  const { requested_at } = record;
  return {
    id: ApprovalId(id),
    action: actionOf(record),
    requestedAt: typeof requested_at === "string" ? requested_at : null,
    content: value,
  };
}

const actionOf = ({ action }: JsonRecord): string | null =>
  typeof action === "string" && action !== "" ? action : null;

/** A text instead of a record: the id alone or, in a record by id, the action. */
function bareItem(name: string | null, value: Json, text: () => string): Item {
  if (value === null) return null;
  // A 0 in the place of an id is rather nothing than an id.
  const id = name === null && numberText(value) === "0" ? null : serviceId(name ?? value);
  if (name !== null && (value === "" || value === false || value === 0)) return null;
  if (id === null) return { ids: [], ...idFault(name ?? value), text };
  if (name === null) return { id: ApprovalId(id), action: null, requestedAt: null, content: value };
  if (typeof value !== "string") return { ids: [ApprovalId(id)], ...NO_RECORD, text };
  return { id: ApprovalId(id), action: value, requestedAt: null, content: { [name]: value } };
}

const NO_RECORD = { code: "no-record", why: "it is not a record" };

/** For a value that stands where the list should be. */
export function oddList(text: string): UnreadableItem {
  const why = "the list of approvals is neither a list nor a record";
  return withSource({ ids: [], code: "odd-list", why, text: () => text });
}

/** The id of a listed approval, whichever form the item has; null where none is found. */
export function approvalIdIn(item: Json): string | null {
  return serviceId(isRecord(item) ? idIn(recordIn(item)) : item);
}

/** The record of an approval inside another, or the value itself. */
export function recordIn(value: JsonRecord): JsonRecord {
  if (idIn(value) !== null) return value;
  const inner = RECORD_NAMES.map((name) => value[name]).find((each) => each !== undefined && isRecord(each));
  return inner !== undefined && isRecord(inner) ? inner : value;
}

function idIn(record: JsonRecord): Json {
  return ID_NAMES.map((name) => record[name] ?? null).find((id) => id !== null) ?? null;
}

function idFault(id: Json): { code: string; why: string } {
  if (id === null) return { code: "no-id", why: "it has no id" };
  return { code: "odd-id", why: "its id cannot stand in an address of the service" };
}

/**
 * In doubt an approval is pending, so we lose none because of a word or a time that we do not understand. A known word decides; a
 * time decides only if there is no word.
 */
function isResolved({ status = null, resolved_at = null }: JsonRecord, now: number): boolean {
  const word = typeof status === "string" ? status.trim().toLowerCase() : status;
  if (typeof word === "string" && word !== "") return RESOLVED.has(word);
  const noWord = word === null || word === "" || word === false || numberText(word) === "0";
  return noWord && isPast(resolved_at, now);
}

/** How far the service's clock may be ahead of ours. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;
/** Smaller numbers are seconds since 1970: as milliseconds they would all lie before March 1973. */
const MIN_MS = 100_000_000_000;

/** After the start of 1970, so neither zero nor a language's zero time (`0001-01-01T00:00:00Z`), and not in the future. */
function isPast(value: Json, now: number): boolean {
  const time = timeOf(value);
  return time > 0 && time <= now + MAX_CLOCK_SKEW_MS;
}

/** Milliseconds since 1970. NaN: not a time. */
function timeOf(value: Json): number {
  const digits = numberText(value);
  if (digits === null) return typeof value === "string" ? Date.parse(value) : NaN;
  const time = Number(digits);
  return time < MIN_MS ? time * 1_000 : time;
}

/** Every id that some parser would find in it. */
function idsIn(text: string): ApprovalId[] {
  const names = piecesOf({ text, bytes: false }) ?? [];
  const ids = names.flatMap(({ name, source }) => {
    if (RECORD_NAMES.includes(name ?? "")) return idsIn(source.text);
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

/** Only of what is told: to write out every item takes long. */
function sourcesOf(unread: readonly Unread[]): UnreadableItem[] {
  return unread.map((each, at) => withSource(at < MAX_TOLD ? each : { ...each, text: () => "" }));
}

function withSource({ text, ...item }: Unread): UnreadableItem {
  const { shown, hidden } = clip(text(), SOURCE_CHARS);
  return { ...item, source: shown.toWellFormed(), hidden };
}

/** One id is one approval: its approver sees every item with that id. */
function merged(same: readonly PendingApproval[]): PendingApproval[] {
  const [first, ...others] = same;
  if (first === undefined || others.length === 0) return first === undefined ? [] : [first];
  const actions = new Set(same.flatMap(({ action }) => (action === null ? [] : [action])));
  return [
    {
      ...first,
      action: actions.size === 0 ? null : [...actions].join("\n"),
      content: same.map(({ content }) => content),
    },
  ];
}

/** The action of an approval whose content was kept as this, read as it was when the service sent it. `id`: the service's. */
export function actionIn(content: Json, id: string): string | null {
  if (isList(content)) {
    const actions = new Set(content.flatMap((each) => actionIn(each, id) ?? []));
    return actions.size === 0 ? null : [...actions].join("\n");
  }
  if (!isRecord(content)) return null;
  const record = recordIn(content);
  const bare = idIn(record) === null && Object.hasOwn(content, id) ? content[id] : undefined;
  return actionOf(bare === undefined ? record : { action: bare });
}

// The ids of runs and approvals, which become part of addresses.

/** The id as text; of a whole number the digits as they were sent. Null: it cannot be part of an address. */
export function serviceId(value: unknown): string | null {
  const digits = numberText(value as Json);
  const id = digits !== null && /^-?\d+$/.test(digits) ? digits : value;
  return typeof id === "string" && fitsAddress(id) ? id : null;
}

/**
 * Nearly any text can be an id. "." and ".." cannot: most servers read another path from them, however they are encoded. Nor can a
 * text with a lone surrogate, which has no encoding.
 */
export function fitsAddress(id: string): boolean {
  return id.length > 0 && id.length <= MAX_SERVICE_ID_CHARS && id !== "." && id !== ".." && id.isWellFormed();
}
