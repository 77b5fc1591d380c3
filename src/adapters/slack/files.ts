// Posts texts that are too long for a message as files in the run's thread: asks for an upload address, sends the bytes, then shares the
// file.

import { setImmediate as nextTick } from "node:timers/promises";
import { request } from "undici";
import type { Approval, Request, RunContext } from "../../domain/approval.ts";
import type { UploadedFile } from "../../domain/posted-message.ts";
import {
  MASKED_IN_FILE_CHARS,
  requestFile,
  requestFileName,
  type Slice,
  slices,
} from "../../domain/request-file.ts";
import { contextBehind } from "../../domain/run-context.ts";
import { type Run, runId } from "../../domain/run.ts";
import { OPENING, OUTPUT, requestSlot, type Slot } from "../../domain/slot.ts";
import { createKeyedLock } from "../../engine/keyed-lock.ts";
import { PortError } from "../../ports.ts";
import { uploadTarget } from "./answers.ts";
import { type Call, type Connections, isSlackAddress, UPLOAD_HOSTS } from "./clients.ts";

export type Files = {
  upload(run: Run, slot: Slot): Promise<UploadedFile>;
  /** Uploads a file, which stays invisible until it is shared. `alt` describes a picture. Resolves to Slack's file id. */
  put(filename: string, content: string | Uint8Array, alt?: string): Promise<string>;
  share(run: Run, file: string, slot: Slot): Promise<"shared" | "gone">;
};

const TIMEOUT_MS = 9_000;

export function createFiles(call: Call, apiUrl: string | null, through?: Connections): Files {
  const contents = createFileContents();

  async function put(filename: string, content: string | Uint8Array, alt?: string): Promise<string> {
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : Buffer.from(content);
    const about = { filename, length: bytes.length, ...(alt === undefined ? {} : { alt_txt: alt }) };
    const target = uploadTarget(await call("files.getUploadURLExternal", about));
    await send(target.upload_url, bytes, { apiUrl, through });
    return target.file_id;
  }

  async function share(run: Run, file: string, slot: Slot): Promise<"shared" | "gone"> {
    const opening = run.posts[OPENING];
    const thread = opening?.type === "up" ? { thread_ts: opening.ts } : {};
    try {
      const files = [{ id: file, title: fileName(run, slot) }];
      await call("files.completeUploadExternal", { files, channel_id: run.channel, ...thread });
      return "shared";
    } catch (error) {
      if (error instanceof PortError && error.code === "file_not_found") return "gone";
      throw error;
    }
  }

  async function upload(run: Run, slot: Slot): Promise<UploadedFile> {
    const { text, masked } = await contents.of(run, slot);
    return { file: await put(fileName(run, slot), text), masked };
  }

  return { upload, put, share };
}

function fileName(run: Run, slot: Slot): string {
  const approval = approvalOf(run, slot);
  return approval === undefined ? outputName(run) : requestFileName(approval.request);
}

const approvalOf = ({ approvals }: Run, slot: Slot): Approval | undefined =>
  approvals.find((candidate) => requestSlot(candidate) === slot);

/** Keeps only the characters of the service's id that are harmless in a file name. */
function outputName(run: Run): string {
  const id = (runId(run) ?? run.key).replace(/[^A-Za-z0-9_-]/g, "").slice(0, 40);
  return `output-${id}.txt`;
}

/** Sends the bytes. Checks the address even though it comes from Slack's answer, so that only Slack's own hosts get our bytes. */
async function send(
  url: string,
  bytes: Buffer,
  { apiUrl, through }: { apiUrl: string | null; through: Connections | undefined },
): Promise<void> {
  if (!isSlackAddress(url, UPLOAD_HOSTS, apiUrl)) {
    throw new PortError("Slack named an upload address that is not Slack's", {
      applied: "no",
      retry: "never",
      code: "foreign_upload_url",
    });
  }
  const headers = { "content-type": "application/octet-stream" };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const connections = through === undefined ? {} : { dispatcher: through.dispatcher };
  const options = { method: "POST" as const, headers, body: bytes, signal, ...connections };
  const answer = await request(url, options).catch((cause: unknown) => {
    const facts = { applied: "no", retry: "later", code: "no_answer", cause } as const;
    throw new PortError("Slack's upload address did not answer", facts);
  });
  await answer.body.dump();
  const { statusCode } = answer;
  if (statusCode === 200) return;
  throw new PortError(`Slack's upload address answered HTTP ${statusCode}`, {
    applied: "no",
    retry: isRefusal(statusCode) ? "never" : "later",
    code: `http_${statusCode}`,
  });
}

/**
 * Whether the same bytes would be refused again, by Slack or by a proxy that limits uploads. An output then has no second try, and its
 * message says so; the file of a request is tried again at intervals. Any other 4xx may come from a proxy, or from an address that is out
 * of date.
 */
const isRefusal = (status: number): boolean => status === 400 || status === 413 || status === 415;

// Builds the content of a file: a request or an output, with secrets masked. A long text is searched in slices, and the event loop runs
// between them. Files are built one at a time, so many files block the loop no longer than one. A file is abandoned if a newer request
// replaces it.

export type FileContent = { readonly text: string; readonly masked: readonly string[] };

/** Rejects with PortError if the file of a newer request replaces this one. */
export type FileContents = { of(run: Run, slot: Slot): Promise<FileContent> };

function createFileContents(): FileContents {
  const oneAtATime = createKeyedLock();
  const newest = new Map<string, Slot>();
  return {
    async of(run, slot) {
      const subject = `${run.key} ${approvalOf(run, slot)?.id ?? slot}`;
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
  new PortError("The file of a newer request replaces this one.", {
    applied: "no",
    retry: "later",
    code: "replaced",
  });

async function content(run: Run, slot: Slot, checkStillWanted: () => void): Promise<FileContent> {
  if (slot === OUTPUT) {
    const { text } = await joinSlices(slices(run.seen?.ended?.output ?? "", "masked"), checkStillWanted);
    return { text, masked: [] };
  }
  const approval = approvalOf(run, slot);
  if (approval === undefined) return { text: "", masked: [] };
  return requestContent(approval.request, contextBehind(run.context, approval.request), checkStillWanted);
}

/** The approver's form lists everything that the file masks. If that is too much for the form, the file masks nothing. */
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
