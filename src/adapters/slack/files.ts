// Texts that are too long for a message become files in the run's thread: we ask for an upload address, send the bytes, then share
// the file.

import { request } from "undici";
import type { UploadedFile } from "../../domain/posted-message.ts";
import { OPENING, OUTPUT, type Run, runId, type Slot } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import { isSlacks, UPLOAD_HOSTS } from "./responder.ts";
import type { Call } from "./clients.ts";
import { createFileContents } from "./file-content.ts";
import { uploadTarget } from "./answers.ts";

export type Files = {
  upload(run: Run, slot: Slot): Promise<UploadedFile>;
  /** Uploads a file that stays invisible until it is shared. Resolves to Slack's file id. */
  put(filename: string, text: string): Promise<string>;
  share(run: Run, file: string, slot: Slot): Promise<"shared" | "gone">;
};

const TIMEOUT_MS = 9_000;

export function createFiles(call: Call, apiUrl: string | null): Files {
  const contents = createFileContents();

  async function put(filename: string, text: string): Promise<string> {
    const bytes = Buffer.from(text, "utf8");
    const target = uploadTarget(await call("files.getUploadURLExternal", { filename, length: bytes.length }));
    await send(target.upload_url, bytes, apiUrl);
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

/** Keeps only those characters of the service's id that are harmless in a file name. */
function fileName(run: Run, slot: Slot): string {
  const id = (runId(run) ?? run.key).replace(/[^A-Za-z0-9_-]/g, "").slice(0, 40);
  return `${slot === OUTPUT ? "output" : "request"}-${id}.txt`;
}

/** Slack's answer names the address, and we still check it: only Slack's own hosts get our bytes. */
async function send(url: string, bytes: Buffer, apiUrl: string | null): Promise<void> {
  if (!isSlacks(url, UPLOAD_HOSTS, apiUrl)) {
    throw new PortError("Slack named an upload address that is not Slack's", {
      applied: "no",
      retry: "never",
      code: "foreign_upload_url",
    });
  }
  const failed = (code: string, cause?: unknown): PortError =>
    new PortError("the file could not be uploaded to Slack", { applied: "no", retry: "later", code, cause });
  const headers = { "content-type": "application/octet-stream" };
  const options = { method: "POST" as const, headers, body: bytes, signal: AbortSignal.timeout(TIMEOUT_MS) };
  const answer = await request(url, options).catch((error: unknown) => {
    throw failed("no_answer", error);
  });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw failed(`http_${answer.statusCode}`);
}
