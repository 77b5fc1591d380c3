// A loopback HTTP server that can be stopped and started again on the same port.

import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

export type Listener = {
  readonly url: string;
  /** Refuses new connections, and cuts open ones. */
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
};

export type Address = { readonly host: string; readonly port: number };
export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

export async function startListener(address: Address, serve: Serve): Promise<Listener> {
  let server: Server | null = await listen(address, serve);
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the server has no TCP port");
  const { port } = bound;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;

  return {
    url: `http://${host}:${port}`,
    async down() {
      const closing = server;
      server = null;
      if (closing === null) return;
      await new Promise<void>((resolve) => {
        closing.close(() => resolve());
        closing.closeAllConnections();
      });
    },
    async up() {
      server ??= await listen({ host: address.host, port }, serve);
    },
  };
}

/** Starts a listener. If the port is not available, releases what was opened for the server, and rejects. */
export async function startListenerFor(
  release: () => Promise<void>,
  address: Address,
  serve: Serve,
): Promise<Listener> {
  try {
    return await startListener(address, serve);
  } catch (error) {
    await release();
    throw error;
  }
}

function listen({ host, port }: Address, serve: Serve): Promise<Server> {
  /** The last request on each connection, and its answer. */
  const last = new WeakMap<Duplex, readonly [IncomingMessage, ServerResponse]>();
  const serveAndRemember: Serve = (request, response) => {
    last.set(request.socket, [request, response]);
    serve(request, response);
  };
  const server = createServer(serveAndRemember);
  // Unknown expectations are ignored. Node itself answers `100-continue`.
  server.on("checkExpectation", serveAndRemember);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const refuseNow = () => refuse(error.code ?? "", socket);
    const [request, response] = last.get(socket) ?? [];
    // A complete request may have taken effect, so send its own answer before the error for the input after it.
    if (request?.complete === true && response?.writableFinished === false) response.once("close", refuseNow);
    else refuseNow();
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}

const notHttp = { status: "400 Bad Request", message: "The request is not valid HTTP." };
const refused: Readonly<Record<string, typeof notHttp>> = {
  HPE_HEADER_OVERFLOW: {
    status: "431 Request Header Fields Too Large",
    message: "The headers are too large.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: "408 Request Timeout", message: "The request did not arrive in time." },
};

/** Sends an error record for input that is not a valid request, if the client is still connected. */
function refuse(code: string, socket: Duplex) {
  if (!socket.writable || code === "ECONNRESET") return void socket.destroy();
  const { status, message } = refused[code] ?? notHttp;
  const body = JSON.stringify({ error: { code: "invalid_request", message } });
  const headers = `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`);
}
