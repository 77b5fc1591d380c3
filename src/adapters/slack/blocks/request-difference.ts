// Shows what changed between two requests, field by field. Of a long text it shows only the place of the first change.

import type { Block } from "@slack/types";
import type { Request } from "../../../domain/approval.ts";
import { from } from "../../../domain/text/excerpt.ts";
import { fieldsText, requestText, sentParts, shortName } from "../../../domain/text/request-text.ts";
import type { Run } from "../../../domain/run.ts";
import { contextBehind, contextParts, drawnContext } from "../../../domain/run-context.ts";
import { clipCounted } from "../../../domain/text/text.ts";
import { fitsModal } from "./request-blocks.ts";
import { drawnBoxes, line, rich, span } from "./rich.ts";

const ALL_CHARS = 5_000;
/** How many characters of a long text are shown before its first change, and how many in all. */
const BEFORE_CHARS = 80;
const CHANGE_CHARS = 300;

export function difference(run: Run, was: Request | null, is: Request): Block[] {
  if (was === null) return [];
  const lines = fitsModal(was) && fitsModal(is) ? changedLines(run, was, is) : changedFields(run, was, is);
  const { shown, hidden } = clipCounted(lines.join("\n"), ALL_CHARS);
  const more = hidden === 0 ? "" : " Not all of it is shown here.";
  return [rich(line(span(`What changed:${more}`, { bold: true })), ...drawnBoxes(shown))];
}

function changedLines(run: Run, was: Request, is: Request): string[] {
  const [before, after] = [linesOf(run, was), linesOf(run, is)];
  const gone = [...before].filter((each) => !after.has(each)).map((each) => `− ${each}`);
  const fresh = [...after].filter((each) => !before.has(each)).map((each) => `+ ${each}`);
  return [...gone, ...fresh];
}

function linesOf(run: Run, request: Request): ReadonlySet<string> {
  const context = contextBehind(run.context, request);
  const around = context === null ? [] : fieldsText(drawnContext(context, "open")).split("\n");
  return new Set([...requestText(request, "open").split("\n"), ...around.map((each) => `run: ${each}`)]);
}

function changedFields(run: Run, was: Request, is: Request): string[] {
  const [before, after] = [textsOf(run, was), textsOf(run, is)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.flatMap((name) => changes(name, before.get(name) ?? null, after.get(name) ?? null));
}

function textsOf(run: Run, request: Request): ReadonlyMap<string, string> {
  const { action, fields } = sentParts(request);
  const context = contextBehind(run.context, request);
  const around = context === null ? [] : contextParts(context);
  return new Map([
    ...(action === null ? [] : [["action", action] as const]),
    ...fields.map(({ name, text }) => [name, text] as const),
    ...around.map(({ name, text }) => [`run: ${name}`, text] as const),
  ]);
}

function changes(name: string, was: string | null, is: string | null): string[] {
  if (was === is) return [];
  const start = Math.max(0, samePrefix(was ?? "", is ?? "") - BEFORE_CHARS);
  const place = (text: string): string => {
    const { text: part, hidden } = from(text, start, CHANGE_CHARS, "open");
    return `${shortName(name, "open")}: ${start === 0 ? "" : "…"}${part}${hidden === 0 ? "" : "…"}`;
  };
  return [...(was === null ? [] : [`− ${place(was)}`]), ...(is === null ? [] : [`+ ${place(is)}`])];
}

function samePrefix(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}
