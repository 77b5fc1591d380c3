// Checks whether AUDIT_SINK can take the audit's entries. It writes none: it only checks the permissions of a file, and sends a HEAD
// request to an address.

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { request } from "undici";
import type { Config } from "../../config.ts";
import { createOpen } from "../../outbound.ts";
import { bad, type Finding, good, note, todoAfter } from "./finding.ts";

const SINK = "Audit sink";
/** The time limit of the whole call (ms), the same as for sending entries. */
const CALL_MS = 10_000;

type Sink = NonNullable<Config["audit"]["sink"]>;

export async function checkSink({ audit: { sink }, database, proxies }: Config): Promise<Finding[]> {
  if (sink === null) return [];
  switch (sink.type) {
    case "stdout":
      return [good(SINK, "entries go to standard output, beside the log")];
    case "file":
      return [await checkFile(sink.path, database.engine === "postgres")];
    case "http":
      return [await checkAddress(sink, proxies)];
  }
}

/** The sink reads the end of the file, where a crash may have left half a line. */
const OLD_FILE = constants.R_OK | constants.W_OK;
/** The sink opens the folder of a new file for reading, to flush it. */
const NEW_FILE = OLD_FILE | constants.X_OK;

/** The replicas take turns in sending, and go on where the last one stopped. Each writes to its own disk. */
const IN_PARTS = "if Countersign runs on several machines, each of them gets only a part of the copy";
const SHARE =
  "On several machines, put the file in a folder that they share, or set AUDIT_SINK to stdout or to an https:// address.";

async function checkFile(path: string, mayHaveReplicas: boolean): Promise<Finding> {
  const folder = dirname(path);
  const there = await stat(path).catch(() => null);
  if (there !== null && !there.isFile())
    return bad(SINK, `${path} is not a file`, "Set AUDIT_SINK to another file.");
  const wanted = there === null ? `Create the folder ${folder} if there is none, and let` : "Let";
  const refusing = there === null ? folder : path;
  const todo = `${wanted} the user that runs Countersign read and write ${refusing}, or set AUDIT_SINK to another file.`;
  try {
    await (there === null ? access(folder, NEW_FILE) : access(path, OLD_FILE));
    return mayHaveReplicas
      ? note(SINK, `${path} can be written; ${IN_PARTS}`, SHARE)
      : good(SINK, `${path} can be written`);
  } catch (error) {
    return bad(SINK, `${path} cannot be written: ${wordsOf(error)}`, todo);
  }
}

async function checkAddress(
  { url, token }: Extract<Sink, { type: "http" }>,
  proxies: Config["proxies"],
): Promise<Finding> {
  const dispatcher = createOpen(proxies)({ allowH2: false });
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  try {
    const signal = AbortSignal.timeout(CALL_MS);
    const { statusCode, body } = await request(url, { method: "HEAD", headers, dispatcher, signal });
    await body.dump();
    if (statusCode === 401 || statusCode === 403)
      return bad(
        SINK,
        `refuses the token (HTTP ${statusCode})`,
        "Set AUDIT_SINK_TOKEN to a token that it accepts.",
      );
    // Many collectors accept only POST, so any other refusal of HEAD proves nothing.
    return good(SINK, `answers (HTTP ${statusCode} to HEAD; no entry was sent)`);
  } catch (error) {
    const words = wordsOf(error);
    return bad(SINK, words, todoAfter(words, "Check AUDIT_SINK, and that its server is up."));
  } finally {
    await dispatcher.destroy();
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  return error.message.includes(code) ? error.message : `${error.message} (${code})`;
}
