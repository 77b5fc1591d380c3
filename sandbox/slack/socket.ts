// Socket Mode: the app opens WebSockets. Each payload goes to one of them and is acknowledged by its envelope id.

import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { parseJson } from "../base/read-body.ts";
import type { SlackContext } from "./context.ts";
import type { Deliver, Outcome, Payload } from "./delivery.ts";
import { addressOf, fromElsewhere, isOurs } from "./http-request.ts";
import { isJson, type Json } from "./json.ts";

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

export const createSockets = (needs: Needs) => {
  const acceptor = new WebSocketServer({ noServer: true });
  const hub: Hub = { ...needs, tickets: new Set(), connections: [], pending: new Map(), timers: new Set() };
  return {
    open: (): string => {
      const ticket = randomBytes(24).toString("base64url");
      hub.tickets.add(ticket);
      return `${needs.url().replace("http", "ws")}socket?ticket=${ticket}`;
    },
    /** Each ticket admits one socket, once. */
    upgrade: (req: IncomingMessage, stream: Duplex, head: Buffer): void => {
      const no = refusal(hub, req);
      if (no !== null) return turnAway(stream, no);
      acceptor.handleUpgrade(req, stream, head, (socket) => welcome(hub, socket));
    },
    deliver: ((payload) => send(hub, payload)) satisfies Deliver,
    connections: (): number => usable(hub).length,
    /** Slack asks every socket to reconnect. After the warning it closes the others. */
    disconnect: (reason: DisconnectReason): void => {
      for (const connection of usable(hub)) retire(hub, connection, reason);
    },
    /** The network fails, without a closing frame. */
    drop: (): void => {
      for (const { socket } of hub.connections) socket.terminate();
    },
    stop: (): void => {
      for (const timer of hub.timers) clearTimeout(timer);
      for (const { socket } of hub.connections) socket.terminate();
      acceptor.close();
    },
  };
};

/** Null: it is admitted, and its ticket is used up. */
const refusal = (hub: Hub, req: IncomingMessage): string | null => {
  if (!isOurs(req, hub.url())) return "421 Misdirected Request";
  const address = addressOf(req);
  if (!address) return "400 Bad Request";
  const { pathname, searchParams } = address;
  // Apps send no Origin, and a page has no ticket unless someone gave it one.
  if (fromElsewhere(req) || pathname !== "/socket") return "403 Forbidden";
  return hub.tickets.delete(searchParams.get("ticket") ?? "") ? null : "403 Forbidden";
};

/** The server has handed over the stream, so its errors and its end are ours. */
const turnAway = (stream: Duplex, status: string): void => {
  stream.on("error", () => stream.destroy());
  stream.once("finish", () => stream.destroy());
  stream.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
};

/** A socket that the app has begun to close gets nothing more. */
const usable = (hub: Hub): Connection[] =>
  hub.connections.filter(({ retiring, socket }) => !retiring && socket.readyState === socket.OPEN);

const welcome = (hub: Hub, socket: WebSocket): void => {
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
};

const retire = (hub: Hub, connection: Connection, reason: DisconnectReason): void => {
  if (connection.retiring) return;
  connection.retiring = true;
  hub.traffic.add("slack", `disconnect: ${reason}`, null);
  connection.socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "sandbox" } }));
  const timer = setTimeout(() => connection.socket.close(), hub.timing.disconnectNoticeMs);
  hub.timers.add(timer);
  connection.socket.on("close", () => forget(hub, timer));
};

const forget = (hub: Hub, timer: NodeJS.Timeout): void => {
  clearTimeout(timer);
  hub.timers.delete(timer);
};

const acknowledge = (hub: Hub, data: RawData): void => {
  const frame = parseJson((data as Buffer).toString("utf8"));
  const id = isJson(frame) ? frame["envelope_id"] : undefined;
  const settle = typeof id === "string" ? hub.pending.get(id) : undefined;
  if (!isJson(frame) || !settle)
    return void hub.traffic.add("app", "frame", frame, "no payload waits for this acknowledgement");
  settle(isJson(frame["payload"]) ? frame["payload"] : {});
};

/** The payloads whose acknowledgement may carry an answer. */
const answerable = ({ kind, body }: Payload): boolean =>
  kind === "slash_commands" || (kind === "interactive" && body["type"] === "view_submission");

const send = (hub: Hub, payload: Payload): Promise<Outcome> => {
  const [chosen] = usable(hub);
  if (!chosen) return Promise.resolve({ ok: false, why: "unreachable" });
  // The socket that was just used goes to the end of the list.
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
};
