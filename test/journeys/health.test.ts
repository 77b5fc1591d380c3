// What /readyz and `/agent health` say when something outside fails.

import { describe, expect, test } from "vitest";
import { becomes } from "../make/own-pages.ts";
import { ana, aWorld, ben, cat, opsAgents, type Stage } from "../make/world.ts";
import { eventually } from "../make/eventually.ts";

const TASK = "deploy billing-api to production";

async function metrics(world: Stage): Promise<string[]> {
  return (await (await fetch(`${world.url()}/metrics`)).text()).split("\n");
}

describe.concurrent("health", () => {
  test("every page answers HEAD without a body", async (context) => {
    const world = await aWorld(context);
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      const response = await fetch(`${world.url()}${path}`, { method: "HEAD" });
      expect([path, response.status, await response.text()]).toEqual([path, 200, ""]);
    }
  });

  test("a revoked token is reported as degraded, but the bot stays ready", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const gate = world.service.control.fault({ route: "decide" }, { type: "gate" });
    await world.decide(ben, card, "Approve", "fine");
    await world.until(() => gate.hits() === 1);
    // Slack refuses every call with a revoked token. If it answered one call, the token would count as valid again.
    const methods = {
      auth: ["test"],
      bots: ["info"],
      chat: ["update", "postMessage", "postEphemeral", "delete", "getPermalink"],
      conversations: ["history", "replies", "info", "members", "list"],
      usergroups: ["users.list"],
      users: ["info", "list", "conversations"],
      views: ["open", "update", "publish"],
    };
    for (const [family, names] of Object.entries(methods))
      for (const name of names) world.slack.faults.next(`${family}.${name}`, { error: "token_revoked" }, 50);
    gate.release();
    expect(await becomes(world, "slack_token", /token_revoked/)).toMatchObject({
      status: 200,
      says: "degraded",
    });
    await world.command(ana, opsAgents, "health");
    expect(await world.told(ana, "answer:health:faulty")).toContain("token_revoked");
    expect(await metrics(world)).toContain('countersign_part_healthy{part="slack_token"} 0');
  });

  test("a refused key is detected even without runs, by a request that changes nothing", async (context) => {
    const world = await aWorld(context);
    world.service.control.rotateKey();
    await world.command(ana, opsAgents, "health");
    expect(await world.told(ana, "answer:health:faulty")).toContain("refuses it");
    const asked = world.service.requests.all().map(({ method }) => method);
    expect(new Set(asked)).toEqual(new Set(["GET"]));
    expect(await becomes(world, "service_key", /AGENT_API_KEY/)).toMatchObject({ status: 200 });
    expect(await metrics(world)).toContain('countersign_part_healthy{part="service_key"} 0');
  });

  test("pending approvals are counted, and a decision that the service does not answer", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const waiting = [
      'countersign_runs{state="awaiting_approval"} 1',
      "countersign_approvals_pending 1",
      "countersign_card_delay_seconds_count 1",
      "countersign_decisions_unsent 0",
    ];
    // The card may be in Slack before its post is stored and counted.
    await eventually(async () => expect(await metrics(world)).toEqual(expect.arrayContaining(waiting)));
    const fault = world.service.control.fault({ route: "decide" }, { type: "gate" });
    await world.decide(ben, card, "Approve", "fine");
    await world.until(() => fault.hits() === 1);
    expect(await metrics(world)).toContain("countersign_decisions_unsent 1");
    fault.release();
    await world.saidIn(opening, "outcome:succeeded");
    const after = await metrics(world);
    expect(after).toEqual(
      expect.arrayContaining([
        "countersign_decisions_unsent 0",
        "countersign_approvals_pending 0",
        "countersign_decision_confirmation_delay_seconds_count 1",
        'countersign_policy_info{version="built-in"} 1',
      ]),
    );
    const counted = (name: string): number =>
      Number(after.find((line) => line.startsWith(`countersign_${name} `))?.split(" ")[1]);
    expect(counted("audit_head_entry")).toBeGreaterThan(3);
    expect(counted("store_commit_duration_seconds_count")).toBeGreaterThan(3);
    expect(counted('slack_calls_total{method="chat.postMessage",outcome="ok"}')).toBeGreaterThan(1);
  });

  test("members are not shown the service's address, but admins are", async (context) => {
    const world = await aWorld(context, { env: { ADMINS: cat } });
    const { host } = new URL(world.service.url);
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.service.control.down();
    await world.command(ana, opsAgents, "health");
    expect(await world.told(ana, "answer:health:faulty")).not.toContain(host);
    await world.decide(ben, card, "Approve", "fine");
    await world.command(ben, opsAgents, "watch run_of_somebody_else");
    await world.becomes(card, "retrying");
    const shown = JSON.stringify(world.slack.workspace.messages);
    expect(shown).toContain("nothing listens");
    expect(shown).not.toContain(host);
    await world.command(cat, opsAgents, "health");
    expect(await world.told(cat, "answer:health:faulty")).toContain(host);
  });
});
