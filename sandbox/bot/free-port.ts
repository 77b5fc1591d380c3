// Finds a free port for a process that must know its port before it starts.

import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range of ephemeral ports, so that the system gives the port to no other process before it is taken. */
const PORTS = { from: 12_000, to: 32_000 };
const PORT_TRIES = 50;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES; tries += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (await isFree(port)) return port;
  }
  throw new Error("this machine gives no free port");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (free) await new Promise((resolve) => void server.close(resolve));
  return free;
}
