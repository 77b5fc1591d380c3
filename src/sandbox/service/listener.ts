// A loopback HTTP server that can be taken down and brought up again on the same port.

import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";

export type Listener = {
  readonly url: string;
  /** From now on connections are refused; those open are cut. */
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

function listen({ host, port }: Address, serve: Serve): Promise<Server> {
  const server = createServer(serve);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}
