// Socket Mode: the app opens WebSockets. Each payload is sent over one of them and acknowledged by its envelope id.

import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { parseJson } from "../base/read-body.ts";
import type { SlackContext } from "./slack-context.ts";
import type { Deliver, Outcome, Payload } from "./delivery.ts";
import { addressOf, fromElsewhere, isOurs } from "./http-request.ts";
import { isJson, type Json } from "./json-object.ts";

/** docs.slack.dev, Socket Mode: ten connections at once. */
const maxSockets = 10;

type Needs = Pick<SlackContext, "url" | "timing" | "workspace" | "traffic">;

type Connection = { readonly socket: WebSocket; retiring: boolean };

type Hub = Needs & {
  readonly tickets: Set<string>;
  readonly connections: Connection[];
  readonly pending: Map<string, (ack: Json) => void>;
  readonly timers: Set<NodeJS.Timeout>;
};

type DisconnectReason = "warning" | "refresh_requested" | "link_disabled" | "too_many_websockets";

export function createSockets(needs: Needs) {
  const acceptor = new WebSocketServer({ noServer: true });
  const hub: Hub = { ...needs, tickets: new Set(), connections: [], pending: new Map(), timers: new Set() };
  return {
    open: (): string => {
      const ticket = randomBytes(24).toString("base64url");
      hub.tickets.add(ticket);
      return `${needs.url().replace("http", "ws")}socket?ticket=${ticket}`;
    },
    /** Admits one socket per ticket. */
    upgrade: (req: IncomingMessage, stream: Duplex, head: Buffer): void => {
      const status = refusal(hub, req);
      if (status !== null) return reject(stream, status);
      acceptor.handleUpgrade(req, stream, head, (socket) => welcome(hub, socket));
    },
    deliver: ((payload) => send(hub, payload)) satisfies Deliver,
    connections: (): number => usable(hub).length,
    /** Asks every socket to reconnect, and closes it after the notice period. */
    disconnect: (reason: DisconnectReason): void => {
      for (const connection of usable(hub)) retire(hub, connection, reason);
    },
    /** Cuts every socket without a closing frame, like a network failure. */
    drop: (): void => {
      for (const { socket } of hub.connections) socket.terminate();
    },
    stop: (): void => {
      for (const timer of hub.timers) clearTimeout(timer);
      for (const { socket } of hub.connections) socket.terminate();
      acceptor.close();
    },
  };
}

/** Returns the HTTP status of a refusal. Returns null if the request is admitted, which uses up its ticket. */
function refusal(hub: Hub, req: IncomingMessage): string | null {
  if (!isOurs(req, hub.url())) return "421 Misdirected Request";
  const address = addressOf(req);
  if (!address) return "400 Bad Request";
  const { pathname, searchParams } = address;
  // Apps send no Origin. A web page has no ticket, unless one has leaked to it.
  if (fromElsewhere(req) || pathname !== "/socket") return "403 Forbidden";
  return hub.tickets.delete(searchParams.get("ticket") ?? "") ? null : "403 Forbidden";
}

/** Rejects an upgrade. The server has handed over the stream, so we must handle its errors and its end. */
function reject(stream: Duplex, status: string): void {
  stream.on("error", () => stream.destroy());
  stream.once("finish", () => stream.destroy());
  stream.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/** The sockets that can receive payloads. A socket that the app has started to close receives no more. */
const usable = (hub: Hub): Connection[] =>
  hub.connections.filter(({ retiring, socket }) => !retiring && socket.readyState === socket.OPEN);

function welcome(hub: Hub, socket: WebSocket): void {
  const connection: Connection = { socket, retiring: false };
  hub.connections.push(connection);
  hub.traffic.add("app", "socket connected", { connections: hub.connections.length });
  socket.on("message", (data) => acknowledge(hub, data));
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    hub.connections.splice(hub.connections.indexOf(connection), 1);
    hub.traffic.add("app", "socket closed", { connections: hub.connections.length });
  });
  if (hub.connections.length > maxSockets) return retire(hub, connection, "too_many_websockets");
  const hello = {
    type: "hello",
    num_connections: hub.connections.length,
    debug_info: { host: "sandbox", approximate_connection_time: Math.round(hub.timing.connectionMs / 1000) },
    connection_info: { app_id: hub.workspace.app.id },
  };
  socket.send(JSON.stringify(hello));
  const old = setTimeout(() => retire(hub, connection, "warning"), hub.timing.connectionMs);
  hub.timers.add(old);
  socket.on("close", () => forget(hub, old));
}

function retire(hub: Hub, connection: Connection, reason: DisconnectReason): void {
  if (connection.retiring) return;
  connection.retiring = true;
  hub.traffic.add("slack", `disconnect: ${reason}`, null);
  connection.socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "sandbox" } }));
  const timer = setTimeout(() => connection.socket.close(), hub.timing.disconnectNoticeMs);
  hub.timers.add(timer);
  connection.socket.on("close", () => forget(hub, timer));
}

function forget(hub: Hub, timer: NodeJS.Timeout): void {
  clearTimeout(timer);
  hub.timers.delete(timer);
}

function acknowledge(hub: Hub, data: RawData): void {
  const frame = parseJson((data as Buffer).toString("utf8"));
  const id = isJson(frame) ? frame["envelope_id"] : undefined;
  const settle = typeof id === "string" ? hub.pending.get(id) : undefined;
  if (!isJson(frame) || !settle)
    return void hub.traffic.add("app", "frame", frame, "no payload waits for this acknowledgement");
  settle(isJson(frame["payload"]) ? frame["payload"] : {});
}

/** Whether the acknowledgement of this payload may contain an answer. */
const answerable = ({ kind, body }: Payload): boolean =>
  kind === "slash_commands" || (kind === "interactive" && body["type"] === "view_submission");

function send(hub: Hub, payload: Payload): Promise<Outcome> {
  const [chosen] = usable(hub);
  if (!chosen) return Promise.resolve({ ok: false, why: "unreachable" });
  // Move the socket to the end of the list, so that sockets take turns.
  hub.connections.push(...hub.connections.splice(hub.connections.indexOf(chosen), 1));
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const id = randomUUID();
  const settle = (outcome: Outcome): void => {
    clearTimeout(timer);
    hub.timers.delete(timer);
    hub.pending.delete(id);
    resolve(outcome);
  };
  const timer = setTimeout(() => settle({ ok: false, why: "timeout" }), hub.timing.ackMs);
  hub.timers.add(timer);
  hub.pending.set(id, (ack) => settle({ ok: true, ack: answerable(payload) ? ack : {} }));
  const { kind: type, body, retry } = payload;
  const again = retry ? { retry_attempt: retry.attempt, retry_reason: retry.reason } : {};
  const envelope = {
    envelope_id: id,
    type,
    payload: body,
    accepts_response_payload: answerable(payload),
    ...again,
  };
  chosen.socket.send(JSON.stringify(envelope));
  return promise;
}
