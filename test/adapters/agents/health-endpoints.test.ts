import { describe, expect, onTestFinished, test } from "vitest";
import { createGateway, type GatewayOptions } from "#src/adapters/agents/health-endpoints.ts";
import { KEY, nobody, serviceAt, startBytes, startServer } from "./service.ts";

const BODY = {
  service: "gateway",
  status: "ok",
  message: "LLM billing gateway",
  endpoints: ["POST /v1/messages", "GET /healthz"],
};

function gatewayAt(baseUrl: string, options: Partial<GatewayOptions> = {}) {
  let now = 0;
  const gateway = createGateway({ baseUrl, monotonic: () => (now += 5), ...options });
  onTestFinished(() => gateway.close());
  return gateway;
}

async function faultOf(body: string, status = 200): Promise<string | null> {
  const { url } = await startServer((_request, response) => response.writeHead(status).end(body));
  const { ok, fault } = await gatewayAt(url).health();
  expect(ok).toBe(fault === null);
  return fault;
}

describe("the service's health", () => {
  test("is requested without the key", async () => {
    const { url, seen } = await startServer((_request, response) =>
      response.end('{"status":"ok","version":"1.4.2"}'),
    );
    await expect(serviceAt(`${url}/team`).health()).resolves.toEqual({
      ok: true,
      latencyMs: 0,
      fault: null,
      publicFault: null,
      says: { status: "ok", version: "1.4.2" },
    });
    expect(seen).toMatchObject([{ method: "GET", url: "/team/v1/health" }]);
    expect(JSON.stringify(seen)).not.toContain(KEY);
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });
});

describe("the gateway's health", () => {
  test("contains what the gateway says, and how long it took", async () => {
    const { url, seen } = await startServer((_request, response) =>
      response.end(JSON.stringify({ ...BODY, more: 1 })),
    );
    await expect(gatewayAt(url).health()).resolves.toEqual({
      ok: true,
      latencyMs: 5,
      fault: null,
      publicFault: null,
      says: BODY,
    });
    expect(seen).toMatchObject([{ method: "GET", url: "/healthz" }]);
    expect(seen[0]?.headers.authorization).toBeUndefined();
  });

  test.each([
    ["OK", 200, "The token gateway did not answer with a JSON record."],
    ["[]", 200, "The token gateway did not answer with a JSON record."],
    ["", 204, "The token gateway did not answer with a JSON record."],
    ["[".repeat(30_000) + "]".repeat(30_000), 200, "The token gateway did not answer with a JSON record."],
    ["{}", 200, 'The token gateway calls its status null, not "ok".'],
    ['{"status":"degraded\\u202e"}', 200, 'The token gateway calls its status "degraded⟨U+202E⟩", not "ok".'],
    ['{"status":"ok"}', 503, "The token gateway answered HTTP 503 (Service Unavailable)."],
    [
      '{"status":"ok"}',
      302,
      "The token gateway answered HTTP 302 (Found), a redirect, which is not followed.",
    ],
    ["x".repeat(70_000), 200, "The token gateway sent an answer that is larger than 64 KiB."],
  ])("counts as faulty when it says %.20j with HTTP %i", async (body, status, fault) => {
    await expect(faultOf(body, status)).resolves.toBe(fault);
  });

  test("counts as faulty when nothing listens, in plain words", async () => {
    const url = await nobody();
    await expect(gatewayAt(url).health()).resolves.toEqual({
      ok: false,
      latencyMs: 5,
      fault: `The token gateway refused the connection: nothing listens at ${new URL(url).host}.`,
      publicFault: "The token gateway refused the connection: nothing listens at its address.",
      says: {},
    });
  });

  test("counts as faulty when it does not answer in time", async () => {
    const url = await startBytes(() => {});
    await expect(gatewayAt(url, { timeoutMs: 30 }).health()).resolves.toMatchObject({
      ok: false,
      fault: "The token gateway did not answer within 0.03 s.",
    });
  });

  test("counts as faulty when its host name is unknown", async () => {
    const { fault } = await gatewayAt("http://gateway.invalid").health();
    expect(fault).toContain("gateway.invalid could not be looked up");
  });
});
