import { expect, test } from "vitest";
import { policyFile } from "../../make/policy.ts";
import { ana, ben, opsAgents, aWorld } from "../../make/world.ts";
import { controlOf } from "./controlled.ts";

test("a script plays a whole story: it asks, presses by label, types by label, and waits without sleeping", async (context) => {
  const { slack, decisions } = await aWorld(context);
  const { act, read } = controlOf(slack.url);
  const task = "deploy billing-api to production";

  await act("person.command", { person: "ana", channel: "#ops-agents", text: `/agent run ${task}` });
  const asks = { channel: "ops-agents", contains: "Approval needed", wait: "20" };
  const [card] = await read("/control/messages", asks);
  expect(card).toMatchObject({
    buttons: ["Approve", "Deny", "Details", "Stop", "I'm looking at it", "More actions"],
    broadcast: true,
  });

  await act("person.press", { person: "Ben Okafor", channel: opsAgents, ts: card?.["ts"], button: "deny" });
  const [form] = await read("/control/views", { person: "ben", contains: "Reason", wait: "20" });
  expect(form).toMatchObject({ title: "Deny request", submit: "Deny", fields: [{ label: "Reason" }] });
  expect(await act("person.submit", { person: ben, values: { Reason: " " } })).toMatchObject({
    closed: false,
    errors: { reason: expect.stringContaining("needs a reason") as unknown },
  });
  expect(await act("person.submit", { person: ben, values: { Reason: "not today" } })).toEqual({
    closed: true,
  });

  await read("/control/messages", { contains: "⛔ Denied", wait: "20" });
  const [run] = await read("/control/runs", { task, phase: "succeeded", wait: "20" });
  expect(run).toMatchObject({ approvals: [{ state: { verdict: "deny", reason: "not today" } }] });
  expect(decisions()).toEqual([{ decision: "deny", reason: "not today" }]);
});

test("a press finds the newest message with its button, a window can be closed, and values can also be named by their ids", async (context) => {
  const { slack } = await aWorld(context);
  const { act, read } = controlOf(slack.url);
  await act("person.command", { person: "ana", channel: "ops-agents", text: "/agent" });
  const [form] = await read("/control/views", { person: "ana", wait: "20" });
  const fields = form?.["fields"] as { block: string; action: string }[] | undefined;
  const { block = "", action = "" } = fields?.[0] ?? {};
  const values = { [block]: { [action]: "deploy by ids" } };
  expect(await act("person.submit", { person: "ana", view: form?.["id"], values })).toEqual({ closed: true });

  await read("/control/messages", { contains: "Approval needed", wait: "20" });
  expect(
    await act("person.press", { person: "cat", channel: "ops-agents", button: "card_approve" }),
  ).toMatchObject({
    channel: opsAgents,
  });
  await read("/control/views", { person: "cat", wait: "20" });
  await act("person.close", { person: "cat" });
  expect(await read("/control/views", { person: "cat" })).toEqual([]);
  expect(await read("/control/runs", { task: "deploy by ids" })).toHaveLength(1);
});

test("a form takes people and channels by their names, and only what its fields offer", async (context) => {
  const { slack } = await aWorld(context);
  const { act, read, refusal } = controlOf(slack.url);
  await act("person.openHome", { person: "ana" });
  await read("/control/homes", { person: "ana", wait: "20" });
  await act("person.press", { person: "ana", button: "Start a run" });
  await read("/control/views", { person: "ana", contains: "Channel", wait: "20" });
  const submitting = (values: object) => refusal("person.submit", { person: "ana", values });
  const Task = "Just say hello";
  expect(await submitting({ Task, Channel: "ops" })).toContain('409 There is no channel "ops"');
  expect(await submitting({ Task, Channel: "dm:ben" })).toContain(
    '409 The field "Channel" does not offer "dm:ben".',
  );
  expect(await submitting({ Task: 7 })).toContain('409 The field "Task" does not offer 7.');
  expect(await submitting({ channel: { forged: opsAgents } })).toContain(
    'There is no field "channel forged"',
  );
  expect(await act("person.submit", { person: "ana", values: { Task, Channel: "#ops-agents" } })).toEqual({
    closed: true,
  });
  await read("/control/runs", { task: Task, phase: "succeeded", wait: "20" });
});

test("a choice in a form takes along what is typed, so a reason that the rule offers is added to it", async (context) => {
  const policy = policyFile(
    "rules:\n  - { name: strict, approvers: anyone, deny-reasons: [Tests are missing] }\n",
    context,
  );
  const { slack, until } = await aWorld(context, { env: { POLICY_FILE: policy.path } });
  const { act, read, refusal } = controlOf(slack.url);
  await act("person.command", {
    person: "ana",
    channel: "ops-agents",
    text: "/agent run deploy billing-api",
  });
  await read("/control/messages", { contains: "Approval needed", wait: "20" });
  const values = { Reason: "See ticket 12." };
  const deny = { person: "ben", channel: "ops-agents", button: "Deny" };
  expect(await refusal("person.press", { ...deny, values })).toContain(
    "Only a window has fields to type into",
  );
  await act("person.press", deny);
  await read("/control/views", { person: "ben", contains: "Reason", wait: "20" });
  const chosen = "Tests are missing";
  await act("person.press", { person: "ben", button: "preset_chosen", chosen, values });
  const filled = (): unknown[] =>
    slack.workspace.viewsOf(ben).flatMap(({ view }) => view.blocks.map(({ element }) => element));
  await until(() =>
    filled().some((each) =>
      JSON.stringify(each ?? null).includes(`"initial_value":"See ticket 12.\\n${chosen}"`),
    ),
  );
});

test("private messages are visible only to the person who received them", async (context) => {
  const { slack } = await aWorld(context);
  const { act, read } = controlOf(slack.url);
  await act("person.command", { person: "ana", channel: "ops-agents", text: "/agent help" });
  const [told] = await read("/control/messages", { person: "ana", contains: "unwatch", wait: "20" });
  expect(told).toMatchObject({ ephemeralFor: ana });
  expect(await read("/control/messages", { person: "ben", contains: "unwatch" })).toEqual([]);
});

test("a message can be posted, also in a thread, and the messages after it can be listed by its ts", async (context) => {
  const { slack } = await aWorld(context);
  const { act, read, refusal } = controlOf(slack.url);
  await act("person.say", { person: "@ben", channel: "#random", text: "hello" });
  const [first] = await read("/control/messages", { channel: "random" });
  const ts = String(first?.["ts"]);
  await act("person.say", { person: ben, channel: "#random", text: "again", thread: ts });
  expect(await read("/control/messages", { channel: "random", after: ts })).toMatchObject([
    { text: "again", thread: ts },
  ]);
  expect(await read("/control/messages", { thread: ts })).toHaveLength(2);
  expect(await read("/control/messages", { channel: "random", limit: "1" })).toMatchObject([
    { text: "again" },
  ]);
  // The manifest makes that tab read-only for people.
  expect(await refusal("person.say", { person: "ben", channel: "dm:ben", text: "hello" })).toContain(
    "409 Sending messages to this app has been turned off.",
  );
  expect(await read("/control/messages", { channel: "dm:ben" })).toEqual([]);
});

test("a shortcut on a message opens the form for a run, with the message as its task", async (context) => {
  const { slack } = await aWorld(context);
  const { act, refusal, read } = controlOf(slack.url);
  await act("person.say", { person: "ben", channel: "ops-agents", text: "deploy it, please" });
  const [said] = await read("/control/messages", { contains: "deploy it", wait: "20" });
  const on = { person: "ana", channel: "ops-agents", ts: said?.["ts"] };
  await act("person.shortcut", { ...on, shortcut: "Run agent on this message" });
  const [form] = await read("/control/views", { person: "ana", wait: "20" });
  expect(form).toMatchObject({ title: "Start a run" });
  expect(JSON.stringify(form?.["view"])).toContain("deploy it, please");
  expect(await refusal("person.shortcut", { ...on, shortcut: "Explode" })).toContain(
    'has no shortcut "Explode"',
  );
});

test("the app is notified when its Home tab is opened, and its published view can be read", async (context) => {
  const { slack } = await aWorld(context);
  const { act, read } = controlOf(slack.url);
  await act("person.openHome", { person: "ana" });
  expect(JSON.stringify(await read("/control/traffic", { from: "slack" }))).toContain("app_home_opened");
  const text = { type: "plain_text", text: "Your approvals" };
  slack.workspace.publishHome("U0GIL", { type: "home", blocks: [{ type: "header", text }] });
  expect(await read("/control/homes", { person: "gil" })).toMatchObject([{ words: "Your approvals" }]);
  expect(await read("/control/homes", { person: "cat" })).toEqual([]);
});

test("an impossible act is refused, and the refusal lists what is possible", async (context) => {
  const { slack } = await aWorld(context);
  const { act, refusal, read } = controlOf(slack.url);
  expect(await refusal("person.say", { person: "bob", channel: "ops-agents", text: "x" })).toMatch(
    /^409 There is no person "bob"\. Known people: ana, ben/,
  );
  expect(await refusal("person.say", { person: "ben", channel: "ops", text: "x" })).toMatch(
    /no channel "ops".*ops-agents/,
  );
  expect(
    await refusal("person.command", { person: "ana", channel: "ops-agents", text: "agent run" }),
  ).toContain("slash");
  expect(
    await refusal("person.command", { person: "ana", channel: "ops-agents", text: "/nothing" }),
  ).toContain("/nothing is not a valid command");
  expect(await refusal("person.press", { person: "ben", channel: "releases", button: "Approve" })).toContain(
    'No message here has the button "Approve"',
  );
  expect(await refusal("person.press", { person: "ben", ts: "1.2", button: "Approve" })).toContain(
    "needs the `channel`",
  );
  expect(await refusal("person.submit", { person: "ben" })).toContain("Ben Okafor has no window open");
  await act("person.command", { person: "ana", channel: "ops-agents", text: "/agent" });
  await read("/control/views", { person: "ana", wait: "20" });
  expect(await refusal("person.submit", { person: "ana", values: { Colour: "red" } })).toMatch(
    /no field "Colour" here. Available: "/,
  );
});
