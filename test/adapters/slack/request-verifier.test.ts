// What the request verifier remembers about a request, and what it accepts a second time.

import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createRequestVerifier } from "#src/adapters/slack/request-verifier.ts";
import type { ReplayCache } from "#src/ports/store.ts";
import { FORM, knockOn, requestOf, sign } from "../../attacks/knock.ts";
import { NOON } from "../../make/run.ts";

const SECRET = "a secret of nobody";
const MINUTE = 60_000;
const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

/** Like the store, forgets what is older than `keepMs`. */
function aCache(): ReplayCache {
  const marks = new Map<string, number>();
  return {
    markSeen(mark, at, keepMs) {
      for (const [each, since] of marks) if (since < at - keepMs) marks.delete(each);
      const first = !marks.has(mark);
      if (first) marks.set(mark, at);
      return Promise.resolve(first);
    },
    unmark(mark) {
      marks.delete(mark);
      return Promise.resolve();
    },
  };
}

async function serve(behind: RequestListener) {
  const clock = { now: NOON };
  const verifier = createRequestVerifier({
    signingSecret: SECRET,
    now: () => clock.now,
    seen: aCache(),
    rejectedRequests: () => undefined,
    next: behind,
  });
  const server = createServer(verifier).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  /** `at`: the time in the signature. */
  const send = async (at: number, more: [string, string][] = []): Promise<number> => {
    const [body, timestamp] = ["text=help", String(at / 1_000)];
    const signature: [string, string] = ["x-slack-signature", sign(SECRET, timestamp, body)];
    const headers = [["content-type", FORM], ["x-slack-request-timestamp", timestamp], signature, ...more];
    const response = await fetch(`http://127.0.0.1:${port}/slack/events`, {
      method: "POST",
      body,
      headers: headers as [string, string][],
    });
    return response.status;
  };
  return { clock, send, url: `http://127.0.0.1:${port}` };
}

const answers =
  (...statuses: number[]): RequestListener =>
  (_request, response) =>
    void response.writeHead(statuses.shift() ?? 200).end();

describe("the same signature a second time", () => {
  test.each([500, 503])(
    "is accepted if the first answer was %i, since Slack sends events again",
    async (status) => {
      const { send } = await serve(answers(status));
      expect(await send(NOON)).toBe(status);
      await expect.poll(() => send(NOON)).toBe(200);
      expect(await send(NOON)).toBe(409);
    },
  );

  test.each([200, 404, 499])("is a replay if the first answer was %i", async (status) => {
    const { send } = await serve(answers(status));
    expect(await send(NOON)).toBe(status);
    expect(await send(NOON)).toBe(409);
  });

  test("is a replay as long as the signature is valid: ten minutes, if Slack's clock is ahead", async () => {
    const { clock, send } = await serve(answers());
    const ahead = NOON + 5 * MINUTE;
    expect(await send(ahead)).toBe(200);
    for (const minutes of [4, 6, 9, 10]) {
      clock.now = NOON + minutes * MINUTE;
      expect(await send(ahead)).toBe(409);
    }
    clock.now = NOON + 10 * MINUTE + 1;
    expect(await send(ahead)).toBe(401);
  });
});

test("a signature is valid for five minutes either way, and not a second longer", async () => {
  const { send } = await serve(answers());
  expect(await send(NOON - 5 * MINUTE)).toBe(200);
  expect(await send(NOON + 5 * MINUTE)).toBe(200);
  expect(await send(NOON - 5 * MINUTE - 1_000)).toBe(401);
  expect(await send(NOON + 5 * MINUTE + 1_000)).toBe(401);
});

test("a signature that is sent twice in one request does not count, even if both are equal", async () => {
  const { url } = await serve(answers());
  const timestamp = String(NOON / 1_000);
  const twice = [`x-slack-signature: ${sign(SECRET, timestamp, "text=help")}`];
  const knock = { body: "text=help", timestamp };
  expect(await knockOn(url, requestOf({ ...knock, headers: twice }, SECRET))).toMatchObject({ status: 401 });
  expect(await knockOn(url, requestOf(knock, SECRET))).toMatchObject({ status: 200 });
});
