import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Controlled, HEADERS, startControlled } from "./controlled.ts";

let sandbox: Controlled;

beforeAll(async () => {
  sandbox = await startControlled();
});
afterAll(() => sandbox.stop());

const down = JSON.stringify({ act: "service.down" });
const isUp = async () => (await sandbox.send("/control/service")).body["up"];
const post = (body: string, headers: Record<string, string> = HEADERS) =>
  sandbox.send("/control/do", { method: "POST", headers, body });

/** Sends a request with headers that `fetch` does not allow. */
function raw(method: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const asked = request(new URL(path, sandbox.world.slack.url), { method, headers }, (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  asked.once("error", reject);
  asked.end(method === "POST" ? down : undefined);
  return promise;
}

test.for([
  ["without the header that foreign pages cannot send", {}, 403],
  ["from a page of another origin", { ...HEADERS, origin: "http://evil.example" }, 403],
  ["from this machine's other port", { ...HEADERS, origin: "http://127.0.0.1:1" }, 403],
  ["from a sandboxed page", { ...HEADERS, origin: "null" }, 403],
  ["from another site, by the browser's word", { ...HEADERS, "sec-fetch-site": "cross-site" }, 403],
  ["under a foreign name", { ...HEADERS, host: "evil.example" }, 421],
] as const)("an act %s is refused and not done", async ([, headers, status]) => {
  expect(await raw("POST", "/control/do", headers)).toBe(status);
  expect(await isUp()).toBe(true);
});

test("a read from another origin or with a foreign host name is refused", async () => {
  expect(await raw("GET", "/control/world", { origin: "http://evil.example" })).toBe(403);
  expect(await raw("GET", "/control/world", { host: "evil.example:80" })).toBe(421);
  expect(await raw("OPTIONS", "/control/do", { origin: "http://evil.example" })).toBe(403);
  expect(await raw("GET", "/control/world", { host: "localhost:80" })).toBe(200);
});

test("the page's own header and origin are accepted, too", async () => {
  const { host, origin } = new URL(sandbox.world.slack.url);
  expect(await raw("POST", "/control/do", { "x-sandbox-page": "1", origin, host })).toBe(200);
  await sandbox.act("service.up");
});

test.for([
  ["{", 400, "The request is not JSON"],
  ["[]", 400, "The request is invalid"],
  ['{"act": "service.down", "arg": {}}', 400, 'Unrecognized key: "arg"'],
  ['{"act": "service.dawn"}', 404, 'There is no act "service.dawn"'],
  ['{"act": "service.down", "args": {"now": true}}', 400, 'Unrecognized key: "now"'],
  [JSON.stringify({ act: "x", args: { text: "x".repeat(1_000_001) } }), 413, "larger than 1 MB"],
] as const)("a wrong request is answered clearly: %s", async ([body, status, told]) => {
  const answer = await post(body);
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ ok: false, error: expect.stringContaining(told) as unknown });
  expect(await isUp()).toBe(true);
});

test("every invalid argument is named, with its error", async () => {
  const args = { fault: { type: "answer", status: 99 }, route: "decided", times: 0 };
  const { status, body } = await post(JSON.stringify({ act: "service.fault", args }));
  expect(status).toBe(400);
  expect((body["faults"] as { at: string }[]).map(({ at }) => at).sort()).toEqual([
    "fault.status",
    "route",
    "times",
  ]);
});

test("the arguments of a read are checked, too", async () => {
  expect(await sandbox.send("/control/messages?chanel=x")).toMatchObject({ status: 400 });
  expect(await sandbox.send("/control/messages?wait=3600")).toMatchObject({ status: 400 });
  expect(await sandbox.send("/control/messages?channel=none")).toMatchObject({ status: 409 });
  expect(await sandbox.send("/control/nothing")).toMatchObject({ status: 404 });
  expect(await sandbox.send("/control/do")).toMatchObject({ status: 405 });
  expect(await sandbox.send("/control/world", { method: "POST", headers: HEADERS })).toMatchObject({
    status: 405,
  });
  expect(await sandbox.send("/control/do", { method: "DELETE", headers: HEADERS })).toMatchObject({
    status: 405,
  });
});

test("a world without a bot has no acts for one", async () => {
  expect(await sandbox.refusal("bot.kill")).toMatch(/^404 /);
  expect(await sandbox.refusal("scene.play", { name: "approve" })).toMatch(/^404 /);
});
