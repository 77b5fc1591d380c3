import { afterEach, beforeEach, expect, test } from "vitest";
import { slackActs } from "#sandbox/control/slack-acts.ts";
import { type Controlled, startControlled } from "./controlled.ts";

let sandbox: Controlled;
const channel = "C0OPSAGENTS";

beforeEach(async () => {
  sandbox = await startControlled();
});
afterEach(() => sandbox.stop());

const post = (text: string) => sandbox.call("chat.postMessage", { channel, text });
const errorOf = async (response: Response) => ((await response.json()) as { error?: string }).error;
const texts = async () => (await sandbox.read("/control/messages", { channel })).map(({ text }) => text);

test("faults affect calls of a method before or after they take effect", async () => {
  const { act } = sandbox;
  await act("slack.fault", { method: "chat.postMessage", fault: { error: "fatal_error" }, times: 2 });
  await act("slack.fault", { method: "chat.postMessage", fault: { http: 503, when: "after" } });
  await act("slack.fault", { method: "chat.postMessage", fault: { drop: "before" } });
  await act("slack.fault", { method: "chat.postMessage", fault: { drop: "after" } });
  await act("slack.fault", { method: "chat.postMessage", fault: { retryAfter: 3 } });
  expect([await errorOf(await post("a")), await errorOf(await post("b"))]).toEqual([
    "fatal_error",
    "fatal_error",
  ]);
  expect((await post("c")).status).toBe(503);
  await expect(post("d")).rejects.toThrow("fetch failed");
  await expect(post("e")).rejects.toThrow("fetch failed");
  expect((await post("f")).headers.get("retry-after")).toBe("3");
  expect(await texts()).toEqual(["c", "e"]);
});

test("a cleared fault has no effect, and a fault of an unknown method is refused", async () => {
  await sandbox.act("slack.fault", { method: "chat.postMessage", fault: { hang: "before" }, times: 9 });
  await sandbox.act("slack.clearFaults");
  expect((await post("a")).status).toBe(200);
  expect(await sandbox.refusal("slack.fault", { method: "chat.postMesage", fault: { http: 500 } })).toContain(
    "no method chat.postMesage",
  );
});

test("faults that wait, rate limits that are off and missing scopes can be read, and open pages learn of each", async () => {
  const { slack } = sandbox.world;
  let changed = 0;
  const acts = new Map(slackActs(slack, () => (changed += 1)).map((each) => [each.name, each]));
  const act = async (name: string, args = {}) => acts.get(name)?.run(args);
  const world = async () => (await sandbox.send("/control/world")).body;
  expect(await world()).toMatchObject({ faults: [], rateLimits: true, missingScopes: [] });
  await act("slack.fault", { method: "chat.postMessage", fault: { http: 503, when: "after" }, times: 2 });
  await act("slack.fault", { method: "chat.update", fault: { error: "fatal_error" } });
  await act("slack.rateLimits", { on: false });
  await act("slack.revokeScope", { scope: "files:write" });
  expect(changed).toBe(4);
  expect(await world()).toMatchObject({
    faults: [
      "chat.postMessage, 2 calls: HTTP 503, after it took effect",
      "chat.update, 1 call: the error fatal_error",
    ],
    rateLimits: false,
    missingScopes: ["files:write"],
  });
  await post("lost");
  expect(await world()).toMatchObject({
    faults: [expect.stringContaining("chat.postMessage, 1 call:"), expect.stringContaining("chat.update")],
  });
  await act("slack.clearFaults");
  await act("slack.rateLimits", { on: true });
  expect(changed).toBe(6);
  expect(await world()).toMatchObject({ faults: [], rateLimits: true, missingScopes: ["files:write"] });
});

test("rate limits can be switched on and off", async () => {
  await sandbox.act("slack.rateLimits", { on: false });
  for (let count = 0; count < 8; count += 1) expect((await post("free")).status).toBe(200);
  await sandbox.act("slack.rateLimits", { on: true });
  const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await post("paced")).status));
  expect(statuses).toContain(429);
});

test("a revoked scope is missing from then on", async () => {
  await sandbox.act("slack.revokeScope", { scope: "chat:write" });
  expect(await errorOf(await post("a"))).toBe("missing_scope");
  expect(await sandbox.refusal("slack.revokeScope", { scope: "chat:write" })).toContain(
    "has no scope chat:write",
  );
});

test("people and channels can change without the app's knowledge", async () => {
  const { act, refusal, send, world } = sandbox;
  await act("slack.deactivate", { person: "ben" });
  await act("slack.makeGuest", { person: "cat" });
  await act("slack.removeFromChannel", { channel: "ops-agents", person: "countersign" });
  await act("slack.addToChannel", { channel: "random", person: "gil" });
  await act("slack.archive", { channel: "#releases" });

  const { body } = await send("/control/world");
  const people = body["people"] as { handle: string; deactivated: boolean; kind: string }[];
  const channels = body["channels"] as { name: string; archived: boolean; members: string[] }[];
  expect(people.find(({ handle }) => handle === "ben")?.deactivated).toBe(true);
  expect(people.find(({ handle }) => handle === "cat")?.kind).toBe("guest");
  expect(channels.find(({ name }) => name === "random")?.members).toContain("U0GIL");
  expect(channels.find(({ name }) => name === "releases")?.archived).toBe(true);
  expect(body).toMatchObject({ connections: 0, app: { person: world.slack.workspace.app.person } });
  expect(await errorOf(await post("a"))).toBe("not_in_channel");
  expect(await refusal("slack.addToChannel", { channel: "random", person: "gil" })).toContain(
    "is already in #random",
  );
  expect(await refusal("slack.removeFromChannel", { channel: "random", person: "oda" })).toContain(
    "is not in #random",
  );
});

test.for([
  ["slack.makeGuest", { person: "countersign" }, "Countersign is an app: only a member can become a guest."],
  [
    "slack.makeGuest",
    { person: "oda" },
    "Oda Petersen is from another company: only a member can become a guest.",
  ],
  ["slack.makeGuest", { person: "gil" }, "Gil Marsh is already a guest."],
  [
    "slack.deactivate",
    { person: "countersign" },
    "Countersign is an app: only people have accounts that can be deactivated.",
  ],
  ["slack.archive", { channel: "dm:ben" }, "These are direct messages, not a channel."],
  ["slack.addToChannel", { channel: "dm:ben", person: "cat" }, "These are direct messages, not a channel."],
] as const)("%s with %j changes nothing, and says why", async ([act, args, words]) => {
  const world = async () => JSON.stringify({ ...(await sandbox.send("/control/world")).body, now: 0 });
  sandbox.world.slack.workspace.dmOf("U0BEN");
  const before = await world();
  expect(await sandbox.refusal(act, args)).toBe(`409 ${words}`);
  expect(await world()).toBe(before);
});

test.for([
  ["slack.makeGuest", { person: "cat" }, "is already a guest."],
  ["slack.deactivate", { person: "ben" }, "is already deactivated."],
  ["slack.archive", { channel: "random" }, "#random is already archived."],
] as const)("%s a second time is refused because it is already so", async ([act, args, words]) => {
  await sandbox.act(act, args);
  expect(await sandbox.refusal(act, args)).toMatch(new RegExp(`^409 .*${words}$`));
});

test("an administrator can delete a message once", async () => {
  const { world, act, refusal } = sandbox;
  await post("gone in a moment");
  const { ts } = world.slack.workspace.messages.at(-1) ?? { ts: "" };
  await act("slack.deleteMessage", { channel: "ops-agents", ts });
  expect(world.slack.workspace.messages.map((each) => each.ts)).not.toContain(ts);
  expect(await refusal("slack.deleteMessage", { channel: "ops-agents", ts })).toContain(
    "There is no message",
  );
});

test("the traffic can be read from any position, and its secrets are masked", async () => {
  const { read, world } = sandbox;
  await post("first");
  const seen = await read("/control/traffic", { contains: "chat." });
  expect(seen).toMatchObject([{ from: "app", what: "chat.postMessage", refused: null }]);
  const after = String(seen.at(-1)?.["number"]);
  await sandbox.call("chat.update", { channel, ts: "1.2", text: "x" });
  // The event of the message is also refused, because no app is connected.
  const news = await read("/control/traffic", { after, refused: "true", contains: "chat.", wait: "10" });
  expect(news).toMatchObject([{ what: "chat.update", refused: "message_not_found" }]);
  expect(await read("/control/traffic", { from: "person" })).toEqual([]);
  expect(JSON.stringify(await read("/control/traffic"))).not.toContain(world.slack.botToken);
});

test("a read can wait for something, and returns an empty list if it does not appear", async () => {
  const { read } = sandbox;
  let answered = false;
  const waiting = read("/control/messages", { contains: "later", wait: "20" }).finally(
    () => (answered = true),
  );
  await post("something else");
  expect(await read("/control/messages", { contains: "never", wait: "0.05" })).toEqual([]);
  expect(answered).toBe(false);
  await post("and later");
  expect(await waiting).toMatchObject([{ text: "and later" }]);
});
