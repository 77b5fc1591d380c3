// Uploads: a ticket with an address, then the bytes, then a file.

import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Refused } from "./errors.ts";
import { bodyOf, formOf } from "./http-request.ts";
import type { TrafficLog } from "./traffic.ts";

type Ticket = {
  readonly id: string;
  readonly name: string;
  readonly length: number;
  /** What a picture shows, in words. */
  readonly description: string;
  bytes: Uint8Array | null;
};

export type Uploads = ReturnType<typeof createUploads>;

export const createUploads = ({ traffic }: { readonly traffic: TrafficLog }) => {
  const byKey = new Map<string, Ticket>();
  return {
    /** Returns the last part of the address for the bytes. */
    ticket: (announced: Omit<Ticket, "bytes">): string => {
      const key = randomBytes(18).toString("base64url");
      byKey.set(key, { ...announced, bytes: null });
      return key;
    },
    /** The uploaded files of these ids; null if one was not announced or its bytes have not arrived. */
    take: (ids: readonly string[]): (Ticket & { bytes: Uint8Array })[] | null => {
      const found = ids.map((id) => [...byKey].find(([, ticket]) => ticket.id === id));
      if (!found.every((one) => one?.[1].bytes)) return null;
      for (const one of found) if (one) byKey.delete(one[0]);
      return found.flatMap((one) => (one ? [one[1] as Ticket & { bytes: Uint8Array }] : []));
    },
    receive: async (key: string, req: IncomingMessage, res: ServerResponse): Promise<void> => {
      const ticket = byKey.get(key);
      const say = (status: number, words: string, refused: string | null): void => {
        const detail = { file: ticket?.id ?? null, announced: ticket?.length ?? null, status };
        traffic.add("app", "file upload", detail, refused);
        res.writeHead(status, { "content-type": "text/plain" }).end(words);
      };
      if (!ticket || ticket.bytes) return say(404, "", "this address takes no file, or has taken it");
      const bytes = await bytesOf(req, ticket.length);
      if (bytes?.byteLength !== ticket.length) return say(400, "length mismatch", "not the announced length");
      ticket.bytes = bytes;
      say(200, `OK - ${ticket.length}`, null);
    },
  };
};

/** Room for the multipart framing around a file (bytes). */
const dressing = 100_000;

/** Raw bytes, or the file of a form: Slack accepts both. Null: a form without a file. */
const bytesOf = async (req: IncomingMessage, length: number): Promise<Uint8Array | null> => {
  const body = await bodyOf(req, length + dressing);
  const type = req.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data")) return body;
  const form = await formOf(body, type).catch((error: unknown) => {
    if (error instanceof Refused) return new FormData();
    throw error;
  });
  const file = [...form.values()].find((value) => typeof value !== "string");
  return file ? new Uint8Array(await file.arrayBuffer()) : null;
};
