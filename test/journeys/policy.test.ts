import { describe, expect, test } from "vitest";
import { modalText } from "../make/journey-sight.ts";
import { idOf } from "../make/message-id.ts";
import { policyFile } from "../make/policy.ts";
import { ana, aWorld, ben, cat, opsAgents, payments, releases } from "../make/world.ts";

const TASK = "deploy billing-api to production";
const SHARED_MS = 5_000;

const PEOPLE = `rules:
  - name: production
    when: { action: "deploy * to production*" }
    approvers: { users: [${ben}] }
    reason: { approve: 10, deny: 3 }
  - name: rest
    approvers: anyone
`;
const GROUPS = `rules:
  - name: by the group
    approvers: { groups: [S0APPROVERS] }
`;

describe.concurrent("a policy's approvers", () => {
  test("are named by id: anyone else is refused at the click", async (context) => {
    const world = await aWorld(context, { env: { POLICY_FILE: policyFile(PEOPLE, context).path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.isRefused(cat, card, "Approve", "not-approver");
    await world.told(cat, "refusal:not-approver", "`production`");
    const modal = await world.openForm(ben, card, "Approve");
    expect(modalText(modal)).toContain("10");
    await world.fillModal(ben, "too short");
    expect(Object.keys(modal.errors)).toEqual(["reason"]);
    expect(modal.errors["reason"]).toMatch(/9.*10/);
    expect(world.decisions()).toEqual([]);
    await world.fillModal(ben, "long enough");
    await world.becomes(card, "approved", "long enough");
  });

  test("are the members of a user group, and a person who leaves it before the submit is refused", async (context) => {
    const world = await aWorld(context, { env: { POLICY_FILE: policyFile(GROUPS, context).path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    await world.lateBy(SHARED_MS);
    const group = world.slack.workspace.usergroups.get("S0APPROVERS");
    if (group === undefined) throw new Error("the sandbox has no group of approvers");
    group.users = [cat];
    await world.fillModal(ben, "as before");
    expect(idOf(modal.view)).toBe("refusal:not-approver");
    expect(modalText(modal)).toContain("`by the group`");
    expect(world.decisions()).toEqual([]);
    await world.decide(cat, card, "Approve", "mine");
    await world.becomes(card, "approved", "mine");
  });

  test("are refused as unverified if Slack cannot list their group", async (context) => {
    const world = await aWorld(context, {
      env: { POLICY_FILE: policyFile(GROUPS, context).path },
      troubled: true,
    });
    // Slack is asked twice: when counting who can approve, and at the click.
    for (let time = 0; time < 2; time += 1) world.slack.faults.next("usergroups.users.list", { http: 500 });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.isRefused(ben, card, "Approve", "unverified");
    await world.decide(ben, card, "Approve", "now");
    await world.becomes(card, "approved", "now");
  });

  test("are the members of a channel, although anyone can see the card", async (context) => {
    const file = policyFile(
      `rules:\n  - name: payers\n    approvers: { channels: [${payments}] }\n`,
      context,
    );
    const world = await aWorld(context, { env: { POLICY_FILE: file.path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.isRefused(cat, card, "Approve", "not-approver");
    await world.told(cat, "refusal:not-approver", "`payers`");
    await world.decide(ben, card, "Deny", "not today");
    await world.becomes(card, "denied");
  });

  test("include the requester only if the rule says so", async (context) => {
    const file = policyFile(`rules:\n  - { name: own, approvers: anyone, self-approval: true }\n`, context);
    const world = await aWorld(context, { env: { POLICY_FILE: file.path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ana, card, "Approve", "my own");
    await world.becomes(card, "approved", "my own");
  });
});

describe.concurrent("a reloaded policy", () => {
  test("applies to a form that is already open", async (context) => {
    const file = policyFile(PEOPLE, context);
    const world = await aWorld(context, { env: { POLICY_FILE: file.path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    file.write(PEOPLE.replace(ben, cat));
    await world.reload();
    await world.fillModal(ben, "I was allowed");
    expect(idOf(modal.view)).toBe("refusal:not-approver");
    expect(world.decisions()).toEqual([]);
    await world.decide(cat, card, "Approve", "now it is me");
    await world.becomes(card, "approved", "now it is me");
  });

  test("is not used if its file is invalid, and the old policy stays in force", async (context) => {
    const file = policyFile(PEOPLE, context);
    const world = await aWorld(context, { env: { POLICY_FILE: file.path }, troubled: true });
    file.write("rules: [");
    await world.reload();
    expect(world.logged.join("\n")).toContain("the old policy stays in force");
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.isRefused(cat, card, "Approve", "not-approver");
    await world.told(cat, "refusal:not-approver", "`production`");
  });
});

test("an invalid policy keeps Countersign from starting, and the error says where it is wrong", async (context) => {
  const file = policyFile("rules:\n  - name: a\n    approvers: { users: [] }", context);
  await expect(aWorld(context, { env: { POLICY_FILE: file.path } })).rejects.toThrow(
    `${file.path}:3: rules[0].approvers.users is empty`,
  );
});

test("the policy determines who may start runs, and where", async (context) => {
  const file = policyFile(
    `rules:\n  - { name: all, approvers: anyone }\nstarters:\n  - { channels: [${opsAgents}], who: { groups: [S0APPROVERS] } }\n`,
    context,
  );
  const world = await aWorld(context, { env: { POLICY_FILE: file.path } });
  expect(await world.command(ana, opsAgents, `run ${TASK}`)).toMatchObject({ ok: true });
  await world.told(ana, "command-refusal:not-starter");
  await world.command(ben, releases, `run ${TASK}`);
  await world.told(ben, "command-refusal:no-runs-here");
  expect(world.tasksSent()).toEqual([]);
  await world.run(ben, opsAgents, TASK);
  await world.runAt(TASK);
});
