// Finds a free port for a process that must know its port before it starts.

import { createServer } from "node:net";

/** Below the range of ephemeral ports, so that the system does not give the port to another process before it is used. */
const FIRST = 12_000;
/** Each process takes consecutive ports from its own block, so that two processes that start at once do not pick the same port. */
const BLOCKS = 100;
const BLOCK = 200;

let taken = 0;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < BLOCK; tries += 1) {
    const port = FIRST + (process.pid % BLOCKS) * BLOCK + (taken % BLOCK);
    taken += 1;
    if (await isFree(port)) return port;
  }
  throw new Error("this machine has no free port");
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
