// The run's own fields, as the service sent them: what a request stands in, and is decided with.

import type { Block } from "@slack/types";
import type { Request, RunContext } from "../../core/approval.ts";
import { contextBehind, drawnContext } from "../../core/run-context.ts";
import { type Drawing, needsFile } from "../../core/request-text.ts";
import type { Run } from "../../core/run.ts";
import { clipCounted } from "../../core/text.ts";
import { boxes, count, line, rich, words } from "./rich.ts";

/** Beside a request that is attached as a file; the file has them whole. */
const BESIDE_FILE_CHARS = 5_000;

/** Nothing where the service says nothing of the run but its state. */
export function runDetails(run: Run, request: Request, as: Drawing): Block[] {
  const context = contextBehind(run.context, request);
  if (context === null) return [];
  const text = drawnContext(context, as);
  const { shown, hidden } = needsFile(request)
    ? clipCounted(text, BESIDE_FILE_CHARS)
    : { shown: text, hidden: 0 };
  const missing = `${count(hidden)} more characters are not shown here. The file in the run's thread has them.`;
  return [
    rich(line(words("The run, as the service tells of it:", { bold: true })), ...boxes(shown)),
    ...(hidden === 0 ? [] : [rich(line(words(missing, { bold: true })))]),
  ];
}

export function hasDetails(run: Run, request: Request): boolean {
  return contextBehind(run.context, request) !== null;
}

/** For a comparison, line by line. */
export function detailLines(context: RunContext | null): readonly string[] {
  return context === null
    ? []
    : drawnContext(context, "open")
        .split("\n")
        .map((each) => `run: ${each}`);
}
