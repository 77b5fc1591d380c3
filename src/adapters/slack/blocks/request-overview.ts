// An overview of a request that is too long to show whole, and of the run's own fields. It shows every field where that is
// possible: the short fields first and whole, of long ones the beginning and the end. It counts what it leaves out.

import type { Block, RichTextBlock } from "@slack/types";
import type { Request } from "../../../domain/approval.ts";
import { contextBehind, contextParts, drawnContext } from "../../../domain/run-context.ts";
import type { Run } from "../../../domain/run.ts";
import type { Ends } from "../../../domain/text/excerpt.ts";
import {
  CONTEXT_ROOM,
  type FieldLayout,
  fieldLayout,
  requestLayout,
  type Room,
  type ShownText,
} from "../../../domain/text/request-layout.ts";
import { type Field, needsFile, volatileField } from "../../../domain/text/request-text.ts";
import type { Drawing } from "../../../domain/text/secrets.ts";
import { fieldBoxes, NO_ACTION } from "./request-blocks.ts";
import { count, drawnBoxes, line, rich, span } from "./rich.ts";

type Part = ReturnType<typeof drawnBoxes>[number] | ReturnType<typeof line>;

export type Overview = {
  readonly block: RichTextBlock;
  /** How many secrets are masked in it. */
  readonly secrets: number;
};

/** `where` says where the whole request is. */
export function requestOverview(request: Request, room: Room, where: string, as: Drawing): Overview {
  const layout = requestLayout(request, room, as);
  const { action } = layout;
  const head = request.action === null ? [line(span(NO_ACTION, { italic: true }))] : boxed("", action);
  const rest = partsOf(layout, volatileField(request), where);
  const secrets = as === "open" ? 0 : action.secrets + secretsOf(layout);
  return { block: rich(...head, ...rest), secrets };
}

type Fields = {
  readonly fields: readonly Field[];
  readonly remark: Field | null;
};

function fieldsOverview(
  { fields, remark }: Fields,
  room: Room,
  where: string,
  as: Drawing,
): { readonly parts: readonly Part[]; readonly secrets: number } {
  const layout = fieldLayout(fields, room, as);
  return { parts: partsOf(layout, remark, where), secrets: secretsOf(layout) };
}

const secretsOf = ({ shown }: FieldLayout): number => shown.reduce((sum, { secrets }) => sum + secrets, 0);

function partsOf(layout: FieldLayout, remark: Field | null, where: string): Part[] {
  return [
    ...linesOf(layout.shown, remark),
    ...layout.shown.flatMap((each) => (each.inline ? [] : boxed(`${each.name}:\n`, each))),
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

function linesOf(shown: readonly ShownText[], remark: Field | null): Part[] {
  const lines = shown.filter(({ inline }) => inline).map((each) => `${each.name}: ${oneLineOf(each)}`);
  if (remark !== null) lines.push(`${remark.name}: ${remark.text}`);
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

// The run's own fields, as the service sent them. They are the context in which people decide a request.

const IN_FILE = "The file in the run's thread has them.";

/** Empty if the service says nothing about the run beyond its state. */
export function runDetails(run: Run, request: Request, as: Drawing): Block[] {
  const context = contextBehind(run.context, request);
  if (context === null) return [];
  const title = line(span("The run, as the service describes it:", { bold: true }));
  if (!needsFile(request)) return [rich(title, ...fieldBoxes(drawnContext(context, as)))];
  const fields = { fields: contextParts(context), remark: volatileField(context) };
  return [rich(title, ...fieldsOverview(fields, CONTEXT_ROOM, IN_FILE, as).parts)];
}
