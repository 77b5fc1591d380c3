// A request as the service sent it, whole. Everything of the service's stands inside boxes, names too: what stands outside is ours.

import type { RichTextBlock, RichTextPreformatted } from "@slack/types";
import type { Request } from "../../../domain/approval.ts";
import type { Upload } from "../../../domain/posted-message.ts";
import {
  CARD_HOLDS_CHARS,
  type Field,
  fieldsText,
  needsFile,
  requestParts,
  requestText,
  secretsIn,
} from "../../../domain/text/request-text.ts";
import type { Drawing } from "../../../domain/text/secrets.ts";
import { countedChars } from "../../../domain/text/text.ts";
import { boxes, count, drawnBoxes, line, rich, span } from "./rich.ts";

export const NO_ACTION = "The service did not say what the action is. It sent only what stands below.";

/** A line takes as much of a screen as so many characters. */
const LINE_CHARS = 30;
const SHORT_CHARS = 200;
/** More fields than this share boxes: each element costs a view some of its 250 kB. */
const FIELDS_APART = 40;

/** The request in full: the action, the short fields, then each long one in a box of its own. Nothing of it is left out. */
export function wholeRequest(request: Request, as: Drawing): RichTextBlock {
  const { action, fields } = requestParts(request, as);
  const head = action === null ? [line(span(NO_ACTION, { italic: true }))] : drawnBoxes(action);
  return rich(...head, ...fieldBoxes(fields));
}

/** Of fields that are drawn: the short ones together, then each long one. */
export function fieldBoxes(fields: readonly Field[]): RichTextPreformatted[] {
  const short = fields.filter(isShort);
  const long = fields.filter((each) => !isShort(each));
  const apart =
    long.length > FIELDS_APART ? drawnBoxes(fieldsText(long.map(indented))) : long.flatMap(ownBoxes);
  return [...(short.length === 0 ? [] : drawnBoxes(fieldsText(short))), ...apart];
}

const isShort = ({ text }: Field): boolean => !text.includes("\n") && text.length <= SHORT_CHARS;
const ownBoxes = (field: Field) => drawnBoxes(fieldsText([field]));
/** In a shared box a line of a value must not pass for a field. */
const indented = ({ name, text }: Field): Field => ({ name, text: text.replaceAll("\n", "\n\t") });

/** As people compare it: on the card, in the form, in the audit. */
export function shortDigest({ digest }: Request): string {
  return digest.slice(0, 12);
}

export function fitsCard(request: Request): boolean {
  if (request.chars > CARD_HOLDS_CHARS) return false;
  return roomOf(requestText(request, "masked")) <= CARD_HOLDS_CHARS;
}

/** How much of a screen a text takes (characters). */
export function roomOf(text: string): number {
  return countedChars(text) + LINE_CHARS * (text.split("\n").length - 1);
}

export function fitsModal(request: Request): boolean {
  return !needsFile(request);
}

export const WHO_SEES_MASKED = "Whoever may decide sees them in the form behind Approve and Deny.";

/** That something is masked, and where it can be seen; nothing where nothing is. */
export function maskedRemark(many: number, where: string): RichTextBlock[] {
  if (many === 0) return [];
  const what = many === 1 ? "1 secret is masked here." : `${count(many)} secrets are masked here.`;
  return [rich(line(span(`🔒 ${what} ${where}`.trim())))];
}

export function secretsInWhole(request: Request): number {
  return secretsIn(request).length;
}

/** What the attached file masks, for whoever decides. */
export function maskedInFile(upload: Upload | undefined): RichTextBlock[] {
  const secrets = upload !== undefined && "masked" in upload ? upload.masked : [];
  if (secrets.length === 0) return [];
  const head = "Masked in the file, in its order of fields:";
  return [rich(line(span(head, { bold: true })), ...boxes(secrets.join("\n")))];
}
