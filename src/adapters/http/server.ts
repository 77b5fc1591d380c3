// Our HTTP server: liveness, readiness, metrics and, in HTTP mode, Slack's path. The number of connections is limited.

import { once } from "node:events";
import type http from "node:http";
import net from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { PartHealth } from "../../ports/monitoring.ts";

export type HttpOptions = {
  readonly host: string;
  readonly port: number;
  /** Returns false if the process is stuck and should be restarted. */
  readonly live: () => boolean;
  readonly ready: () => Promise<Readiness>;
  readonly metrics: () => Promise<{ contentType: string; body: string }>;
  /** In HTTP mode, handles Slack's requests. It verifies, limits and answers them itself. */
  readonly slack?: { readonly path: string; readonly listener: http.RequestListener };
  /** Called for input that is not HTTP, too slow or too large. */
  readonly rejectedRequests?: (because: string) => void;
  readonly connections?: ConnectionLimits;
};

/** `checks` has "ok" or the fault of each part. "degraded" means that a part is faulty but the process still does its work. */
export type Readiness = {
  readonly status: "ok" | "degraded" | "not ready";
  readonly version: string;
  readonly checks: { readonly [part: string]: string };
};

export function readinessOf(parts: readonly PartHealth[], version: string): Readiness {
  const checks = Object.fromEntries(parts.map(({ part, fault }) => [part, fault ?? "ok"]));
  const isFaulty = parts.some(({ fault }) => fault !== null);
  const status = parts.some(({ unready }) => unready) ? "not ready" : isFaulty ? "degraded" : "ok";
  return { status, version, checks };
}

export type HttpServer = { readonly url: string; readonly port: number; close(): Promise<void> };

type Page = { readonly status: number; readonly type: string; readonly body: string };

/** An import of node:http would read its export `WebSocket` and so load Node's own fetch, which we do not use. That takes 30 ms of a start. */
const { createServer } = process.getBuiltinModule("node:http");

/** Slack expects its answer within 3 s and sends the whole request at once; probes and scrapers have no body. */
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** The limit for all headers of one request (bytes). The same as Node's default. */
const MAX_HEADER_BYTES = 16_384;
/** How long the other side may take to read a rejection (ms). After that we close the connection. */
const REFUSED_LINGER_MS = 1_000;
/** How long answers in progress may take when we stop (ms). */
const CLOSE_GRACE_MS = 5_000;
const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";

export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const { host, port, slack } = options;
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const server = createServer(limits, (request, response) => {
    const path = pathOf(request);
    if (slack !== undefined && path === slack.path) slack.listener(request, response);
    else void answer(options, path, request, response);
  });
  limitConnections(server, options.connections ?? CONNECTION_LIMITS, () =>
    options.rejectedRequests?.("too-many"),
  );
  server.on("clientError", (error, socket) => turnAway(options, error, socket));
  await listen(server, host, port);
  const { port: bound } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return { url: `http://${name}:${bound}`, port: bound, close: () => close(server) };
}

/** Answers input that never became a request. Node has read only its beginning. */
function turnAway({ rejectedRequests }: HttpOptions, error: Error, socket: Duplex): void {
  const code = "code" in error ? error.code : "";
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, because] = BROKEN.get(code) ?? ["400 Bad Request", "no-http"];
  rejectedRequests?.(because);
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  // After `end` alone, the connection would count against the limit for as long as the other side keeps it open.
  setTimeout(() => socket.destroy(), REFUSED_LINGER_MS).unref();
}

const BROKEN = new Map<unknown, readonly [status: string, because: string]>([
  ["ERR_HTTP_REQUEST_TIMEOUT", ["408 Request Timeout", "too-slow"]],
  ["HPE_HEADER_OVERFLOW", ["431 Request Header Fields Too Large", "too-many-headers"]],
]);

async function answer(
  options: HttpOptions,
  path: string,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const page = await pageFor(options, path, request.method).catch((): Page =>
    text(500, "Countersign could not answer this."),
  );
  response.writeHead(page.status, {
    "content-type": page.type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-length": Buffer.byteLength(page.body),
    ...(page.status === 405 ? { allow: "GET, HEAD" } : {}),
  });
  // Node omits the body in the answer to a HEAD request.
  response.end(page.body);
  // Discards the request's body instead of waiting for it.
  request.resume();
}

async function pageFor(options: HttpOptions, path: string, method: string | undefined): Promise<Page> {
  const page = pages[path];
  if (page === undefined) return text(404, "There is nothing here. Try /livez, /readyz or /metrics.");
  if (method !== "GET" && method !== "HEAD") return text(405, `${path} answers GET and HEAD only.`);
  return page(options);
}

const pages: { readonly [path: string]: (options: HttpOptions) => Promise<Page> } = {
  "/livez": async ({ live }) => (live() ? text(200, "alive") : text(503, "not alive")),
  "/readyz": async ({ ready }) => {
    const readiness = await ready();
    const body = `${JSON.stringify(readiness, null, 2)}\n`;
    return { status: readiness.status === "not ready" ? 503 : 200, type: JSON_TYPE, body };
  },
  "/metrics": async ({ metrics }) => {
    const { contentType, body } = await metrics();
    return { status: 200, type: contentType, body };
  },
};

function text(status: number, words: string): Page {
  return { status, type: TEXT, body: `${words}\n` };
}

function pathOf({ url = "/" }: http.IncomingMessage): string {
  return url.split("?", 1)[0] ?? "/";
}

async function listen(server: http.Server, host: string, port: number): Promise<void> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(`cannot listen on ${host}, port ${port}: ${whyNot(error)}`, { cause: error });
  }
}

function whyNot(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "EADDRINUSE":
      return "another process uses this port. Stop it, or set PORT to another number.";
    case "EACCES":
      return "this user may not use this port. Set PORT to a number above 1023.";
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "this machine does not have that address. Set HOST to one that it has, such as 127.0.0.1.";
    default:
      return error instanceof Error ? error.message : "unknown fault";
  }
}

async function close(server: http.Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  await closed;
  clearTimeout(timer);
}

// Limits the connections, in total and from one address, so that no single address can block the port.

/** `perAddress` is well above what a reverse proxy keeps open, because all its requests come from one address. */
type ConnectionLimits = { readonly inAll: number; readonly perAddress: number };

const CONNECTION_LIMITS: ConnectionLimits = { inAll: 1_024, perAddress: 384 };

function limitConnections(
  server: http.Server,
  { inAll, perAddress }: ConnectionLimits,
  rejectedRequests: () => void,
): void {
  const open = new Map<string, number>();
  server.maxConnections = inAll;
  server.on("drop", rejectedRequests);
  server.on("connection", (socket: Socket) => {
    const address = blockOf(socket.remoteAddress ?? "");
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count <= perAddress) return;
    rejectedRequests();
    socket.destroy();
  });
}

/** Returns the address, or the /64 network of an IPv6 address. Such a network usually belongs to one user, so it counts as one address. */
export function blockOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !net.isIPv6(address)) return mapped ?? address;
  const [head = "", tail] = (address.split("%", 1)[0] ?? "").split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [first, last] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  const all = [...first, ...Array<string>(Math.max(zeros, 0)).fill("0"), ...last];
  return `${all.slice(0, 4).join(":")}::/64`;
}
