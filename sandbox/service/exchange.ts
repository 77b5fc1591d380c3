// Handles one request: reads and records it, applies a fault or calls the handler, and answers.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../base/sandbox-clock.ts";
import { readBody } from "../base/read-body.ts";
import type { Faults, TakenFault } from "./request-faults.ts";
import type { KeyShown, Recorder } from "./recorder.ts";
import { findRoute } from "./routes.ts";
import type { Found, Route } from "./routes.ts";

export type Incoming<Name extends string> = {
  readonly method: string;
  readonly found: Found<Name>;
  readonly headers: IncomingHttpHeaders;
  readonly key: KeyShown;
  readonly body: Buffer | "too large";
};

export type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Pieces are sent one by one. When the client disconnects, no further pieces are requested. */
  readonly body: string | Iterable<string> | AsyncIterable<string> | null;
};

export type Parts<Name extends string> = {
  readonly routes: readonly Route<Name>[];
  readonly recorder: Recorder;
  readonly faults: Faults;
  readonly clock: Clock;
  /** The size limit of a request body (bytes). */
  readonly bodyLimit: () => number;
  readonly keyShown: (headers: IncomingHttpHeaders) => KeyShown;
  readonly handle: (incoming: Incoming<Name>) => Promise<Answer>;
};

export function createExchange<Name extends string>(parts: Parts<Name>) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    serve(parts, request, response).catch((error: unknown) => {
      // A client that disconnects is not an error of ours. Any other error must be reported.
      if (!request.socket.destroyed) console.error("request failed:", error);
      request.socket.destroy();
    });
  };
}

async function serve<Name extends string>(
  parts: Parts<Name>,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { method = "", url: path = "/", headers } = request;
  const found = findRoute(parts.routes, method, path);
  const key = parts.keyShown(headers);
  const record = parts.recorder.begin({ method, path, route: found.name, key }, headers);
  response.on("close", () => record({ lost: !response.writableFinished, done: true }));

  const body = await readBody(request, parts.bodyLimit());
  record({ body: body.toString() });
  const taken = parts.faults.take({ method, route: found.name });
  if (taken !== null) record({ fault: taken.fault.type });
  const handle = () => parts.handle({ method, found, headers, key, body });
  const answer = taken === null ? await handle() : await applyFault(taken, handle, parts.clock);
  if (answer === "reset") request.socket.resetAndDestroy();
  if (typeof answer === "string" || response.destroyed) return;
  record({ status: answer.status, empty: answer.body === null || answer.body === "" });
  await send(response, answer, taken?.fault.type === "cut");
}

async function applyFault({ fault, released }: TakenFault, handle: () => Promise<Answer>, clock: Clock) {
  const effect = "effect" in fault && fault.effect ? await handle() : null;
  switch (fault.type) {
    case "answer": {
      const { status, headers = {}, body = null } = fault;
      return {
        status,
        headers,
        body: typeof body === "object" && body !== null ? JSON.stringify(body) : body,
      };
    }
    case "delay":
      await new Promise<void>((resolve) => clock.after(fault.ms, resolve));
      return effect ?? handle();
    case "gate":
      await released;
      return effect ?? handle();
    case "hang":
      return "nothing";
    case "drop":
      return "reset";
    case "cut":
      return handle();
    case "drip": {
      const answer = await handle();
      return {
        ...answer,
        body: typeof answer.body === "string" ? drip(answer.body, fault, clock) : answer.body,
      };
    }
    case "garbage":
      return { status: (await handle()).status, body: '\u0000<!doctype html>{"id": oops' };
    case "huge":
      return { status: (await handle()).status, body: padding(fault.length ?? 32 * 1024 * 1024) };
    case "redirect":
      return { status: fault.status ?? 307, headers: { location: fault.to }, body: null };
  }
}

async function* drip(
  body: string,
  { everyMs }: { readonly everyMs: number },
  clock: Clock,
): AsyncIterable<string> {
  for (const character of body) {
    await new Promise<void>((resolve) => clock.after(everyMs, resolve));
    yield character;
  }
}

function* padding(length: number): Iterable<string> {
  const frame = '{"padding":""}';
  const piece = "x".repeat(64 * 1024);
  yield frame.slice(0, -2);
  for (let left = length - frame.length; left > 0; left -= piece.length) yield piece.slice(0, left);
  yield frame.slice(-2);
}

async function send(response: ServerResponse, answer: Answer, cut: boolean): Promise<void> {
  const { status, headers = {}, body } = answer;
  const contentType = body === null ? {} : { "content-type": "application/json" };
  response.writeHead(status, { "cache-control": "no-store", ...contentType, ...headers });
  if (body === null && cut) return void response.socket?.destroy();
  if (body === null) response.end();
  else if (typeof body !== "string") await sendPieces(response, body, cut ? piecesBeforeCut : Infinity);
  else if (cut) response.write(body.slice(0, Math.ceil(body.length / 2)), () => response.socket?.destroy());
  else response.end(body);
}

const piecesBeforeCut = 3;

async function sendPieces(
  response: ServerResponse,
  pieces: Iterable<string> | AsyncIterable<string>,
  most: number,
) {
  let sent = 0;
  for await (const piece of pieces) {
    if (response.destroyed) return;
    sent += 1;
    if (sent >= most) return void response.write(piece, () => response.socket?.destroy());
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Resolves when the response has drained, or has closed and will never drain. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
