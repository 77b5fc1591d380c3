// Can the place of AUDIT_SINK take the audit's entries? Writes none: a file is only looked at, and an address gets a HEAD request.

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { request } from "undici";
import type { Config } from "../../config.ts";
import { createOpen } from "../../outbound.ts";
import { AUTHORITY, bad, type Finding, good, isUntrusted } from "./finding.ts";

const SINK = "Audit sink";
/** For the whole call (ms), as when entries are sent. */
const CALL_MS = 10_000;

type Sink = NonNullable<Config["audit"]["sink"]>;

export async function checkSink({ audit: { sink }, proxies }: Config): Promise<Finding[]> {
  if (sink === null) return [];
  switch (sink.type) {
    case "stdout":
      return [good(SINK, "entries go to standard output, beside the log")];
    case "file":
      return [await checkFile(sink.path)];
    case "http":
      return [await checkAddress(sink, proxies)];
  }
}

async function checkFile(path: string): Promise<Finding> {
  const folder = dirname(path);
  const todo = `Create ${folder} for the user that runs Countersign, or set AUDIT_SINK to another file.`;
  try {
    const there = await stat(path).catch(() => null);
    if (there !== null && !there.isFile()) return bad(SINK, `${path} is not a file`, todo);
    await access(there === null ? folder : path, constants.W_OK);
    return good(SINK, `${path} can be written`);
  } catch (error) {
    return bad(SINK, `${path} can't be written: ${wordsOf(error)}`, todo);
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
        `it refuses the token (HTTP ${statusCode})`,
        "Set AUDIT_SINK_TOKEN to a token that it takes.",
      );
    // Such places often take POST alone, so another refusal of HEAD says nothing.
    return good(SINK, `answers (HTTP ${statusCode} to HEAD; no entry was sent)`);
  } catch (error) {
    const words = wordsOf(error);
    return bad(SINK, words, isUntrusted(words) ? AUTHORITY : "Is AUDIT_SINK right, and is the place up?");
  } finally {
    await dispatcher.destroy();
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
