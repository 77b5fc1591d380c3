// What /readyz and `/agent health` say when something outside fails.

import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { ana, aWorld, ben, cat, opsAgents, type Stage } from "../make/world.ts";

const TASK = "deploy billing-api to production";

async function ready(
  world: Stage,
): Promise<{ status: number; says: string; checks: Record<string, string> }> {
  const response = await fetch(`${world.url()}/readyz`);
  const body = (await response.json()) as { status: string; checks: Record<string, string> };
  return { status: response.status, says: body.status, checks: body.checks };
}

async function metrics(world: Stage): Promise<string[]> {
  return (await (await fetch(`${world.url()}/metrics`)).text()).split("\n");
}

/** Asks again, as a probe does. */
async function becomes(world: Stage, part: string, says: RegExp): Promise<{ status: number; says: string }> {
  return vi.waitFor(
    async () => {
      const answer = await ready(world);
      expect(answer.checks[part]).toMatch(says);
      return answer;
    },
    { timeout: 20_000, interval: 100 },
  );
}

describe.concurrent("health", () => {
  test("every page answers HEAD without a body", async (context) => {
    const world = await aWorld(context);
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      const response = await fetch(`${world.url()}${path}`, { method: "HEAD" });
      expect([path, response.status, await response.text()]).toEqual([path, 200, ""]);
    }
  });

  test("a store that takes no writes, although it can be read, is not ready", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const path = (world.world.env["DATABASE_URL"] ?? "").replace("sqlite:", "");
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    expect(await becomes(world, "store", /another process is using it/)).toMatchObject({ status: 503 });
    other.exec("rollback");
    other.close();
    await becomes(world, "store", /^ok$/);
    expect(
      await becomes(world, "store_calls", /failed within the last minute, the last with store_busy/),
    ).toMatchObject({
      status: 200,
      says: "degraded",
    });
  });

  test("a revoked token is told, and takes nobody out of service", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const gate = world.service.control.fault({ route: "decide" }, { kind: "gate" });
    await world.decide(ben, card, "Approve", "fine");
    await world.until(() => gate.hits() === 1);
    for (const method of ["chat.update", "chat.postMessage", "auth.test", "users.info", "views.update"])
      world.slack.faults.next(method, { error: "token_revoked" }, 50);
    gate.release();
    expect(await becomes(world, "slack_token", /token_revoked/)).toMatchObject({
      status: 200,
      says: "degraded",
    });
    await world.command(ana, opsAgents, "health");
    expect(await world.told(ana, "answer:health:faulty")).toContain("token_revoked");
    expect(await metrics(world)).toContain('countersign_part_healthy{part="slack_token"} 0');
  });

  test("a refused key is found with no run at all, by a request that changes nothing", async (context) => {
    const world = await aWorld(context);
    world.service.control.rotateKey();
    await world.command(ana, opsAgents, "health");
    expect(await world.told(ana, "answer:health:faulty")).toContain("refuses it");
    const asked = world.service.requests.all().map(({ method }) => method);
    expect(new Set(asked)).toEqual(new Set(["GET"]));
    expect(await becomes(world, "service_key", /AGENT_API_KEY/)).toMatchObject({ status: 200 });
    expect(await metrics(world)).toContain('countersign_part_healthy{part="service_key"} 0');
  });

  test("what waits is counted, and a decision that the service does not take", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    expect(await metrics(world)).toEqual(
      expect.arrayContaining([
        'countersign_runs{state="awaiting_approval"} 1',
        "countersign_approvals_pending 1",
        "countersign_card_delay_seconds_count 1",
        "countersign_decisions_unsent 0",
      ]),
    );
    const fault = world.service.control.fault({ route: "decide" }, { kind: "gate" });
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

  test("members learn no address of the service; admins do", async (context) => {
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
