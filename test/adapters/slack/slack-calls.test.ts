// How calls to Slack are counted, and when the token counts as refused.

import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createClients } from "#src/adapters/slack/clients.ts";
import { createSlackCalls } from "#src/adapters/slack/slack-calls.ts";
import { createLog, slackLogger } from "#src/log.ts";
import { openSlack } from "#src/outbound.ts";
import { PortError } from "#src/ports.ts";

type Says = { status?: number; headers?: Record<string, string>; body: string };

async function slackThatSays(...answers: readonly Says[]) {
  const asked: (string | undefined)[] = [];
  const left = [...answers];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const { status = 200, headers = {}, body } = left.shift() ?? { body: '{"ok":true}' };
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
    request.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const counted: string[] = [];
  let now = 0;
  const calls = createSlackCalls({
    monotonic: () => now,
    metrics: { slackCall: (method, outcome) => void counted.push(`${method} ${outcome}`) },
  });
  const { port } = server.address() as AddressInfo;
  const log = slackLogger(createLog({ level: "silent", pretty: false }));
  const through = openSlack(null);
  onTestFinished(() => through.dispatcher.destroy());
  const { background } = createClients("xoxb-1", `http://127.0.0.1:${port}/`, log, { through });
  const call = calls.observe(background);
  const ask = (method: string): Promise<unknown> => call(method, {}).catch(() => null);
  return { calls, call, ask, asked, counted, pass: (ms: number) => void (now += ms) };
}

const refusal = (error: string): Says => ({ body: JSON.stringify({ ok: false, error }) });

test("each call is counted by its method and outcome", async () => {
  const { ask, counted } = await slackThatSays(
    { body: '{"ok":true}' },
    refusal("not_in_channel"),
    { status: 429, headers: { "retry-after": "1" }, body: "" },
    { status: 503, body: "down" },
    { body: "<html>a proxy</html>" },
    refusal("internal_error"),
  );
  for (const method of [
    "chat.update",
    "chat.postMessage",
    "users.info",
    "users.list",
    "bots.info",
    "team.info",
  ])
    await ask(method);
  expect(counted).toEqual([
    "chat.update ok",
    "chat.postMessage refused",
    "users.info rate_limited",
    "users.list failed",
    "bots.info failed",
    "team.info failed",
  ]);
});

test.each<[string, Says]>([
  ["answered with a server error", { status: 503, body: "down" }],
  ["answered by something other than Slack", { body: "<html>a proxy</html>" }],
  ["rate limited", { status: 429, headers: { "retry-after": "0" }, body: "" }],
])("a call that is %s is made once: the first attempt may have posted", async (_what, answer) => {
  const { call, asked } = await slackThatSays(answer);
  await expect(call("chat.postMessage", {})).rejects.toThrow(PortError);
  expect(asked).toEqual(["/chat.postMessage"]);
});

test.each([
  ["7", 7],
  ["0", 0],
  ["-7", 0],
  ["999999999", 3_600],
  ["Wed, 21 Oct 2037 07:28:00 GMT", 30],
  ["", 30],
  [null, 30],
])(
  'a 429 with "Retry-After: %s" was certainly not applied, and asks for a rest of %i s',
  async (header, s) => {
    const headers: Record<string, string> = header === null ? {} : { "retry-after": header };
    const { call, counted } = await slackThatSays({ status: 429, headers, body: "slow down" });
    await expect(call("chat.postMessage", {})).rejects.toMatchObject({
      applied: "no",
      retry: "later",
      code: "http_429",
      retryAfterMs: s * 1_000,
    });
    expect(counted).toEqual(["chat.postMessage rate_limited"]);
  },
);

test("a token counts as refused from the first call that says so until one is accepted", async () => {
  const { calls, ask } = await slackThatSays(refusal("not_in_channel"), refusal("token_revoked"), {
    status: 503,
    body: "",
  });
  await ask("chat.update");
  expect(calls.tokenRefusal()).toBeNull();
  await ask("chat.update");
  await ask("chat.update");
  expect(calls.tokenRefusal()).toBe("token_revoked");
  await ask("chat.update");
  expect(calls.tokenRefusal()).toBeNull();
});

const lacks = (needed: string): Says => ({
  body: JSON.stringify({ ok: false, error: "missing_scope", needed, provided: "chat:write" }),
});
const FINE: Says = { body: '{"ok":true}' };
const holding = (scopes: string): Says => ({ ...FINE, headers: { "x-oauth-scopes": scopes } });

describe("a missing scope", () => {
  test.each(["users.info", "usergroups.users.list", "chat.postMessage"])(
    "counts as a refused token until %s succeeds, whatever else succeeds",
    async (method) => {
      const { calls, ask } = await slackThatSays(lacks("users:read"), FINE, refusal("token_revoked"));
      await ask(method);
      expect(calls.tokenRefusal()).toBe("missing_scope");
      await ask("chat.update");
      expect(calls.tokenRefusal()).toBe("missing_scope");
      await ask("chat.update");
      expect(calls.tokenRefusal()).toBe("token_revoked");
      await ask(method);
      expect(calls.tokenRefusal()).toBeNull();
    },
  );

  test("is forgotten if the call is not made any more, for example because the policy names no group now", async () => {
    const { calls, ask, pass } = await slackThatSays(lacks("usergroups:read"), FINE);
    await ask("usergroups.users.list");
    pass(14 * 60_000);
    await ask("auth.test");
    expect(calls.tokenRefusal()).toBe("missing_scope");
    pass(60_000);
    expect(calls.tokenRefusal()).toBeNull();
  });

  test("is not forgotten for calls that do not depend on the policy", async () => {
    const { calls, ask, pass } = await slackThatSays(lacks("chat:write"));
    await ask("chat.postMessage");
    pass(24 * 60 * 60_000);
    expect(calls.tokenRefusal()).toBe("missing_scope");
  });

  test("is over once Slack says that the token has it, even if the call is not repeated", async () => {
    const slack = await slackThatSays(
      lacks("users:read"),
      holding("chat:write"),
      holding("chat:write,users:read"),
    );
    const { calls, ask } = slack;
    await ask("users.list");
    await ask("auth.test");
    expect(calls.tokenRefusal()).toBe("missing_scope");
    await ask("auth.test");
    expect(calls.tokenRefusal()).toBeNull();
  });

  test.each([
    ["conversations.info", "channels:read", "missing_scope"],
    ["conversations.members", "groups:read", "missing_scope"],
    // The app never has these, so anyone can cause them by a command in a direct message.
    ["conversations.info", "im:read", null],
    ["conversations.info", "channels:read,groups:read,mpim:read,im:read", null],
    // People can be verified and can decide without these.
    ["conversations.history", "channels:history", null],
    ["files.getUploadURLExternal", "files:write", null],
  ])("of %s that is %s counts as %s", async (method, needed, refused) => {
    const { calls, ask } = await slackThatSays(lacks(needed));
    await ask(method);
    expect(calls.tokenRefusal()).toBe(refused);
  });
});

test("calls count as unanswered from the first that fails without an answer of Slack until Slack answers one, even with a refusal", async () => {
  const down: Says = { status: 503, body: "down" };
  const slack = await slackThatSays(
    down,
    { body: "<html>a proxy</html>" },
    refusal("service_unavailable"),
    refusal("not_in_channel"),
    down,
    { status: 429, body: "" },
  );
  const ask = async (method: string) => {
    await slack.ask(method);
    slack.pass(1_000);
    return slack.calls.unanswered();
  };
  expect(await ask("chat.update")).toEqual({ first: 0, newest: 0 });
  expect(await ask("users.info")).toEqual({ first: 0, newest: 1_000 });
  expect(await ask("users.info")).toEqual({ first: 0, newest: 2_000 });
  expect(await ask("chat.update")).toBeNull();
  expect(await ask("chat.update")).toEqual({ first: 4_000, newest: 4_000 });
  expect(await ask("chat.update")).toBeNull();
});

test("the token is checked only if no call has shown its state in time", async () => {
  const { calls, call, ask, asked, pass } = await slackThatSays();
  await ask("chat.update");
  pass(59_999);
  await calls.checkToken(call, 60_000);
  expect(asked).toHaveLength(1);
  pass(1);
  await calls.checkToken(call, 60_000);
  expect(asked.at(-1)).toBe("/auth.test");
});
