// What stands in a file. A long text is searched in slices, between which other work is done; one file at a time, so that many
// files together take no longer turn than one. A file that a newer one replaces is given up.

import { setImmediate as breath } from "node:timers/promises";
import type { Request, RunContext } from "../../domain/approval.ts";
import { MASKED_IN_FILE_CHARS, requestFile, type Slice, slices } from "../../domain/request-file.ts";
import { contextBehind } from "../../domain/run-context.ts";
import { OUTPUT, requestSlot, type Run, type Slot } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import { createKeyedLock } from "../../engine/run-engine.ts";

export type FileContent = { readonly text: string; readonly masked: readonly string[] };

/** Rejects with a PortError when the file of a newer request is wanted in its place. */
export type FileContents = { of(run: Run, slot: Slot): Promise<FileContent> };

export function createFileContents(): FileContents {
  const inTurn = createKeyedLock();
  const newest = new Map<string, Slot>();
  return {
    async of(run, slot) {
      const approval = run.approvals.find((each) => requestSlot(each) === slot);
      const subject = `${run.key} ${approval?.id ?? slot}`;
      newest.set(subject, slot);
      const goOn = (): void => {
        if (newest.get(subject) !== slot) throw replaced();
      };
      try {
        return await inTurn("file", () => content(run, slot, goOn));
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

async function content(run: Run, slot: Slot, goOn: () => void): Promise<FileContent> {
  if (slot === OUTPUT) {
    const { text } = await joined(slices(run.seen?.ended?.output ?? "", "masked"), goOn);
    return { text, masked: [] };
  }
  const approval = run.approvals.find((each) => requestSlot(each) === slot);
  if (approval === undefined) return { text: "", masked: [] };
  return requestContent(approval.request, contextBehind(run.context, approval.request), goOn);
}

/** Whatever is masked in the file of a request stands in the form of whoever decides; where that is too much, nothing is masked. */
export async function requestContent(
  asked: Request,
  context: RunContext | null,
  goOn: () => void = () => undefined,
): Promise<FileContent> {
  const file = await joined(requestFile(asked, context, "masked"), goOn);
  const chars = file.masked.reduce((sum, secret) => sum + secret.length, 0);
  if (chars <= MASKED_IN_FILE_CHARS) return file;
  const { text } = await joined(requestFile(asked, context, "open"), goOn);
  return { text, masked: [] };
}

/** Other work is done between any two slices. */
async function joined(parts: Iterable<Slice>, goOn: () => void): Promise<FileContent> {
  const texts: string[] = [];
  const masked: string[] = [];
  for (const { text, secrets } of parts) {
    texts.push(text);
    masked.push(...secrets);
    await breath();
    goOn();
  }
  return { text: texts.join(""), masked };
}
