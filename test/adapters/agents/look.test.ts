import { inspect } from "node:util";
import { MockAgent } from "undici";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { PortError } from "#src/ports.ts";
import { RunId } from "#src/domain/ids.ts";
import { KEY, NOW, run, serviceAt, startServer } from "./service.ts";

const BASE = "http://agents.test";
let agent: MockAgent;

beforeEach(() => {
  agent = new MockAgent();
  agent.disableNetConnect();
  onTestFinished(() => agent.close());
});

function answers(status: number, body: string | object, headers: Record<string, string> = {}) {
  agent
    .get(BASE)
    .intercept({ path: `/v1/agent/runs/${run}` })
    .reply(status, body, { headers });
  return serviceAt(BASE, { dispatcher: agent }).fetchRun(run);
}

async function fails(looking: Promise<unknown>): Promise<PortError> {
  const error = await looking.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof PortError)) throw new Error("did not fail with a PortError", { cause: error });
  expect(error.applied).toBe("no");
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain(KEY);
  return error;
}

describe("a look", () => {
  test("returns a snapshot of the run, dated before the look was sent", async () => {
    await expect(answers(200, { id: run, status: "queued" })).resolves.toMatchObject({
      type: "snapshot",
      snapshot: { id: run, status: "queued", askedAt: NOW },
    });
  });

  test("accepts any 2xx", async () => {
    await expect(answers(206, { id: run, status: "queued" })).resolves.toMatchObject({ type: "snapshot" });
  });

  test('returns "missing" after 404, whatever its body', async () => {
    await expect(answers(404, "<html>")).resolves.toEqual({ type: "missing", askedAt: NOW });
  });

  test.each([401, 403])(
    "that HTTP %i answers says so, and may be tried later, because a new key may help",
    async (status) => {
      await expect(
        fails(answers(status, { error: { code: "unauthorized", message: `no ${KEY}` } })),
      ).resolves.toMatchObject({
        code: `http_${status}`,
        retry: "later",
        message: `The agent service answered HTTP ${status} (unauthorized): no [key]`,
      });
    },
  );

  test.each([
    ["7", 7_000],
    ["0", 0],
    ["1.5", 1_500],
    ["999999999", 3_600_000],
    [new Date(NOW + 90_000).toUTCString(), 90_000],
    [new Date(NOW - 90_000).toUTCString(), 0],
    ["soon", null],
    ["", null],
    ["-5", null],
  ])('that gets "Retry-After: %s" reports for how long', async (header, ms) => {
    const headers = { "retry-after": header };
    await expect(fails(answers(429, "", headers))).resolves.toMatchObject({
      code: "http_429",
      retry: "later",
      retryAfterMs: ms,
    });
    await expect(fails(answers(503, "", headers))).resolves.toMatchObject({
      code: "http_503",
      retry: "later",
      retryAfterMs: ms,
    });
  });

  test.each([
    [302, "later"],
    [408, "later"],
    [500, "later"],
    [599, "later"],
    [400, "never"],
    [422, "never"],
  ])("that HTTP %i answers is worth another attempt: %s", async (status, retry) => {
    await expect(fails(answers(status, ""))).resolves.toMatchObject({ code: `http_${status}`, retry });
  });

  test.each([
    ["text", "OK, thank you."],
    ["nothing", ""],
    ["another run", { id: "run_2", status: "queued" }],
    ["no status", { id: run }],
  ])("that gets %s is garbled", async (_what, body) => {
    await expect(fails(answers(200, body))).resolves.toMatchObject({ code: "garbled", retry: "later" });
  });

  test("during which our own reader fails is garbled, and does not quote the answer", async () => {
    agent
      .get(BASE)
      .intercept({ path: `/v1/agent/runs/${run}` })
      .reply(200, { id: run, status: "queued" });
    const now = () => {
      throw new RangeError(KEY);
    };
    const looking = serviceAt(BASE, { dispatcher: agent, now }).fetchRun(run);
    await expect(fails(looking)).resolves.toMatchObject({
      code: "garbled",
      retry: "later",
      message: "The agent service sent an answer that cannot be used: reading it failed (RangeError).",
    });
  });

  test("reports errors in the service's words, clipped, on one line, with invisible characters made visible", async () => {
    const { message } = await fails(
      answers(500, { error: { code: "x", message: `a\n\u202eb ${"c".repeat(900)}` } }),
    );
    expect(message).toMatch(/^The agent service answered HTTP 500 \(x\): a ⟨U\+202E⟩b c+… \(\d+ more\)$/);
    expect(message.length).toBeLessThan(350);
  });

  test.each([
    [{ error: "broken" }, "(Internal Server Error): broken"],
    [{ detail: "broken" }, "(Internal Server Error): broken"],
    [{ message: "broken" }, "(Internal Server Error): broken"],
    [{ error: { message: 5 } }, "(Internal Server Error)."],
    [{ error: { code: "a (b)", message: "broken" } }, "(a b): broken"],
    ["broken\n", "(Internal Server Error): broken"],
    ["  <!doctype html><p>broken", "(Internal Server Error), with a page of HTML or XML."],
    [["broken"], "(Internal Server Error)."],
    ["", "(Internal Server Error)."],
  ])("finds the error message in %j", async (body, words) => {
    const { message } = await fails(answers(500, body));
    expect(message).toBe(`The agent service answered HTTP 500 ${words}`);
  });

  test.each(["..", ".", "\udfff"])("for the id %j is not sent", async (id) => {
    const looking = serviceAt(BASE, { dispatcher: agent }).fetchRun(RunId(id));
    await expect(fails(looking)).resolves.toMatchObject({ code: "bad_id", retry: "never" });
  });

  test("encodes any other id, and keeps the path before the service's own", async () => {
    const { url, seen } = await startServer((_request, response) => response.writeHead(404).end());
    const ids = ["a/b", "../../admin", "a b?c=d#e", "%2e%2e", "…", "a\u0000\r\nb", "'()*!"];
    for (const id of ids) await serviceAt(`${url}/team/a/`).fetchRun(RunId(id));
    expect(seen.map((each) => decodeURIComponent(each.url.slice("/team/a/v1/agent/runs/".length)))).toEqual(
      ids,
    );
    expect(seen.every((each) => each.url.split("/").length === 7)).toBe(true);
    expect(seen.every((each) => each.headers.authorization === `Bearer ${KEY}`)).toBe(true);
  });
});
