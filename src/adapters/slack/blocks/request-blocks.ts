// Draws a request as the service sent it, whole or as an overview if it is too long, and draws what changed between two requests.
// Everything from the service, including field names, is inside boxes. The words outside the boxes are ours.

import type { Block, RichTextBlock, RichTextPreformatted } from "@slack/types";
import type { Approval, Request } from "../../../domain/approval.ts";
import type { Upload } from "../../../domain/posted-message.ts";
import { requestFileState } from "../../../domain/render-key.ts";
import { requestFileName } from "../../../domain/request-file.ts";
import { contextBehind, contextParts, drawnContext } from "../../../domain/run-context.ts";
import type { Json } from "../../../domain/json.ts";
import type { Run } from "../../../domain/run.ts";
import { type Ends, type Excerpt, from } from "../../../domain/text/excerpt.ts";
import { fieldChanges, samePrefix, type TextChange } from "../../../domain/text/request-changes.ts";
import {
  CONTEXT_ROOM,
  type FieldLayout,
  fieldLayout,
  requestLayout,
  type Room,
  type ShownText,
} from "../../../domain/text/request-layout.ts";
import {
  CARD_HOLDS_CHARS,
  type Field,
  fieldsOf,
  fieldsText,
  needsFile,
  requestParts,
  requestText,
  secretsIn,
  shortName,
} from "../../../domain/text/request-text.ts";
import type { Drawing } from "../../../domain/text/secrets.ts";
import { clip, clipCounted, countedChars } from "../../../domain/text/text.ts";
import { boxes, count, drawnBoxes, line, rich, span } from "./rich.ts";

export const NO_ACTION = "The service did not say what the action is. It sent only what is shown below.";

/** A line break takes as much room on a screen as this many characters. */
const LINE_CHARS = 30;
const SHORT_CHARS = 200;
/** If there are more long fields than this, they share boxes, because every element uses some of a view's 250 kB. */
const FIELDS_APART = 40;

/** The action, the short fields, then the long ones. Nothing is left out. */
export function wholeRequest(request: Request, as: Drawing): RichTextBlock {
  const { action, fields } = requestParts(request, as);
  const head = action === null ? [line(span(NO_ACTION, { italic: true }))] : drawnBoxes(action);
  return rich(...head, ...fieldBoxes(fields), ...volatileRemark(request));
}

const MAY_CHANGE =
  "These fields may change without notice. They are shown as first seen, and are not part of what is decided:";

/** Names the volatile fields of a request or a run. Returns nothing if there are none. */
export function volatileRemark({ volatile = [] }: { readonly volatile?: readonly string[] }): Part[] {
  return volatile.length === 0
    ? []
    : [line(span(MAY_CHANGE, { italic: true })), ...boxes(volatile.join(", "))];
}

/** The short fields in one box, then each long field in its own box, unless there are too many long fields. */
export function fieldBoxes(fields: readonly Field[]): RichTextPreformatted[] {
  const short = fields.filter(isShort);
  const long = fields.filter((field) => !isShort(field));
  const apart =
    long.length > FIELDS_APART
      ? drawnBoxes(fieldsText(long.map(({ name, text }) => ({ name, text: indented(text) }))))
      : long.flatMap(ownBoxes);
  return [...(short.length === 0 ? [] : drawnBoxes(fieldsText(short))), ...apart];
}

const isShort = ({ text }: Field): boolean => !text.includes("\n") && text.length <= SHORT_CHARS;
const ownBoxes = (field: Field) => drawnBoxes(fieldsText([field]));
/** Indents a value, so that in a shared box none of its lines can look like a field or a change. */
export const indented = (value: string): string => value.replaceAll("\n", "\n\t");

export function fitsCard(request: Request): boolean {
  if (request.chars > CARD_HOLDS_CHARS) return false;
  return roomOf(requestText(request, "masked")) <= CARD_HOLDS_CHARS;
}

/** Returns how much of a screen a text takes up, in characters. */
export function roomOf(text: string): number {
  return countedChars(text) + LINE_CHARS * (text.split("\n").length - 1);
}

export function fitsModal(request: Request): boolean {
  return !needsFile(request);
}

export const WHO_SEES_MASKED = "People who may decide see the full text after Approve or Deny.";

/** Says how many secrets are masked and where to see them. Returns no block if there are none. */
export function maskedRemark(secrets: number, where: string): RichTextBlock[] {
  if (secrets === 0) return [];
  const what = secrets === 1 ? "1 secret is masked here." : `${count(secrets)} secrets are masked here.`;
  return [rich(line(span(`🔒 ${what} ${where}`.trim())))];
}

export function secretsInWhole(request: Request): number {
  return secretsIn(request).length;
}

/** Lists what the attached file masks, for people who may decide. */
export function maskedInFile(upload: Upload | undefined): RichTextBlock[] {
  const secrets = upload !== undefined && "masked" in upload ? upload.masked : [];
  if (secrets.length === 0) return [];
  const head = "Masked in the file, in the order of its fields:";
  return [rich(line(span(head, { bold: true })), ...boxes(secrets.join("\n")))];
}

// An overview of a request that is too long to show whole, or of the run's own fields. It shows every field if possible: first the short
// fields in full, then the beginning and the end of the long ones. It counts what it leaves out.

type Part = ReturnType<typeof drawnBoxes>[number] | ReturnType<typeof line>;

type Overview = {
  readonly block: RichTextBlock;
  /** The number of secrets that are masked in the block. */
  readonly secrets: number;
};

/** `where` is the sentence that says where to find the whole request. */
export function requestOverview(request: Request, room: Room, where: string, as: Drawing): Overview {
  const layout = requestLayout(request, room, as);
  const { action } = layout;
  const head = request.action === null ? [line(span(NO_ACTION, { italic: true }))] : boxed("", action);
  const rest = partsOf(layout, request, where);
  const secrets = as === "open" ? 0 : action.secrets + secretsOf(layout);
  return { block: rich(...head, ...rest), secrets };
}

const secretsOf = ({ shown }: FieldLayout): number => shown.reduce((sum, { secrets }) => sum + secrets, 0);

function partsOf(layout: FieldLayout, sent: Parameters<typeof volatileRemark>[0], where: string): Part[] {
  return [
    ...inlineFields(layout.shown),
    ...layout.shown.flatMap((field) => (field.inline ? [] : boxed(`${field.name}:\n`, field))),
    ...volatileRemark(sent),
    ...names(layout),
    missing(layout, where),
  ];
}

function boxed(label: string, { head: start, left, tail }: Ends): Part[] {
  const first = drawnBoxes(`${label}${start}`);
  if (left === 0) return first;
  const remark = `${count(left)} ${tail === "" ? "more characters" : "characters between these two parts"} are not shown here.`;
  return [...first, line(span(remark, { italic: true })), ...(tail === "" ? [] : drawnBoxes(tail))];
}

function inlineFields(shown: readonly ShownText[]): Part[] {
  const lines = shown.filter(({ inline }) => inline).map((field) => `${field.name}: ${oneLineOf(field)}`);
  return lines.length === 0 ? [] : drawnBoxes(lines.join("\n"));
}

function oneLineOf({ head, left, tail }: Ends): string {
  if (left === 0) return head;
  return tail === "" ? `${head}… (${count(left)} more)` : `${head}… (${count(left)} more) …${tail}`;
}

function names({ named }: FieldLayout): Part[] {
  if (named.length === 0) return [];
  const says = "The values of these fields are not shown here:";
  return [line(span(says, { bold: true })), ...drawnBoxes(named.join(", "))];
}

function missing({ hidden, leftOut }: FieldLayout, where: string): Part {
  const fields =
    leftOut === 0
      ? ""
      : `${count(leftOut)} more ${leftOut === 1 ? "field is" : "fields are"} not shown here. `;
  const chars = hidden === 0 ? "" : `In all, ${count(hidden)} characters are not shown here. `;
  return line(span(`${fields}${chars}${where}`, { bold: true }));
}

/** The service may ask for the same thing again under the same id. Only the newest such approval can be open. */
export function approvalOf(run: Run, { digest }: Request): Approval | undefined {
  return run.approvals.findLast(({ request }) => request.digest === digest);
}

/** Like `requestFileState`. A request that the run no longer has is shown only if its file was there. */
export function shownFileState(run: Run, request: Request): ReturnType<typeof requestFileState> {
  const approval = approvalOf(run, request);
  return approval === undefined ? "there" : requestFileState(run, approval);
}

// The run's own fields, as the service sent them. They are the context for deciding a request.

/** Returns no block if the service says nothing about the run beyond its state. */
export function runDetails(run: Run, request: Request, as: Drawing): Block[] {
  const context = contextBehind(run.context, request);
  if (context === null) return [];
  const title = line(span("The run, as the service describes it:", { bold: true }));
  if (!needsFile(request))
    return [rich(title, ...fieldBoxes(drawnContext(context, as)), ...volatileRemark(context))];
  const isInFile = shownFileState(run, request) === "there";
  const where = isInFile
    ? `The file ${requestFileName(request)} in the run's thread has them.`
    : "The service has them.";
  const layout = fieldLayout(contextParts(context), CONTEXT_ROOM, as);
  return [rich(title, ...partsOf(layout, context, where))];
}

// What changed between two requests, field by field, and in a small record member by member, as on the card. Of a long text, only the part
// around what changed is shown.

const ALL_CHARS = 5_000;
/** The characters of a long text that are shown before and after what changed. */
const AROUND_CHARS = 80;
/** The least room for each text (characters). */
const CHANGE_CHARS = 300;
/** The room for the name of a field and the marks around its text (characters). */
const LABEL_CHARS = 80;

const SAME_TEXT =
  "Each field reads as before. The service may have sent a value in another form, such as a number as text, or the policy now lets other fields change without notice.";

export function difference(run: Run, was: Request | null, is: Request): Block[] {
  if (was === null) return [];
  const before = valuesOf(run, was);
  const after = valuesOf(run, is);
  const changed = [...new Map([...before, ...after])].flatMap(([key, { name, of }]) =>
    fieldChanges(name, before.get(key)?.value, after.get(key)?.value).map((change): TextChange => ({
      ...change,
      name: `${of}${change.name}`,
    })),
  );
  if (changed.length === 0) return [rich(line(span("What changed: ", { bold: true }), span(SAME_TEXT)))];
  const room = Math.max(CHANGE_CHARS, Math.floor(ALL_CHARS / (2 * changed.length)) - LABEL_CHARS);
  const lines = changed.flatMap((change) => changeLines(change, room));
  const { shown, hidden } = clipCounted(lines.join("\n"), ALL_CHARS);
  const more = hidden === 0 ? "" : " Not all of it is shown here.";
  return [rich(line(span(`What changed:${more}`, { bold: true })), ...drawnBoxes(shown))];
}

/** `of` comes before the name of a field of the run. */
type Sent = { readonly of: "" | "run: "; readonly name: string; readonly value: Json };

/** The keys differ even if a field of the request is named like one of its run. */
function valuesOf(run: Run, request: Request): ReadonlyMap<string, Sent> {
  const { action } = request;
  const fields = Object.entries(fieldsOf(request));
  const context = contextBehind(run.context, request);
  const around = context === null ? [] : Object.entries(fieldsOf({ action: null, content: context.fields }));
  return new Map<string, Sent>([
    ...(action === null ? [] : [["action", { of: "", name: "action", value: action }] as const]),
    ...fields.map(([name, value]) => [`field ${name}`, { of: "", name, value }] as const),
    ...around.map(([name, value]) => [`run ${name}`, { of: "run: ", name, value }] as const),
  ]);
}

function changeLines({ name, was, is }: TextChange, room: number): readonly string[] {
  const start = Math.max(0, samePrefix(was ?? "", is ?? "") - AROUND_CHARS);
  const old = from(was ?? "", start, room, "open");
  const now = from(is ?? "", start, room, "open");
  const isWhole = was !== null && is !== null && old.hidden + now.hidden === 0;
  const same = isWhole ? Math.max(0, sameSuffix(old.text, now.text) - AROUND_CHARS) : 0;
  const place = (mark: string, { text, hidden }: Excerpt): string => {
    const { shown } = clip(text, text.length - same);
    const end = hidden > 0 ? `… (${count(hidden)} more)` : same > 0 ? "…" : "";
    return `${mark} ${shortName(name, "open")}: ${start === 0 ? "" : "…"}${indented(shown)}${end}`;
  };
  return [...(was === null ? [] : [place("−", old)]), ...(is === null ? [] : [place("+", now)])];
}

/** Returns the length of the common end (characters). */
function sameSuffix(a: string, b: string): number {
  let chars = 0;
  while (chars < Math.min(a.length, b.length) && a.at(-1 - chars) === b.at(-1 - chars)) chars += 1;
  return chars;
}
