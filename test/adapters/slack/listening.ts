import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { onTestFinished } from "vitest";

export type Received = { readonly url: string; readonly method: string; readonly body: string };

/** Starts a server on loopback for one test. Returns its address and the requests that it received. */
export async function listening(
  answer: RequestListener = (_request, response) => void response.end("ok"),
): Promise<{ url: string; port: number; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const receive = async (): Promise<void> => {
      received.push({ url: request.url ?? "", method: request.method ?? "", body: await textOf(request) });
      answer(request, response);
    };
    void receive();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return { url: `http://127.0.0.1:${address.port}/`, port: address.port, received };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
