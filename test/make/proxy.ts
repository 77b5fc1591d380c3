// A typical corporate proxy: it tunnels (CONNECT) and forwards, requires a password, and resolves names that the machine itself cannot
// resolve.

import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export const PROXY_PASSWORD = "pa$s word-canary";

export type Proxy = {
  /** The URL, including user and password. */
  readonly url: string;
  /** The requests in order: "CONNECT host:port" or "GET http://host/path". */
  readonly asked: readonly string[];
  readonly port: number;
};

/**
 * Starts a proxy, which ends with the test. `where` maps host names to ports on this machine; other names get 502. `answer` is a status to
 * answer to each CONNECT instead, or null to never answer.
 */
export async function startProxy(
  where: { readonly [host: string]: number },
  answer?: number | null,
): Promise<Proxy> {
  const asked: string[] = [];
  const server = http.createServer();
  const sockets = new Set<net.Socket>();
  const known = (given: string | undefined): boolean =>
    given === `Basic ${Buffer.from(`bot:${PROXY_PASSWORD}`).toString("base64")}`;
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (request, socket: net.Socket, head) => {
    asked.push(`CONNECT ${request.url ?? ""}`);
    if (answer === null) return;
    const port = where[(request.url ?? "").split(":")[0] ?? ""];
    const status =
      answer ?? (known(request.headers["proxy-authorization"]) ? (port === undefined ? 502 : 200) : 407);
    if (status !== 200 || port === undefined) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    join(socket, net.connect(port, "127.0.0.1"), head);
  });
  server.on("request", (request, response) => {
    asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
    const port = where[new URL(request.url ?? "").hostname];
    if (port === undefined || !known(request.headers["proxy-authorization"]))
      return void response.writeHead(port === undefined ? 502 : 407).end();
    const { pathname, search } = new URL(request.url ?? "");
    const { method } = request;
    const { "proxy-authorization": _ours, ...headers } = request.headers;
    const onward = http.request({ host: "127.0.0.1", port, path: pathname + search, method, headers });
    onward.on("response", (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(response);
    });
    request.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://bot:${encodeURIComponent(PROXY_PASSWORD)}@127.0.0.1:${port}`;
  return { url, asked, port };
}

function join(near: net.Socket, far: net.Socket, head: Buffer): void {
  far.once("connect", () => {
    near.write("HTTP/1.1 200 Connection established\r\n\r\n");
    far.write(head);
    near.pipe(far).pipe(near);
  });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}
