// Files on their way: a ticket with an address, the bytes sent there, and only then a file.

import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

import { readBody } from "./http-body.ts";

type Ticket = {
  readonly id: string;
  readonly name: string;
  readonly length: number;
  bytes: Uint8Array | null;
};

export type Uploads = ReturnType<typeof createUploads>;

export const createUploads = () => {
  const byKey = new Map<string, Ticket>();
  return {
    /** Returns the last part of the address the bytes must be sent to. */
    ticket: (id: string, name: string, length: number): string => {
      const key = randomBytes(18).toString("base64url");
      byKey.set(key, { id, name, length, bytes: null });
      return key;
    },
    /** The uploaded files of these ids, or null when one was never announced or its bytes have not come. */
    take: (ids: readonly string[]): (Ticket & { bytes: Uint8Array })[] | null => {
      const found = ids.map((id) => [...byKey].find(([, ticket]) => ticket.id === id));
      if (!found.every((one) => one?.[1].bytes)) return null;
      for (const one of found) if (one) byKey.delete(one[0]);
      return found.flatMap((one) => (one ? [one[1] as Ticket & { bytes: Uint8Array }] : []));
    },
    receive: async (key: string, req: IncomingMessage, res: ServerResponse): Promise<void> => {
      const ticket = byKey.get(key);
      if (!ticket || ticket.bytes) return void res.writeHead(404).end();
      const bytes = await bytesOf(req, ticket.length);
      if (bytes?.byteLength !== ticket.length) return void res.writeHead(400).end("length mismatch");
      ticket.bytes = bytes;
      res.writeHead(200, { "content-type": "text/plain" }).end(`OK - ${ticket.length}`);
    },
  };
};

/** Room for the multipart dressing around a file. */
const dressing = 100_000;

/** Raw bytes, or the one file of a form: Slack takes both. */
const bytesOf = async (req: IncomingMessage, length: number): Promise<Uint8Array | null> => {
  const body = await readBody(req, length + dressing);
  const type = req.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data")) return body;
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const file = [...form.values()].find((value) => typeof value !== "string");
  return file ? new Uint8Array(await file.arrayBuffer()) : null;
};
