// What changed between two requests: for the card, each field that differs, at the place of its first change; for the window, more of it.

import type { Approval, FieldChange, Request } from "../approval.ts";
import { isSameJson, type Json } from "../json.ts";
import { from } from "./excerpt.ts";
import { flattened } from "./card-layout.ts";
import { fieldsOf, needsFile, shortName, writtenValue } from "./request-text.ts";
import { groupDigits } from "./secrets.ts";

/** The most fields whose texts are kept. The others are counted. */
const MAX_FIELDS = 5;
/** How much of each text is kept (characters). */
const PART_CHARS = 160;
/** How much is kept of the text before the change (characters). */
const BEFORE_CHARS = 40;

export type Changes = Required<Pick<Approval, "changes" | "moreChanges">>;

/**
 * Returns at most five changed fields, in the order of the earlier request, with new fields last, and the number of the others. Returns
 * none for a request that needs a file, because comparing megabytes at each poll would delay everything else. Its form shows what changed.
 */
export function requestChanges(was: Request, is: Request): Changes {
  if (needsFile(was) || needsFile(is)) return { changes: [], moreChanges: 0 };
  const before = textsOf(was);
  const after = textsOf(is);
  const changes: FieldChange[] = [];
  let moreChanges = 0;
  for (const [path, { name }] of new Map([...before, ...after])) {
    const old = before.get(path)?.text ?? null;
    const now = after.get(path)?.text ?? null;
    if (old === now) continue;
    if (changes.length === MAX_FIELDS) {
      moreChanges += 1;
      continue;
    }
    const isShort = [old, now].every((text) => (text ?? "").length <= PART_CHARS);
    const start = isShort ? 0 : Math.max(0, samePrefix(old ?? "", now ?? "") - BEFORE_CHARS);
    const part = (text: string | null): string | null => (text === null ? null : partOf(text, start));
    changes.push({ name: shortName(name, "masked"), was: part(old), is: part(now) });
  }
  return { changes, moreChanges };
}

/** The key is unique in the request, unlike the name: a field may be named `a.b`. */
function textsOf(request: Request): ReadonlyMap<string, { readonly name: string; readonly text: string }> {
  const { action } = request;
  return new Map([
    ...(action === null ? [] : [["", { name: "action", text: action }] as const]),
    ...flattened(fieldsOf(request)).map(
      ({ path, names, value }) => [path, { name: names.join("."), text: writtenValue(value) }] as const,
    ),
  ]);
}

/** A text that differs, as sent. Null if it was not sent. */
export type TextChange = { readonly name: string; readonly was: string | null; readonly is: string | null };

/** Returns what changed in a field, as sent: in a small record only the members that differ. `undefined`: the field was not sent. */
export function fieldChanges(
  name: string,
  was: Json | undefined,
  is: Json | undefined,
): readonly TextChange[] {
  const whole = { name, was: sentText(was), is: sentText(is) };
  if (whole.was === whole.is) return [];
  const before = membersOf(name, was);
  const after = membersOf(name, is);
  if (before.size === 0 || after.size === 0) return [whole];
  const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
    (member) => !isSameMember(before.get(member), after.get(member)),
  );
  const changes = differing.map((member): TextChange => ({
    name: `${name}.${member}`,
    was: sentText(before.get(member)),
    is: sentText(after.get(member)),
  }));
  // A member may read as before although it differs, such as a number that became a text. Only the whole record shows that.
  return changes.length === 0 || changes.some((change) => change.was === change.is) ? [whole] : changes;
}

const sentText = (value: Json | undefined): string | null =>
  value === undefined ? null : writtenValue(value);

const isSameMember = (was: Json | undefined, is: Json | undefined): boolean =>
  was !== undefined && is !== undefined && isSameJson(was, is);

/** Returns no members if the card does not show the field member by member. */
function membersOf(name: string, value: Json | undefined): ReadonlyMap<string, Json> {
  const parts = value === undefined ? [] : flattened({ [name]: value });
  return new Map(
    parts.flatMap(({ names: [, member], value }) => (member === undefined ? [] : [[member, value]])),
  );
}

function partOf(text: string, start: number): string {
  const { text: part, hidden } = from(text, start, PART_CHARS, "masked");
  return `${start === 0 ? "" : "…"}${part}${hidden === 0 ? "" : `… (${groupDigits(hidden)} more)`}`;
}

/** Returns the length of the common prefix (characters). */
export function samePrefix(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}
