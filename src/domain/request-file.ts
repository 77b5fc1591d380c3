// A request as the file that is attached to its thread. It is produced in slices, so that the caller can do other work in between. Each
// slice is searched for secrets together with the text around it, so no secret is cut in two.

import type { Request, RunContext } from "./approval.ts";
import { CONTEXT_CHARS, outside } from "./text/excerpt.ts";
import type { Range } from "./text/own-secrets.ts";
import {
  type Drawing,
  fieldMasks,
  isSecretField,
  secretsUnder,
  type Mask,
  withMasks,
  masksIn,
} from "./text/secrets.ts";
import { type Field, nameText, NO_ACTION_TEXT, sentParts, volatileField } from "./text/request-text.ts";
import { contextParts } from "./run-context.ts";
import { visibleUnmasked } from "./text/text.ts";

export type Slice = {
  readonly text: string;
  /** The secrets that are masked in the slice. */
  readonly secrets: readonly string[];
};

/** The form can show this much of what the file masks (characters). */
export const MASKED_IN_FILE_CHARS = 15_000;
/** How much text is searched at once (characters). This takes a few milliseconds. */
export const SLICE_CHARS = 16_384;
/** How far before its end a slice may be cut at white space (characters). */
const SPACE_WITHIN_CHARS = 512;

/** The part of the digest that people compare: on the card, in the form, in the file and its name, in the audit. */
export const shortDigest = ({ digest }: Pick<Request, "digest">): string => digest.slice(0, 12);

/** Contains only our digest, so that no id of the service or the agent can pass for the name of another request's file. */
export const requestFileName = (request: Pick<Request, "digest">): string =>
  `request-${shortDigest(request)}.txt`;

const COMPARE = "Before you decide, check that the form names the same request.";

/** Yields the request and the run's own fields. */
export function* requestFile(request: Request, context: RunContext | null, as: Drawing): Generator<Slice> {
  yield trusted(`Request ${shortDigest(request)}\n${COMPARE}\n\n`);
  const { action, fields } = sentParts(request);
  if (action === null) yield trusted(NO_ACTION_TEXT);
  else yield* seenSlices(action, as);
  const remark = volatileField(request);
  if (fields.length > 0 || remark !== null) yield trusted("\n");
  yield* fieldSlices(fields, remark, as);
  if (context === null) return;
  yield trusted("\n\nThe run, as the service describes it:");
  yield* fieldSlices(contextParts(context), volatileField(context), as);
}

function* fieldSlices(fields: readonly Field[], remark: Field | null, as: Drawing): Generator<Slice> {
  for (const { name, text } of fields) {
    yield trusted(`\n${nameText(name, as)}:${text.includes("\n") ? "\n" : " "}`);
    if (as === "masked" && isSecretField(name, text)) {
      const masks = fieldMasks(name, text);
      yield { text: withMasks(text, masks), secrets: secretsUnder(text, masks) };
    } else yield* seenSlices(text, as);
  }
  if (remark !== null) yield trusted(`\n${remark.name}: ${remark.text}`);
}

/** A text of our own, or one that is drawn already. */
const trusted = (text: string): Slice => ({ text, secrets: [] });

function* seenSlices(text: string, as: Drawing): Generator<Slice> {
  for (const slice of slices(text, as)) yield { ...slice, text: visibleUnmasked(slice.text) };
}

/** Yields the text in slices, with its secrets masked. */
export function* slices(text: string, as: Drawing): Generator<Slice> {
  for (let at = 0; at < text.length;) {
    const { end, masks } = nextSlice(text, at, as);
    const part = text.slice(at, end);
    const inPart = masks.map(({ range: [from, to], own }): Mask => {
      return { range: [Math.max(from - at, 0), Math.min(to, end) - at], own };
    });
    yield { text: withMasks(part, inPart), secrets: secretsUnder(part, inPart) };
    at = end;
  }
}

function nextSlice(text: string, at: number, as: Drawing): { end: number; masks: readonly Mask[] } {
  const base = Math.max(0, at - CONTEXT_CHARS);
  const searched = Math.min(at + SLICE_CHARS + CONTEXT_CHARS, text.length);
  const masks = masksIn(text.slice(base, searched), as)
    .map(({ range: [from, to], own }): Mask => ({ range: [from + base, to + base], own }))
    .filter(({ range }) => range[1] > at);
  if (searched === text.length) return { end: text.length, masks };
  const end = outside(masks, text, spaceBefore(text, at + SLICE_CHARS));
  const inSlice = masks.filter(({ range }) => range[0] < end);
  const last = inSlice.at(-1);
  if (last === undefined || last.range[1] < searched) return { end, masks: inSlice };
  // The last secret may continue after the text that was searched.
  const to = endOfSecret(text, last.range);
  return { end: to, masks: [...inSlice.slice(0, -1), { ...last, range: [last.range[0], to] }] };
}

function spaceBefore(text: string, place: number): number {
  const near = text.slice(place - SPACE_WITHIN_CHARS, place).search(/\s\S*$/);
  return near < 0 ? place : place - SPACE_WITHIN_CHARS + near;
}

const BEGINS_KEY = /PRIVATE KEY(?: BLOCK)?-----$/;
const DELIMITER = /[\s"'&;,\\]/g;

function endOfSecret(text: string, [start, end]: Range): number {
  if (BEGINS_KEY.test(text.slice(Math.max(0, start - 40), start))) {
    const found = text.indexOf("-----END ", start);
    return found < 0 ? text.length : found;
  }
  DELIMITER.lastIndex = end;
  return DELIMITER.exec(text)?.index ?? text.length;
}
