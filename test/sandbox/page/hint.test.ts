// The hints for a newcomer below the conversation, step by step.
import { expect, test } from "vitest";
import { hint } from "#sandbox/page/hint.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { createFakePanelState } from "./fake-panel-state.ts";
import { approvalCard, createStage, decidedCard, OPS } from "./stage.ts";

const APP = "U0COUNTERSIGN";
const askedBy = (user_id: string) => ({
  type: "rich_text",
  elements: [{ type: "rich_text_section", elements: [{ type: "user", user_id }] }],
});

function newChannel() {
  const { parts, workspace } = createStage();
  const fake = createFakePanelState();
  const said = (person = "U0ANA", where = OPS): string => {
    const drawn = hint(
      { ...parts, panelState: fake.panelState },
      { person, where, thread: null, panel: null },
    );
    return (drawn?.toString() ?? "")
      .replace(/<button[^>]*hint-close.*?<\/button>/s, "")
      .replace(/<[^>]*>/g, "")
      .replace(/\s+/g, " ")
      .trim();
  };
  const ask = (channel = OPS): Message => {
    const { ts } = workspace.post({ channel, author: APP, text: "asked for", blocks: [askedBy("U0ANA")] });
    const blocks = [askedBy("U0ANA"), ...approvalCard()];
    return workspace.post({ channel, author: APP, thread: ts, broadcast: true, text: "card", blocks });
  };
  return { workspace, fake, said, ask };
}

const BECOME =
  "Now switch to Ben or Cat in the top bar and press a button: the person who asked can't decide. A second tab can be a second person.";

test("while the first request waits, its requester is told to switch to another person, and that person to press a button", () => {
  const { said, ask } = newChannel();
  expect(said()).toContain("Start here.");
  ask();
  expect(said()).toBe(BECOME);
  expect(said("U0BEN")).toBe("Now press a button. Ana asked, so someone else must decide.");
  expect(said("U0GIL")).toBe(BECOME);
});

test("in a private channel, the hints name only people who are in it", () => {
  const { workspace, said, ask } = newChannel();
  const channel = [...workspace.channels.values()].find(({ name }) => name === "payments-ops");
  expect(channel).toMatchObject({ kind: "private", members: ["U0ANA", "U0BEN", APP] });
  const { id = "" } = channel ?? {};
  expect(said("U0ANA", id)).toContain("switch to Ben in the top bar");
  ask(id);
  expect(said("U0ANA", id)).toContain("Now switch to Ben in the top bar");
});

test("the first hint names the words in a task that decide what its run does", () => {
  const { said } = newChannel();
  expect(said()).toContain("These words in a task decide what its run does: fail, two approvals.");
});

const DARES_WAITING =
  "Now try to get around the rules: Take the service down Each one plays on the real bot and service, and shows what happens.";
const DARES = `That request has been decided. ${DARES_WAITING}`;

test("after the first decision everyone gets suggestions, even when another request arrives, until all were tried", () => {
  const { workspace, fake, said, ask } = newChannel();
  const card = ask();
  const other = ask();
  expect(said()).toBe(BECOME);
  workspace.edit(card, { blocks: decidedCard() });
  expect([said(), said("U0BEN")]).toEqual([DARES_WAITING, DARES_WAITING]);
  workspace.edit(other, { blocks: decidedCard() });
  expect(said()).toBe(DARES);
  ask();
  expect(said()).toBe(DARES_WAITING);
  fake.play({ name: "outage", captions: [], ended: "failed" });
  expect(said()).toBe(DARES_WAITING);
  fake.play({ name: "outage", captions: [], ended: "done" });
  expect(said()).toBe("");
});

test("the hint claims a decision only once the service has confirmed it, and while no other request waits", () => {
  const { workspace, said, ask } = newChannel();
  const [first, last] = [ask(), ask()];
  workspace.edit(last, { blocks: decidedCard("approved") });
  expect(said()).toBe(DARES_WAITING);
  for (const state of [
    "held",
    "sending",
    "retrying",
    "held-back",
    "waiting",
    "checking",
    "unconfirmed",
    "closed",
  ]) {
    workspace.edit(first, { blocks: decidedCard("approved") });
    workspace.edit(last, { blocks: decidedCard(state) });
    expect([state, said()]).toEqual([state, DARES_WAITING]);
  }
  workspace.edit(first, { blocks: decidedCard("pending") });
  workspace.edit(last, { blocks: decidedCard("approved") });
  expect(said()).toBe(DARES_WAITING);
  workspace.edit(first, { blocks: decidedCard("held") });
  expect(said()).toBe(DARES);
});

test("a decided request counts as decided even if it keeps a button to read it in full", () => {
  const { workspace, said, ask } = newChannel();
  const card = ask();
  const read = { type: "button", action_id: "read", text: { type: "plain_text", text: "Read in full" } };
  workspace.edit(card, { blocks: [...decidedCard(), { type: "actions", elements: [read] }] });
  expect([said(), said("U0BEN")]).toEqual([DARES, DARES]);
});

test("the hint is about requests in this channel, not about a run without requests or a button elsewhere", () => {
  const { workspace, said, ask } = newChannel();
  workspace.post({ channel: OPS, author: APP, text: "asked for", blocks: approvalCard() });
  expect(said()).toBe("");
  ask("C0RELEASES");
  expect(said()).toBe("");
  expect(said("U0ANA", "C0RELEASES")).toBe(BECOME);
});

test("there is no hint while a scene plays", () => {
  const { fake, said, ask } = newChannel();
  ask();
  fake.play({ name: "four-eyes", captions: [], ended: null });
  expect(said()).toBe("");
  fake.play({ name: "four-eyes", captions: [], ended: "stopped" });
  expect(said()).toBe(BECOME);
});
