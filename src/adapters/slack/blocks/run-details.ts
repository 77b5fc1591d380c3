// The run's own fields, as the service sent them. They are the context in which people decide a request.

import type { Block } from "@slack/types";
import type { Request } from "../../../domain/approval.ts";
import { CONTEXT_ROOM } from "../../../domain/text/request-layout.ts";
import { needsFile, volatileField } from "../../../domain/text/request-text.ts";
import { contextBehind, contextParts, drawnContext } from "../../../domain/run-context.ts";
import type { Run } from "../../../domain/run.ts";
import type { Drawing } from "../../../domain/text/secrets.ts";
import { fieldBoxes } from "./request-blocks.ts";
import { fieldsOverview } from "./request-overview.ts";
import { line, rich, span } from "./rich.ts";

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

export function hasDetails(run: Run, request: Request): boolean {
  return contextBehind(run.context, request) !== null;
}
