import { once } from "node:events";
import type http from "node:http";
import net from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { blockOf, type HttpOptions, startHttp } from "#src/adapters/http/server.ts";
import { eventually } from "../../make/eventually.ts";

async function start(options: Partial<HttpOptions> = {}) {
  const server = await startHttp({
    host: "127.0.0.1",
    port: 0,
    live: () => true,
    ready: async () => ({ status: "ok", version: "1.2.3", checks: { store: "ok" } }),
    metrics: async () => ({ contentType: "text/plain; version=0.0.4", body: "up 1\n" }),
    ...options,
  });
  onTestFinished(() => server.close());
  const get = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${server.url}${path}`, init);
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  return { server, get };
}

describe("our HTTP side", () => {
  test("reports whether the process is alive", async () => {
    let live = true;
    const { get } = await start({ live: () => live });
    await expect(get("/livez")).resolves.toMatchObject({ status: 200, body: "alive\n" });
    live = false;
    await expect(get("/livez?verbose")).resolves.toMatchObject({ status: 503, body: "not alive\n" });
  });

  test("reports whether it is ready, part by part", async () => {
    const checks = { store: "ok", slack: "not connected yet" };
    const { get } = await start({ ready: async () => ({ status: "not ready", version: "1.2.3", checks }) });
    const { status, body } = await get("/readyz");
    expect([status, JSON.parse(body)]).toEqual([503, { status: "not ready", version: "1.2.3", checks }]);
  });

  test("shows the metrics in their own content type", async () => {
    const { get } = await start();
    const { headers, body } = await get("/metrics");
    expect([headers.get("content-type"), body]).toEqual(["text/plain; version=0.0.4", "up 1\n"]);
  });

  test("is not ready, but keeps running, when the check itself fails", async () => {
    const { get } = await start({ ready: () => Promise.reject(new Error("xoxb-secret")) });
    const { status, body } = await get("/readyz");
    expect([status, body]).toEqual([500, "Countersign could not answer this.\n"]);
    await expect(get("/livez")).resolves.toMatchObject({ status: 200 });
  });

  test.each(["/", "/slack/events", "/livez/", "/__proto__", "/constructor", "/toString", "//livez"])(
    "has nothing at %s",
    async (path) => {
      const { get } = await start();
      const { status, body } = await get(path);
      expect([status, body]).toEqual([404, "There is nothing here. Try /livez, /readyz or /metrics.\n"]);
    },
  );

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])("answers no %s", async (method) => {
    const { get } = await start();
    const { status, headers, body } = await get("/livez", { method });
    expect([status, headers.get("allow"), body]).toEqual([
      405,
      "GET, HEAD",
      "/livez answers GET and HEAD only.\n",
    ]);
  });

  test("passes Slack's path, and no other, to Slack's listener", async () => {
    const paths: (string | undefined)[] = [];
    const listener: http.RequestListener = ({ url }, response) => {
      paths.push(url);
      response.end("slack");
    };
    const { get } = await start({ slack: { path: "/slack/events", listener } });
    await expect(get("/slack/events?x=1", { method: "POST" })).resolves.toMatchObject({ body: "slack" });
    await expect(get("/slack/events/")).resolves.toMatchObject({ status: 404 });
    expect(paths).toEqual(["/slack/events?x=1"]);
  });
});

test("a port in use is reported in plain words", async () => {
  const { server } = await start();
  await expect(start({ port: server.port })).rejects.toThrow(
    `cannot listen on 127.0.0.1, port ${server.port}: another process uses this port. Stop it, or set PORT to another number.`,
  );
});

test("an address that this machine does not have is reported in plain words", async () => {
  await expect(start({ host: "192.0.2.1" })).rejects.toThrow("this machine does not have that address");
});

test("closing ends idle connections, lets a response under way finish, and may be repeated", async () => {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { server, get } = await start({
    ready: async () => {
      asked.resolve();
      await gate.promise;
      return { status: "ok", version: "1.2.3", checks: {} };
    },
  });
  const idle = net.connect(server.port, "127.0.0.1");
  await once(idle, "connect");
  idle.write("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(idle, "data");
  const slow = get("/readyz");
  await asked.promise;
  const closing = server.close();
  await once(idle, "close");
  gate.resolve();
  await expect(slow).resolves.toMatchObject({ status: 200 });
  await closing;
  await server.close();
  await expect(get("/livez")).rejects.toThrow("fetch failed");
});

describe("connections", () => {
  /** Sends what is not HTTP, receives the refusal, and never closes its own side. */
  async function stubborn(port: number): Promise<net.Socket> {
    const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    socket.resume().write("no http at all\r\n\r\n");
    await once(socket, "end");
    return socket;
  }

  test("that were refused and are kept half open free their slots", async () => {
    const { server, get } = await start({ connections: { inAll: 4, perAddress: 4 } });
    await Promise.all(Array.from({ length: 4 }, () => stubborn(server.port)));
    await eventually(() => expect(get("/livez")).resolves.toMatchObject({ status: 200 }));
  });

  test("beyond the limit of one address are closed at once and counted, and slots are freed", async () => {
    const rejectedRequests: string[] = [];
    const { server, get } = await start({
      connections: { inAll: 100, perAddress: 3 },
      rejectedRequests: (because) => void rejectedRequests.push(because),
    });
    const held = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const socket = net.connect(server.port, "127.0.0.1");
        await once(socket, "connect");
        return socket;
      }),
    );
    await expect(get("/livez")).rejects.toThrow("fetch failed");
    expect(rejectedRequests).toEqual(["too-many"]);
    for (const socket of held) socket.destroy();
    await eventually(() => expect(get("/livez")).resolves.toMatchObject({ status: 200 }));
  });

  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:db8::9", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
  ])("from %s count as from %s", (address, block) => expect(blockOf(address)).toBe(block));
});
