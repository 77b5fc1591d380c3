// Builds the content of a file: a request or an output, with secrets masked. A long text is searched in slices, and the event loop
// runs between them. Files are built one at a time, so many files block the loop no longer than one. A file that a newer request
// replaces is given up.

import { setImmediate as nextTick } from "node:timers/promises";
import type { Request, RunContext } from "../../domain/approval.ts";
import { MASKED_IN_FILE_CHARS, requestFile, type Slice, slices } from "../../domain/request-file.ts";
import { contextBehind } from "../../domain/run-context.ts";
import { OUTPUT, requestSlot, type Run, type Slot } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import { createKeyedLock } from "../../engine/run-engine.ts";

export type FileContent = { readonly text: string; readonly masked: readonly string[] };

/** Rejects with a PortError when the file of a newer request replaces this one. */
export type FileContents = { of(run: Run, slot: Slot): Promise<FileContent> };

export function createFileContents(): FileContents {
  const oneAtATime = createKeyedLock();
  const newest = new Map<string, Slot>();
  return {
    async of(run, slot) {
      const approval = run.approvals.find((each) => requestSlot(each) === slot);
      const subject = `${run.key} ${approval?.id ?? slot}`;
      newest.set(subject, slot);
      const checkStillWanted = (): void => {
        if (newest.get(subject) !== slot) throw replaced();
      };
      try {
        return await oneAtATime("file", () => content(run, slot, checkStillWanted));
      } finally {
        if (newest.get(subject) === slot) newest.delete(subject);
      }
    },
  };
}

const replaced = (): PortError =>
  new PortError("The file of a newer request takes its place.", {
    applied: "no",
    retry: "later",
    code: "replaced",
  });

async function content(run: Run, slot: Slot, checkStillWanted: () => void): Promise<FileContent> {
  if (slot === OUTPUT) {
    const { text } = await joinSlices(slices(run.seen?.ended?.output ?? "", "masked"), checkStillWanted);
    return { text, masked: [] };
  }
  const approval = run.approvals.find((each) => requestSlot(each) === slot);
  if (approval === undefined) return { text: "", masked: [] };
  return requestContent(approval.request, contextBehind(run.context, approval.request), checkStillWanted);
}

/** The form of an approver lists everything that the file masks. If that is too much for the form, the file masks nothing. */
export async function requestContent(
  request: Request,
  context: RunContext | null,
  checkStillWanted: () => void = () => undefined,
): Promise<FileContent> {
  const file = await joinSlices(requestFile(request, context, "masked"), checkStillWanted);
  const chars = file.masked.reduce((sum, secret) => sum + secret.length, 0);
  if (chars <= MASKED_IN_FILE_CHARS) return file;
  const { text } = await joinSlices(requestFile(request, context, "open"), checkStillWanted);
  return { text, masked: [] };
}

/** Lets the event loop run after every slice. */
async function joinSlices(parts: Iterable<Slice>, checkStillWanted: () => void): Promise<FileContent> {
  const texts: string[] = [];
  const masked: string[] = [];
  for (const { text, secrets } of parts) {
    texts.push(text);
    masked.push(...secrets);
    await nextTick();
    checkStillWanted();
  }
  return { text: texts.join(""), masked };
}
