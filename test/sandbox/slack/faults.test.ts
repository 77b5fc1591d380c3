import { afterEach, beforeEach, expect, test } from "vitest";

import type { WebClient } from "@slack/web-api";

import type { Slack } from "#sandbox/slack/start-slack.ts";

import { ana, clientOf, opsAgents, refusal, startFull } from "./bolt-app.ts";

let slack: Slack;
let client: WebClient;

beforeEach(async () => {
  slack = await startFull();
  client = clientOf(slack);
});

afterEach(() => slack.stop());

const post = (text: string) => client.apiCall("chat.postMessage", { channel: opsAgents, text });
const texts = () => slack.workspace.messages.map(({ text }) => text);

test("a planned refusal, server error or rate limit affects as many calls as requested, and has no effect", async () => {
  slack.faults.next("chat.postMessage", { error: "fatal_error" }, 2);
  slack.faults.next("chat.postMessage", { http: 503 });
  slack.faults.next("chat.postMessage", { retryAfter: 7 });
  expect(await refusal(post("a"))).toMatchObject({ error: "fatal_error" });
  expect(await refusal(post("b"))).toMatchObject({ error: "fatal_error" });
  await expect(post("c")).rejects.toMatchObject({ statusCode: 503 });
  await expect(post("d")).rejects.toMatchObject({ retryAfter: 7 });
  await post("e");
  expect(texts()).toEqual(["e"]);
});

test("a connection dropped before the effect leaves nothing, and one dropped after it leaves the message", async () => {
  slack.faults.next("chat.postMessage", { drop: "before" });
  slack.faults.next("chat.postMessage", { drop: "after" });
  await expect(post("before")).rejects.toThrow("fetch failed");
  await expect(post("after")).rejects.toThrow("fetch failed");
  expect(texts()).toEqual(["after"]);
});

test("an answer can come from elsewhere, be cut in half, or arrive letter by letter", async () => {
  const page = { status: 200, headers: { "content-type": "text/html" }, body: "<html>" };
  slack.faults.next("chat.postMessage", { answer: page });
  slack.faults.next("chat.postMessage", { answer: page, when: "after" });
  slack.faults.next("chat.postMessage", { cut: true });
  slack.faults.next("chat.postMessage", { drip: 1 });
  for (const text of ["before", "after", "half"]) await expect(post(text)).rejects.toBeInstanceOf(Error);
  expect(await post("slowly")).toMatchObject({ ok: true });
  expect(texts()).toEqual(["after", "half", "slowly"]);
});

test("a call whose answer is replaced by a fault, or that is rate-limited, is marked as lost in the traffic, but a refused call is not", async () => {
  slack.faults.next("chat.postMessage", { drop: "before" });
  slack.faults.next("chat.postMessage", { drop: "after" });
  slack.faults.next("chat.postMessage", { http: 503, when: "after" });
  slack.faults.next("chat.postMessage", { retryAfter: 7 });
  slack.faults.next("chat.postMessage", { error: "fatal_error" });
  for (const text of ["a", "b", "c", "d", "e"]) await post(text).catch(() => undefined);
  await post("f");
  const calls = slack.traffic.lines().filter(({ what }) => what === "chat.postMessage");
  expect(calls.map(({ lost }) => lost)).toEqual([true, true, true, true, false, false]);
  expect(calls.map(({ refused }) => refused)).toEqual([
    "replaced by a fault",
    null,
    null,
    "ratelimited",
    "fatal_error",
    null,
  ]);
});

test("a fault everywhere affects every call until it ends, but not calls with a fault of their own", async () => {
  slack.faults.next("chat.postMessage", { error: "fatal_error" });
  slack.faults.everywhere({ drop: "before" });
  expect(await refusal(post("a"))).toMatchObject({ error: "fatal_error" });
  for (const call of [() => post("b"), () => client.users.info({ user: ana })])
    await expect(call()).rejects.toThrow("fetch failed");
  slack.faults.everywhere(undefined);
  await post("c");
  slack.faults.everywhere({ drop: "before" });
  slack.faults.clear();
  await post("d");
  expect(texts()).toEqual(["c", "d"]);
});

test("an upload can fail before and after it takes effect", async () => {
  slack.faults.next("file upload", { drop: "before" });
  slack.faults.next("file upload", { drop: "after" });
  const announced = await client.files.getUploadURLExternal({ filename: "a.txt", length: 3 });
  const send = async () => (await fetch(announced.upload_url ?? "", { method: "POST", body: "abc" })).status;
  await expect(send()).rejects.toThrow("fetch failed");
  await expect(send()).rejects.toThrow("fetch failed");
  expect(await send()).toBe(404);
  const uploads = slack.traffic.lines().filter(({ what }) => what === "file upload");
  expect(uploads.map(({ lost }) => lost)).toEqual([true, true, false]);
});

test("a call hangs after its effect until the sandbox stops", async () => {
  slack.faults.next("chat.postMessage", { hang: "after" });
  const hanging = post("hangs");
  hanging.catch(() => {});
  await slack.workspace.until(() => texts().includes("hangs"));
  await slack.stop();
  await expect(hanging).rejects.toThrow("fetch failed");
  slack = await startFull();
});

test("a gate holds a call until it opens", async () => {
  const gate = Promise.withResolvers<void>();
  slack.faults.next("chat.postMessage", { until: gate.promise });
  const held = post("held");
  await post("overtakes");
  expect(texts()).toEqual(["overtakes"]);
  gate.resolve();
  await held;
  expect(texts()).toEqual(["overtakes", "held"]);
});

test("people can change without the app's knowledge", async () => {
  slack.faults.makeGuest(ana);
  slack.faults.deactivate("U0BEN");
  expect((await client.users.info({ user: ana })).user).toMatchObject({ is_restricted: true });
  expect((await client.users.info({ user: "U0BEN" })).user).toMatchObject({ deleted: true });
});

test("tokens never appear in the traffic", async () => {
  await client.apiCall("users.info", { user: ana, token: slack.botToken });
  const seen = JSON.stringify(slack.traffic.lines());
  expect(seen).toContain("users.info");
  expect([slack.botToken, slack.appToken, slack.signingSecret].some((secret) => seen.includes(secret))).toBe(
    false,
  );
});
