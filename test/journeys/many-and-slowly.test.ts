// Rules that require several people, waiting time or extra steps.

import { describe, expect, test } from "vitest";
import type { OpenView } from "#sandbox/slack/model.ts";
import { accepted } from "../make/journey-acts.ts";
import { buttonsOf, modalText, textOf } from "../make/journey-sight.ts";
import { cardStateOf, idOf, says } from "../make/message-id.ts";
import { policyFile } from "../make/policy.ts";
import {
  ana,
  aWorld,
  ben,
  type Choices,
  cat,
  guest,
  opsAgents,
  payments,
  releases,
  type Stage,
} from "../make/world.ts";

const TASK = "deploy billing-api to production";

type Context = Parameters<typeof aWorld>[0];

function withRule(context: Context, rule: string, more = ""): Choices {
  const text = `rules:\n  - name: strict\n    approvers: anyone\n${rule}${more}`;
  return { env: { POLICY_FILE: policyFile(text, context).path } };
}

describe.concurrent("a quorum of two", () => {
  const TWO = "    quorum: 2\n";

  test("waits for the second person, shows its progress, and sends all reasons together", async (context) => {
    const world = await aWorld(context, withRule(context, TWO));
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.becomes(card, "rule:0-of-2");
    await world.decide(ben, card, "Approve", "looks right");
    await world.becomes(card, "rule:1-of-2", `@${ben}`, "looks right");
    expect(cardStateOf(card)).toBe("pending");
    expect(world.decisions()).toEqual([]);
    await world.isRefused(ben, card, "Approve", "already-voted");
    const form = await world.openForm(cat, card, "Approve");
    expect(says("votes:1-of-2", form.view)).toBe(true);
    expect(modalText(form)).toContain("looks right");
    accepted(await world.fillModal(cat, "to me too"));
    await world.becomes(card, "approved", `@${ben}`, `@${cat}`);
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "looks right\n\nto me too" }]);
  });

  test("ends with one denial, whoever approved before", async (context) => {
    const world = await aWorld(context, withRule(context, TWO));
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "fine");
    await world.decide(cat, card, "Deny", "not fine");
    await world.becomes(card, "denied", "not fine");
    expect(says("past:1:denied", card)).toBe(true);
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "not fine" }]);
  });

  test("survives a restart between the two approvals", async (context) => {
    const world = await aWorld(context, withRule(context, TWO));
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "first");
    await world.becomes(card, "rule:1-of-2");
    await world.stopApp();
    await world.startApp();
    await world.decide(cat, card, "Approve", "second");
    await world.becomes(card, "approved");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "first\n\nsecond" }]);
  });

  test("does not count a person who has since been deactivated", async (context) => {
    // Slack refuses the notice to the deactivated person.
    const world = await aWorld(context, { ...withRule(context, TWO), troubled: true });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "before I left");
    await world.lateBy(5_000);
    const person = world.slack.workspace.people.get(ben);
    if (person === undefined) throw new Error("the sandbox has no Ben");
    person.deactivated = true;
    await world.decide(cat, card, "Approve", "me too");
    await world.becomes(card, "past:1:voter-may-not", `@${cat}`);
    expect(says("rule:1-of-2", card)).toBe(true);
    expect(world.decisions()).toEqual([]);
  });

  test("starts over when the request changes, and notifies the people who approved", async (context) => {
    const world = await aWorld(context, withRule(context, TWO));
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "the old one");
    const { id, approvals } = await world.runAt(TASK);
    world.service.control.changeApproval(id, approvals[0]?.id ?? "", { action: "deploy everything" });
    await world.becomes(card, "past:1:request-changed", "deploy everything");
    await world.told(ben, "notice:decision-void:request-changed");
    await world.decide(cat, card, "Approve", "the new one");
    await world.becomes(card, "rule:1-of-2");
    expect(world.decisions()).toEqual([]);
  });
});

/** Delivers a click on Undo as Slack does. */
async function pressUndo(world: Stage, { id, view }: OpenView) {
  const block = view.blocks.find(({ type }) => type === "actions")?.block_id ?? "";
  accepted(await world.slack.acts.click(ben, { view: id }, block, "window_undo"));
  return world.lastPayload("block_actions");
}

describe.concurrent("a hold", () => {
  test("can be undone by its approver and nobody else, which opens the card again", async (context) => {
    const world = await aWorld(context, withRule(context, "    hold: 10 min\n"));
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "too quick");
    await world.becomes(card, "held");
    expect(buttonsOf(card)).toEqual(["Undo", "Deny"]);
    accepted(await world.click(cat, card, "Undo"));
    await world.told(cat, "refusal:not-yours");
    accepted(await world.click(ben, card, "Undo"));
    await world.becomes(card, "past:1:undone");
    expect(cardStateOf(card)).toBe("pending");
    expect(world.decisions()).toEqual([]);
    await world.decide(cat, card, "Deny", "better not");
    await world.becomes(card, "denied");
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "better not" }]);
  });

  test("can be undone in the window after the submit, and a second click there changes nothing", async (context) => {
    const world = await aWorld(context, withRule(context, "    hold: 10 min\n"));
    const { card } = await world.asking(ana, opsAgents, TASK);
    const form = await world.openForm(ben, card, "Approve");
    accepted(await world.fillModal(ben, "too quick"));
    const window = await world.modalOf(ben, "form:held");
    expect(window.id).toBe(form.id);
    await world.becomes(card, "held");
    const press = await pressUndo(world, window);
    await world.modalOf(ben, "answer:taken-back");
    await world.becomes(card, "past:1:undone");
    expect(cardStateOf(card)).toBe("pending");
    await world.deliver(press);
    await world.decide(cat, card, "Deny", "better not");
    await world.becomes(card, "denied");
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "better not" }]);
  });

  test("cannot be undone in that window once the approval is sent", async (context) => {
    const world = await aWorld(context, withRule(context, "    hold: 2 s\n"));
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    accepted(await world.fillModal(ben, "yes"));
    const window = await world.modalOf(ben, "form:held");
    await world.becomes(card, "approved");
    await pressUndo(world, window);
    await world.modalOf(ben, "refusal:too-late");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "yes" }]);
  });

  test("ends with a denial, which is sent at once, and the person whose approval it overtakes is told", async (context) => {
    const world = await aWorld(context, withRule(context, "    hold: 10 min\n"));
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    accepted(await world.fillModal(ben, "yes"));
    const window = await world.modalOf(ben, "form:held");
    await world.becomes(card, "held");
    expect(modalText(window)).toContain("unless you undo it first");
    await world.decide(cat, card, "Deny", "no");
    await world.becomes(card, "denied");
    await world.told(ben, "notice:decision-void:denied");
    await pressUndo(world, window);
    await world.modalOf(ben, "refusal:too-late");
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "no" }]);
  });

  test("ends by itself, even across a restart, and the approval is sent once", async (context) => {
    const world = await aWorld(context, withRule(context, "    hold: 2 s\n"));
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "yes");
    await world.stopApp();
    expect(world.decisions()).toEqual([]);
    await world.startApp();
    await world.becomes(card, "approved");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "yes" }]);
  });
});

describe.concurrent("an expiry", () => {
  test("denies in the policy's name if the rule says so", async (context) => {
    const world = await aWorld(context, withRule(context, "    expiry: { after: 2 s, outcome: deny }\n"));
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.becomes(card, "denied");
    expect(world.decisions()).toEqual([
      { decision: "deny", reason: "Denied by policy: not decided within 2 s." },
    ]);
  });

  test("closes the card if the rule says so, and an open form then decides nothing", async (context) => {
    const world = await aWorld(context, withRule(context, "    expiry: { after: 10 s }\n"));
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    await world.becomes(card, "closed");
    expect(says("cause:expired", card)).toBe(true);
    await world.fillModal(ben, "too late");
    expect(idOf(modal.view)).toBe("refusal:closed");
    expect(world.decisions()).toEqual([]);
  });
});

describe.concurrent("friction", () => {
  test("requires reading the request in full and typing a word before an approval, but not before a denial", async (context) => {
    const rule =
      "    friction: { read-first: true, type: production }\n    reason: { approve: 5, deny: 1 }\n";
    const world = await aWorld(context, withRule(context, rule));
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    expect(idOf(modal.view)).toBe("form:read-first");
    expect(modalText(modal)).toMatch(/deploy billing-api/i);
    expect(says("word", modal.view)).toBe(false);
    accepted(await world.slack.acts.submit(ben, modal.id, {}));
    expect(idOf(modal.view)).toBe("form:approve");
    expect(says("word", modal.view)).toBe(true);
    const typed = (word: string, reason = "all tested") => ({
      reason: { reason_text: reason },
      word: { word_text: word },
    });
    await world.slack.acts.submit(ben, modal.id, typed("produktion", "ok"));
    expect(Object.keys(modal.errors)).toEqual(["reason", "word"]);
    await world.slack.acts.submit(ben, modal.id, typed("produktion"));
    expect(Object.keys(modal.errors)).toEqual(["word"]);
    expect(world.decisions()).toEqual([]);
    await world.slack.acts.submit(ben, modal.id, typed(" production "));
    await world.becomes(card, "approved");
  });
});

describe.concurrent("a request that must be read first", () => {
  const READ_FIRST = "    friction: { read-first: true }\n";

  test("is approved with three clicks, and its card changes at once", async (context) => {
    const world = await aWorld(context, withRule(context, READ_FIRST));
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    accepted(await world.slack.acts.submit(ben, modal.id, {}));
    expect(world.decisions()).toEqual([]);
    accepted(await world.fillModal(ben, "read it"));
    await world.becomes(card, "approved");
    expect(world.slack.traffic.lines().map(({ what }) => what)).toContain("response_url");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "read it" }]);
  });

  test("does not count as read after its window was closed, and need not be read before a denial", async (context) => {
    const world = await aWorld(context, withRule(context, READ_FIRST));
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    await world.slack.acts.close(ben, modal.id);
    const again = await world.openForm(ben, card, "Approve");
    expect(idOf(again.view)).toBe("form:read-first");
    await world.slack.acts.close(ben, again.id);
    expect(idOf((await world.openForm(ben, card, "Deny")).view)).toBe("form:deny");
    await world.fillModal(ben, "not now");
    await world.becomes(card, "denied");
  });

  test("must be read again if it changes while the window is open", async (context) => {
    const world = await aWorld(context, withRule(context, READ_FIRST));
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    const { id, approvals } = await world.runAt(TASK);
    world.service.control.changeApproval(id, approvals[0]?.id ?? "", { action: "deploy everything" });
    await world.reads(card, "deploy everything");
    await world.slack.acts.submit(ben, modal.id, {});
    expect(idOf(modal.view)).toBe("form:changed");
    await world.slack.acts.close(ben, modal.id);
    expect(idOf((await world.openForm(ben, card, "Approve")).view)).toBe("form:read-first");
    expect(world.decisions()).toEqual([]);
  });
});

test("a request counts as read only once Slack has opened its window", async (context) => {
  const world = await aWorld(context, {
    ...withRule(context, "    friction: { read-first: true }\n"),
    troubled: true,
  });
  const { card } = await world.asking(ana, opsAgents, TASK);
  const closeReading = async (): Promise<void> => {
    const modal = await world.openForm(ben, card, "Approve");
    expect(idOf(modal.view)).toBe("form:read-first");
    await world.slack.acts.close(ben, modal.id);
  };
  await closeReading();
  world.slack.faults.next("views.open", { http: 500 });
  accepted(await world.click(ben, card, "Read in full"));
  await world.told(ben, "answer:opening-not-confirmed");
  await closeReading();
  await world.openForm(ben, card, "Read in full");
  await world.decide(ben, card, "Approve", "read this time");
  await world.becomes(card, "approved");
});

describe.concurrent("a request that nobody can approve", () => {
  test("is reported on the card, to the requester and in the fallback channel, until someone can approve it", async (context) => {
    const text = `rules:\n  - { name: lonely, approvers: { users: [${ana}, ${guest}] } }\nfallback: ${releases}\n`;
    const file = policyFile(text, context);
    const world = await aWorld(context, { env: { POLICY_FILE: file.path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.becomes(card, "rule:0-of-1:too-few");
    await world.told(ana, "notice:nobody-can-approve");
    await world.until(() => world.posted(releases).find((each) => says("notice:nobody-can-approve", each)));
    file.write(text.replace(guest, ben));
    await world.reload();
    await world.until(() => !says("rule:0-of-1:too-few", card));
    await world.decide(ben, card, "Approve", "here I am");
    await world.becomes(card, "approved");
  });

  test("is also reported if only one person can approve and the quorum is two", async (context) => {
    const world = await aWorld(context, withRule(context, "    quorum: 2\n"));
    const { card } = await world.asking(ana, payments, TASK);
    await world.becomes(card, "rule:0-of-2:too-few");
    await world.told(ana, "notice:nobody-can-approve");
  });
});

test("the card calls the rule's approvers, or the people whom the rule names instead", async (context) => {
  const text = `rules:
  - { name: quiet, when: { action: "*billing*" }, approvers: { users: [${ben}, ${cat}] }, mention: { users: [${cat}] } }
  - { name: loud, approvers: { groups: [S0APPROVERS] } }\n`;
  const world = await aWorld(context, { env: { POLICY_FILE: policyFile(text, context).path } });
  const { card } = await world.asking(ana, opsAgents, TASK);
  await world.reads(card, `@${cat}`);
  expect(textOf(card)).not.toContain(`@${ben}`);
  await world.decide(ben, card, "Approve", "quietly");
  const loud = await world.asking(cat, opsAgents, "deploy web to staging");
  expect(JSON.stringify(loud.card.blocks)).toContain('"usergroup_id":"S0APPROVERS"');
});

test("a change of a volatile field does not stop a decision, and a change of any other field does", async (context) => {
  const world = await aWorld(context, withRule(context, "", "volatile: [load]\n"));
  const { card } = await world.asking(ana, opsAgents, TASK);
  const { id, approvals } = await world.runAt(TASK);
  const change = (details: Record<string, number>) =>
    world.service.control.changeApproval(id, approvals[0]?.id ?? "", { details });
  change({ load: 1, replicas: 1 });
  await world.becomes(card, "v2", "replicas");
  const modal = await world.openForm(ben, card, "Approve");
  change({ load: 1, replicas: 2 });
  await world.fillModal(ben, "two?");
  expect(idOf(modal.view)).toBe("form:changed");
  expect(world.decisions()).toEqual([]);
  await world.becomes(card, "v3");
  await world.openForm(ben, card, "Approve");
  change({ load: 2, replicas: 2 });
  await world.fillModal(ben, "as I saw it");
  await world.becomes(card, "approved");
  expect(world.decisions()).toEqual([{ decision: "approve", reason: "as I saw it" }]);
});

describe.concurrent("without a policy file", () => {
  test("a card mentions the people and groups in APPROVERS, but others may also decide", async (context) => {
    const world = await aWorld(context, { env: { APPROVERS: `S0ONCALL,${cat},${ana}` } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const mentioned = JSON.stringify(card.blocks);
    expect(mentioned).toContain("S0ONCALL");
    expect(textOf(card)).toContain(`For  @${cat}`);
    await world.decide(ben, card, "Approve", "go on");
    await world.becomes(card, "approved");
  });
});

describe.concurrent("the requester", () => {
  const toldOf = (world: Awaited<ReturnType<typeof aWorld>>, person: string, id: "answered" | "expired") =>
    world.directTo(person).filter((each) => says(`notification:${id}`, each));

  test.for(["Approve", "Deny"] as const)("is notified once who decided: %s", async (label, context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, label, "because");
    const told = await world.until(() => toldOf(world, ana, "answered")[0]);
    expect(textOf(told)).toContain(`@${ben}`);
    expect(textOf(told)).toContain("because");
    await world.becomes(card, label === "Approve" ? "approved" : "denied");
    await world.stopApp();
    await world.startApp();
    await world.command(ana, opsAgents, "help");
    await world.told(ana, "answer:help");
    expect(toldOf(world, ana, "answered")).toHaveLength(1);
  });

  test.for([
    ["nothing", "expired"],
    ["deny", "answered"],
  ] as const)("is notified if nobody decided in time: %s", async ([outcome, id], context) => {
    const world = await aWorld(
      context,
      withRule(context, `    expiry: { after: 1 s, outcome: ${outcome} }\n`),
    );
    await world.asking(ana, opsAgents, TASK);
    await world.until(() => toldOf(world, ana, id)[0]);
  });
});
