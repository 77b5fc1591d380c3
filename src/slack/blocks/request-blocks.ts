// A request as the service sent it: on the card as far as it fits, in the modal whole.

import type { RichTextBlock } from "@slack/types";
import type { Request } from "../../core/approval.ts";
import {
  CARD_HOLDS_CHARS,
  type Drawing,
  fieldsText,
  needsFile,
  requestParts,
  requestText,
  secretsIn,
} from "../../core/request-text.ts";
import { maskedByFile } from "../../core/request-file.ts";
import type { Run } from "../../core/run.ts";
import { contextBehind } from "../../core/run-context.ts";
import { clipCounted, countedChars } from "../../core/text.ts";
import { boxes, count, line, rich, words } from "./rich.ts";

const NO_ACTION = "The service did not say what the action is. It sent only what stands below.";

/** More fields than this are written one below the other in boxes: each element costs a view some of its 250 kB. */
const FIELDS_APART = 40;

/** The request in full: the action in a box, then each field under its name. Nothing of it is left out. */
export function wholeRequest(request: Request, as: Drawing): RichTextBlock {
  const { action, fields } = requestParts(request, as);
  const head = action === null ? [line(words(NO_ACTION, { italic: true }))] : boxes(action);
  if (fields.length > FIELDS_APART) return rich(...head, ...boxes(fieldsText(fields)));
  const rest = fields.flatMap(({ name, text }) => {
    const short = !text.includes("\n") && text.length <= 200 && text !== "";
    if (short) return [line(words(`${name}: `, { bold: true }), words(text, { code: true }))];
    return [line(words(name === "" ? "(no name)" : name, { bold: true })), ...boxes(text)];
  });
  return rich(...head, ...rest);
}

/** As people compare it: on the card, in the form, in the audit. */
export function shortDigest({ digest }: Request): string {
  return digest.slice(0, 12);
}

export function fitsCard(request: Request): boolean {
  if (request.chars > CARD_HOLDS_CHARS) return false;
  return countedChars(requestText(request, "masked")) <= CARD_HOLDS_CHARS;
}

export function fitsModal(request: Request): boolean {
  return !needsFile(request);
}

/** The first part, and in plain words how much is missing and where the whole stands. */
export function firstPart(request: Request, max: number, where: string, as: Drawing): RichTextBlock {
  const { shown, hidden } = clipCounted(requestText(request, as), max);
  const missing = `${count(hidden)} more characters are not shown here. ${where}`;
  return rich(...boxes(shown), ...(hidden === 0 ? [] : [line(words(missing, { bold: true }))]));
}

export const WHO_SEES_MASKED = "Whoever may decide sees them in the form behind Approve and Deny.";

/** That something is masked, and where it can be seen; nothing where nothing is. */
export function maskedRemark(request: Request, where: string): RichTextBlock[] {
  const many = secretsIn(request).length;
  if (many === 0) return [];
  const what = many === 1 ? "1 secret is masked here." : `${count(many)} secrets are masked here.`;
  return [rich(line(words(`🔒 ${what} ${where}`.trim())))];
}

/** What the attached file masks, for whoever decides. */
export function maskedInFile(run: Run, request: Request): RichTextBlock[] {
  if (fitsModal(request)) return [];
  const secrets = maskedByFile(request, contextBehind(run.context, request));
  if (secrets === null || secrets.length === 0) return [];
  const head = "Masked in the file, in its order of fields:";
  return [rich(line(words(head, { bold: true })), ...boxes(secrets.join("\n")))];
}
