// Sends the audit's entries to standard output, a file or an address. `write` resolves once all lines were accepted.

import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Agent, type Dispatcher, request } from "undici";
import { type AuditSink, PortError } from "../../ports.ts";

export type SinkPlace =
  | { readonly type: "stdout" }
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "http"; readonly url: string; readonly token: string | null };

/** The time limit of the whole call (ms). */
const CALL_MS = 10_000;

export type SinkWays = {
  /** Opens the connections, through a proxy if there is one. */
  readonly open?: (options: Agent.Options) => Dispatcher;
  readonly out?: NodeJS.WritableStream;
};

export function openSink(place: SinkPlace, ways: SinkWays = {}): AuditSink {
  const { open: connect = (options) => new Agent(options), out = process.stdout } = ways;
  switch (place.type) {
    case "stdout":
      // The callback of each write gets its error. Without a listener, the error would also end the process.
      out.on("error", () => undefined);
      return { name: "stdout", write: (lines) => writeOut(out, lines), close: () => Promise.resolve() };
    case "file": {
      const { path } = place;
      return {
        name: `file:${path}`,
        write: (lines) => appendTo(path, lines),
        close: () => Promise.resolve(),
      };
    }
    case "http": {
      const dispatcher = connect({ connections: 1, allowH2: false });
      return {
        name: nameOf(place.url),
        write: (lines) => post(dispatcher, place, lines),
        close: () => dispatcher.destroy(),
      };
    }
  }
}

/**
 * Names are stored, shown and audited, and a query may hold a secret, so only a short digest stands for it. Slashes at the end are left
 * out, as they were when they were not sent either: otherwise an upgrade would make a new sink.
 */
function nameOf(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const digest = createHash("sha256").update(search).digest("hex").slice(0, 12);
  return `${origin}${pathname}`.replace(/\/+$/, "") + (search === "" ? "" : `?(${digest})`);
}

async function writeOut(out: NodeJS.WritableStream, lines: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  out.write(lines.join(""), (error) => {
    if (error) reject(notAccepted("stdout", error));
    else resolve(undefined);
  });
  await promise;
}

const NEWLINE = 10;

/** Opens the file each time, so that logrotate may move it. Resolves once the lines are on the disk. */
async function appendTo(path: string, lines: readonly string[]): Promise<void> {
  try {
    const file = await open(path, "a+", 0o600);
    try {
      // A crash may have left half a line.
      const { size } = await file.stat();
      const end = size === 0 ? null : await file.read(Buffer.alloc(1), 0, 1, size - 1);
      const torn = end !== null && end.buffer[0] !== NEWLINE;
      await file.appendFile((torn ? "\n" : "") + lines.join(""));
      await file.datasync();
      if (size === 0) await syncFolderOf(path);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw notAccepted("the file", error);
  }
}

/** A power failure may lose the entry of a new file in its folder. Windows cannot flush folders. */
async function syncFolderOf(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(dirname(resolve(path)), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function post(
  dispatcher: Dispatcher,
  { url, token }: Extract<SinkPlace, { type: "http" }>,
  lines: readonly string[],
): Promise<void> {
  const headers = {
    "content-type": "application/x-ndjson",
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const signal = AbortSignal.timeout(CALL_MS);
  try {
    const answer = await request(url, { method: "POST", headers, body: lines.join(""), dispatcher, signal });
    // Only the status counts. A longer answer than this closes the connection.
    await answer.body.dump({ limit: 64 * 1024, signal });
    if (answer.statusCode < 200 || answer.statusCode > 299)
      throw new Error(`it answered HTTP ${answer.statusCode}`);
  } catch (error) {
    throw notAccepted("the address", error);
  }
}

/** Omits the other side's words. */
function notAccepted(where: string, error: unknown): PortError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "not_taken";
  const says = error instanceof Error ? error.message : String(error);
  return new PortError(`AUDIT_SINK: ${where} did not accept the audit's entries: ${says}`, {
    applied: "maybe",
    retry: "later",
    code,
  });
}
