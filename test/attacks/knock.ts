// Requests as an attacker writes them: bytes on a socket, with or without a valid signature.

import { createHmac } from "node:crypto";
import { once } from "node:events";
import net from "node:net";

export type Knock = {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string | Buffer;
  readonly type?: string | null;
  /** The request's time, in seconds from now. */
  readonly at?: number;
  readonly timestamp?: string;
  readonly secret?: string;
  /** Null for no signature. A function may spoil the valid one. */
  readonly signature?: null | ((right: string) => string);
  /** The bytes to sign instead of the body. */
  readonly signed?: string;
  readonly headers?: readonly string[];
  /** Replaces the right Content-Length. Null for none. */
  readonly length?: string | null;
};

export const FORM = "application/x-www-form-urlencoded";
export const JSON_TYPE = "application/json";

export function sign(secret: string, timestamp: string, body: string | Buffer): string {
  return `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex")}`;
}

/** Returns the bytes of the whole request, validly signed unless `knock` says otherwise. */
export function requestOf(knock: Knock, secret: string): Buffer {
  const { method = "POST", path = "/slack/events", type = FORM, headers = [] } = knock;
  const body = Buffer.from(knock.body ?? "");
  const timestamp = knock.timestamp ?? String(Math.floor(Date.now() / 1_000) + (knock.at ?? 0));
  const right = sign(knock.secret ?? secret, timestamp, knock.signed ?? body);
  const signature = knock.signature === undefined ? right : (knock.signature?.(right) ?? null);
  const length = knock.length === undefined ? String(body.length) : knock.length;
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "host: countersign.test",
    ...(type === null ? [] : [`content-type: ${type}`]),
    ...(length === null ? [] : [`content-length: ${length}`]),
    ...(signature === null
      ? []
      : [`x-slack-request-timestamp: ${timestamp}`, `x-slack-signature: ${signature}`]),
    ...headers,
    "connection: close",
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]);
}

export type Met = { readonly status: number | null; readonly all: string };

/** Sends the bytes, one piece after the other. Resolves when the server has closed the connection. The status is null without an answer. */
export async function knockOn(url: string, ...pieces: readonly (Buffer | string)[]): Promise<Met> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<void>();
  let all = "";
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.on("data", (chunk) => (all += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  socket.on("close", () => resolve());
  for (const piece of pieces) {
    const { promise: written, resolve: next } = Promise.withResolvers<void>();
    socket.write(piece, () => next());
    await Promise.race([written, promise]);
  }
  await promise;
  const status = /^HTTP\/1\.1 (\d{3})/.exec(all)?.[1];
  return { status: status === undefined ? null : Number(status), all };
}

/**
 * Sends something other than HTTP and never closes its side. Resolves to how long after the refusal the server closed the connection (ms).
 */
export async function shutOutAfter(url: string, atMostMs: number): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const { promise: shut, resolve } = Promise.withResolvers<void>();
  socket.on("error", () => undefined).on("close", () => resolve());
  socket.resume().write("no http at all\r\n\r\n");
  await once(socket, "end");
  const refusedAt = performance.now();
  const poke = setInterval(() => socket.write("x"), 50);
  const late = setTimeout(() => resolve(), atMostMs);
  await shut;
  clearInterval(poke);
  clearTimeout(late);
  socket.destroy();
  return performance.now() - refusedAt;
}
