import { once } from "node:events";
import http from "node:http";
import { text } from "node:stream/consumers";
import net, { type AddressInfo } from "node:net";
import nock from "nock";
import { afterAll, afterEach, beforeAll, onTestFinished } from "vitest";
import { createAgentService, type AgentServiceOptions } from "#src/adapters/agents/agent-service.ts";
import { ApprovalId, RunId } from "#src/domain/ids.ts";

export const KEY = "canary-key-5f1c9a";
export const NOW = Date.UTC(2026, 10, 20, 10, 0, 0);
export const run = RunId("run_1");
export const approval = ApprovalId("apr_1");

/** The client is closed when the test is over. */
export function serviceAt(baseUrl: string, options: Partial<AgentServiceOptions> = {}) {
  const service = createAgentService({
    baseUrl,
    apiKey: () => KEY,
    denyWord: "deny",
    now: () => NOW,
    monotonic: () => NOW,
    ...options,
  });
  onTestFinished(() => service.close());
  return service;
}

export type Seen = { method: string; url: string; headers: http.IncomingHttpHeaders; body: string };

/** Starts a real server on this machine. `seen` contains the requests that reached it. */
export async function startServer(
  answer: (request: Seen, response: http.ServerResponse) => void,
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const take = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const { method = "", url = "", headers } = request;
    const one = { method, url, headers, body: await text(request) };
    seen.push(one);
    answer(one, response);
  };
  const server = http.createServer((request, response) => void take(request, response));
  return { url: await listening(server), seen };
}

/** Starts a server that speaks raw bytes instead of HTTP. */
export async function startBytes(talk: (socket: net.Socket) => void): Promise<string> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    talk(socket);
  });
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  return listening(server);
}

/** Returns an address on which nothing listens. */
export async function nobody(): Promise<string> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

async function listening(server: net.Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    if (server instanceof http.Server) server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// On import, nock patches the sockets of the whole process, which other test files share.
nock.restore();

/** Activates nock for the tests of this file only. */
export function useNock(): void {
  beforeAll(() => nock.activate());
  afterEach(() => nock.cleanAll());
  afterAll(() => nock.restore());
}
