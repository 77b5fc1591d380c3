// Uploads. A ticket has an address that receives the bytes, which then become a file.

import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Refused } from "./errors.ts";
import { applyFault, replacesAnswer, sendAnswer } from "./faulty-answer.ts";
import { bodyOf, formOf } from "./http-request.ts";
import type { SlackContext } from "./slack-context.ts";

type Ticket = {
  readonly id: string;
  readonly name: string;
  readonly length: number;
  /** The description of an image. */
  readonly description: string;
  bytes: Uint8Array | null;
};

export type Uploads = ReturnType<typeof createUploads>;

/** The name of the call in the traffic and for faults. */
const CALL = "file upload";

export function createUploads({ traffic, faults }: Pick<SlackContext, "traffic" | "faults">) {
  const byKey = new Map<string, Ticket>();
  const shares = new Set<NodeJS.Timeout>();
  return {
    /** Calls `share` after `ms`, unless the sandbox has stopped. */
    shareAfter: (ms: number, share: () => void): void => {
      const timer = setTimeout(() => {
        shares.delete(timer);
        share();
      }, ms);
      shares.add(timer);
    },
    stop: (): void => shares.forEach((timer) => clearTimeout(timer)),
    /** Creates a ticket, and returns the last part of its address. */
    ticket: (announced: Omit<Ticket, "bytes">): string => {
      const key = randomBytes(18).toString("base64url");
      byKey.set(key, { ...announced, bytes: null });
      return key;
    },
    /** Removes and returns the uploaded files with these ids. Returns null if one was not announced or not uploaded. */
    take: (ids: readonly string[]): (Ticket & { bytes: Uint8Array })[] | null => {
      const found = ids.map((id) => [...byKey].find(([, ticket]) => ticket.id === id));
      if (!found.every((one) => one?.[1].bytes)) return null;
      for (const one of found) if (one) byKey.delete(one[0]);
      return found.flatMap((one) => (one ? [one[1] as Ticket & { bytes: Uint8Array }] : []));
    },
    receive: async (key: string, req: IncomingMessage, res: ServerResponse): Promise<void> => {
      const ticket = byKey.get(key);
      const about = { file: ticket?.id ?? null, announced: ticket?.length ?? null };
      const fault = faults.take(CALL, {});
      if (await applyFault(fault, "before", res))
        return void traffic.add("app", CALL, about, "replaced by a fault", { lost: true });
      const { status, text, refused } = await received(ticket, req);
      traffic.add("app", CALL, { ...about, status }, refused, { lost: replacesAnswer(fault, "after") });
      await sendAnswer(fault, res, { status, text, headers: { "content-type": "text/plain" } });
    },
  };
}

type Received = { readonly status: number; readonly text: string; readonly refused: string | null };

async function received(ticket: Ticket | undefined, req: IncomingMessage): Promise<Received> {
  if (!ticket || ticket.bytes)
    return { status: 404, text: "", refused: "unknown address, or its file has already been uploaded" };
  const bytes = await bytesOf(req, ticket.length);
  if (bytes?.byteLength !== ticket.length)
    return { status: 400, text: "length mismatch", refused: "not the announced length" };
  ticket.bytes = bytes;
  return { status: 200, text: `OK - ${ticket.length}`, refused: null };
}

/** Room for the multipart framing of a file (bytes). */
const framingBytes = 100_000;

/** Reads raw bytes or the file in a form, as Slack does. Returns null for a form without a file. */
async function bytesOf(req: IncomingMessage, length: number): Promise<Uint8Array | null> {
  const body = await bodyOf(req, length + framingBytes);
  const type = req.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data")) return body;
  const form = await formOf(body, type).catch((error: unknown) => {
    if (error instanceof Refused) return new FormData();
    throw error;
  });
  const file = [...form.values()].find((value) => typeof value !== "string");
  return file ? new Uint8Array(await file.arrayBuffer()) : null;
}
