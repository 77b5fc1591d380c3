import type { Socket } from "node:net";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { AgentServiceOptions } from "#src/adapters/agents/agent-service.ts";
import { approval, KEY, nobody, run, serviceAt, startBytes, startServer } from "./service.ts";

const LIMIT_MS = 80;
const DECISION = { verdict: "approve", reason: "because" } as const;

/** Makes each of the three calls to the same service, and returns what came of them. */
async function ask(url: string, options: Partial<AgentServiceOptions> = {}) {
  const service = serviceAt(url, { timeoutMs: LIMIT_MS, ...options });
  const failure = (call: Promise<unknown>) =>
    call.then(
      (value) => ({ value }),
      (error: unknown) => {
        expect(inspect(error, { depth: null, showHidden: true })).not.toContain(KEY);
        return error;
      },
    );
  const [fetchRun, create, resolve] = await Promise.all([
    failure(service.fetchRun(run)),
    failure(service.create("task", "abcdefgh")),
    service.sendDecision(run, approval, DECISION),
  ]);
  return { fetchRun, create, resolve };
}

/** Answers once the head of a request has arrived. */
function afterHead(talk: (socket: Socket) => void) {
  return (socket: Socket) => {
    socket.once("data", () => talk(socket));
  };
}

const lost = (code: string) => ({
  fetchRun: { code, applied: "no", retry: "later" },
  create: { code, applied: "maybe" },
  resolve: { type: "unsure" },
});

const unsent = (code: string) => ({
  fetchRun: { code, applied: "no", retry: "later" },
  create: { code, applied: "no", retry: "later" },
  resolve: { type: "later", afterMs: null },
});

describe("an answer is lost", () => {
  test("when the service does not answer within the limit", async () => {
    const url = await startBytes(() => {});
    const asked = await ask(url);
    expect(asked).toMatchObject(lost("timeout"));
    expect(asked.fetchRun).toMatchObject({ message: "The agent service did not answer within 0.08 s." });
  });

  test("when its body does not end within the limit, even if bytes keep coming", async () => {
    const url = await startBytes(
      afterHead((socket) => {
        socket.write(
          "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        );
        const drip = setInterval(() => socket.write("1\r\n \r\n"), 10);
        socket.on("close", () => clearInterval(drip));
      }),
    );
    expect(await ask(url)).toMatchObject(lost("timeout"));
  });

  test("when the connection breaks before the answer", async () => {
    const url = await startBytes(afterHead((socket) => socket.resetAndDestroy()));
    expect(await ask(url)).toMatchObject(lost("reset"));
  });

  test("when the connection closes before the answer", async () => {
    const url = await startBytes(afterHead((socket) => socket.end()));
    expect(await ask(url)).toMatchObject(lost("reset"));
  });

  test("when only half of the body arrives", async () => {
    const url = await startBytes(
      afterHead((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":"run_1","sta')),
    );
    expect(await ask(url)).toMatchObject(lost("reset"));
  });

  test("when it is not HTTP", async () => {
    const url = await startBytes(afterHead((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n\r\n")));
    expect(await ask(url)).toMatchObject(lost("garbled"));
  });

  test("when it echoes the request, and the key in it is not passed on", async () => {
    const url = await startBytes((socket) => socket.pipe(socket));
    expect(await ask(url)).toMatchObject(lost("garbled"));
  });

  test("when it is larger than the cap, announced or not", async () => {
    const big = JSON.stringify({ id: run, status: "queued", output: "x".repeat(2_000) });
    const announced = await startServer((_request, response) => response.end(big));
    const dripping = await startServer((_request, response) => {
      response.write(big.slice(0, 900));
      response.write(big.slice(900));
      response.end();
    });
    for (const { url } of [announced, dripping])
      expect(await ask(url, { maxBodyBytes: 1_000, timeoutMs: 5_000 })).toMatchObject(lost("too_large"));
  });
});

describe("nothing was sent", () => {
  test("when nothing listens", async () => {
    const url = await nobody();
    const asked = await ask(url);
    expect(asked).toMatchObject(unsent("connection_refused"));
    expect(asked.fetchRun).toMatchObject({
      message: `The agent service refused the connection: nothing listens at ${new URL(url).host}.`,
    });
  });

  test("when the service speaks no TLS, or hangs up before the handshake is done", async () => {
    const plain = await startBytes(afterHead((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
    const broken = await startBytes(afterHead((socket) => socket.resetAndDestroy()));
    for (const url of [plain, broken])
      expect(await ask(url.replace("http:", "https:"), { timeoutMs: 5_000 })).toMatchObject(unsent("tls"));
  });

  test("after the client was closed", async () => {
    const { url, seen } = await startServer((_request, response) => response.end());
    const service = serviceAt(url);
    await service.close();
    await expect(service.fetchRun(run)).rejects.toMatchObject({ code: "closed", applied: "no" });
    await expect(service.sendDecision(run, approval, DECISION)).resolves.toMatchObject({ type: "later" });
    expect(seen).toEqual([]);
  });
});

describe("every call is one request", () => {
  test.each([500, 503, 429, 408, 401, 404])("also if HTTP %i answers", async (status) => {
    const { url, seen } = await startServer((_request, response) => response.writeHead(status).end());
    await ask(url, { timeoutMs: 5_000 });
    expect(seen.map(({ method }) => method).sort()).toEqual(["GET", "POST", "POST"]);
  });

  test.each([301, 302, 303, 307, 308])("and a redirect by HTTP %i is not followed", async (status) => {
    const elsewhere = await startServer((_request, response) => response.end("{}"));
    const { url, seen } = await startServer((_request, response) =>
      response.writeHead(status, { location: `${elsewhere.url}/stolen` }).end(),
    );
    const asked = await ask(url, { timeoutMs: 5_000 });
    const code = `http_${status}`;
    expect(asked).toMatchObject(lost(code));
    expect(String(asked.fetchRun)).toContain("a redirect, which is not followed");
    expect([seen.length, elsewhere.seen.length]).toEqual([3, 0]);
  });

  test("and a POST never uses a kept-alive connection", async () => {
    const { url, seen } = await startServer((_request, response) =>
      response.end(JSON.stringify({ id: run, status: "queued" })),
    );
    const service = serviceAt(url);
    for (let round = 0; round < 2; round += 1) {
      await service.fetchRun(run);
      await service.create("task", "abcdefgh");
    }
    expect(seen.map(({ method, headers }) => `${method} ${headers.connection}`)).toEqual([
      "GET keep-alive",
      "POST close",
      "GET keep-alive",
      "POST close",
    ]);
  });
});

test("a POST does not wait behind hanging polls", async () => {
  const hanging = Promise.withResolvers<void>();
  const { url } = await startServer(({ method }, response) => {
    if (method === "POST") response.writeHead(204).end();
    else hanging.resolve();
  });
  const service = serviceAt(url, { connections: 1, timeoutMs: 1_000 });
  const looking = Promise.allSettled([service.fetchRun(run), service.fetchRun(run)]);
  await hanging.promise;
  await expect(service.sendDecision(run, approval, DECISION)).resolves.toEqual({ type: "confirmed" });
  expect((await looking).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("closing waits for the answer to a decision that is under way", async () => {
  const arrived = Promise.withResolvers<() => void>();
  const { url } = await startServer((_request, response) =>
    arrived.resolve(() => response.writeHead(204).end()),
  );
  const service = serviceAt(url);
  const resolving = service.sendDecision(run, approval, DECISION);
  const answer = await arrived.promise;
  const closing = service.close();
  answer();
  await expect(resolving).resolves.toEqual({ type: "confirmed" });
  await closing;
});

test("a call's own limit shortens the usual one", async () => {
  const url = await startBytes(() => {});
  await expect(serviceAt(url).fetchRun(run, 30)).rejects.toThrow("did not answer within 0.03 s");
});
