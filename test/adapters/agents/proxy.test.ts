// Calls to the service through a proxy that lets them through, or does not.

import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { createOpen } from "#src/outbound.ts";
import { startProxy } from "../../make/proxy.ts";
import { approval, run, serviceAt, startServer } from "./service.ts";

const HOST = "agents.example.test";
const through = (url: string) => createOpen({ https: url, http: url, except: "" });
const decision = { verdict: "approve", reason: "fine" } as const;

describe("a proxy that lets calls through", () => {
  test("forwards a decision over plain HTTP once, with the key", async () => {
    const server = await startServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(`{"status":"approved"}`);
    });
    const proxy = await startProxy({ [HOST]: Number(new URL(server.url).port) });
    const service = serviceAt(`http://${HOST}`, { open: through(proxy.url) });
    await service.sendDecision(run, approval, decision);
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.headers.authorization).toContain("canary-key");
    expect(server.seen[0]?.headers).not.toHaveProperty("proxy-authorization");
    expect(proxy.asked).toHaveLength(1);
  });
});

describe("a decision that the proxy blocks was certainly not sent", () => {
  test.each([
    ["the proxy requires another password", 407],
    ["the proxy forbids the host", 403],
    ["the proxy cannot reach the host", 502],
  ])("%s", async (_, status) => {
    const proxy = await startProxy({}, status);
    const service = serviceAt(`https://${HOST}`, { open: through(proxy.url) });
    const answer = await service.sendDecision(run, approval, decision);
    expect(answer).toMatchObject({ type: "later", code: "proxy" });
    expect(answer).toMatchObject({ why: expect.stringContaining(`HTTP ${status}`) as unknown });
  });

  test("the proxy is down", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const service = serviceAt(`https://${HOST}`, { open: through(`http://127.0.0.1:${port}`) });
    const answer = await service.sendDecision(run, approval, decision);
    expect(answer).toMatchObject({ type: "later", code: "proxy" });
  });

  test("the proxy accepts the connection and does not answer", { timeout: 20_000 }, async () => {
    const proxy = await startProxy({}, null);
    const service = serviceAt(`https://${HOST}`, { open: through(proxy.url) });
    const answer = await service.sendDecision(run, approval, decision);
    expect(answer).toMatchObject({ type: "later", code: "proxy" });
  });
});

test("an address in a range of NO_PROXY is called directly", async () => {
  const server = await startServer((_, response) => response.writeHead(404).end());
  const proxy = await startProxy({});
  // Connects to this machine, but is not one of its addresses.
  const address = server.url.replace("127.0.0.1", "0.0.0.0");
  const calls = (except: string) =>
    serviceAt(address, { open: createOpen({ https: proxy.url, http: proxy.url, except }) }).fetchRun(run);
  await expect(calls("10.0.0.0/8")).rejects.toMatchObject({ code: "http_502" });
  expect([proxy.asked.length, server.seen.length]).toEqual([1, 0]);
  expect(await calls("10.0.0.0/8,0.0.0.0/8")).toMatchObject({ type: "missing" });
  expect(proxy.asked).toHaveLength(1);
});

test("this machine is called directly, whatever the proxy settings", async () => {
  const server = await startServer((_, response) => response.writeHead(404).end());
  const proxy = await startProxy({});
  for (const host of ["127.0.0.1", "localhost"]) {
    const service = serviceAt(server.url.replace("127.0.0.1", host), { open: through(proxy.url) });
    expect(await service.fetchRun(run)).toMatchObject({ type: "missing" });
  }
  for (const host of ["127.0.0.2", "127.9.8.7", "[::1]"]) {
    const service = serviceAt(server.url.replace("127.0.0.1", host), { open: through(proxy.url) });
    await expect(service.fetchRun(run)).rejects.toMatchObject({ code: "connection_refused" });
  }
  expect(proxy.asked).toEqual([]);
});
