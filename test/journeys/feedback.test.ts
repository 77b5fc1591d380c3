// How soon people see that their decision was received and how a run ended, whatever Slack's budget for updates is.

import { describe, expect, test } from "vitest";
import { slackTiming } from "#sandbox/slack/slack-context.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { accepted } from "../make/journey-acts.ts";
import { buttonsOf } from "../make/journey-sight.ts";
import { cardStateOf, says } from "../make/message-id.ts";
import { policyFile } from "../make/policy.ts";
import { ana, aWorld, ben, cat, opsAgents, type Stage } from "../make/world.ts";

const TASK = "deploy billing-api to production";
const TAKEN = ["sending", "approved"] as const;

/** Makes Slack leave every chat.update unanswered until the returned function is called. */
function holdUpdates({ slack }: Stage): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  slack.faults.next("chat.update", { until: promise }, 50);
  return () => {
    slack.faults.clear();
    resolve();
  };
}

const replacements = ({ slack }: Stage) =>
  slack.traffic.lines().filter(({ from, what }) => from === "app" && what === "response_url");

describe.concurrent("the card", () => {
  test("says that the decision is recorded while Slack accepts no updates, and then shows the service's answer", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    const letGo = holdUpdates(world);
    accepted(await world.fillModal(ben, "fine"));
    await world.becomes(card, TAKEN);
    expect(buttonsOf(card)).not.toContain("Approve");
    letGo();
    await world.becomes(card, "approved");
    expect(replacements(world)).toMatchObject([
      { refused: null, detail: { answer: { replace_original: true } } },
    ]);
    expect(world.decisions()).toHaveLength(1);
  });

  test("keeps the mark that is used to find a lost card", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const before = card.metadata;
    await world.decide(ben, card, "Approve", "fine");
    await world.becomes(card, "approved");
    expect(replacements(world)).toHaveLength(1);
    expect(card.metadata).toEqual(before);
  });

  test("is updated even if Slack no longer accepts the click's response URL", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    world.world.clock.advance(31 * 60_000);
    accepted(await world.fillModal(ben, "fine"));
    await world.becomes(card, "approved");
    expect(replacements(world)).toMatchObject([{ refused: "expired_url" }]);
    expect(world.decisions()).toHaveLength(1);
  });

  test("shows the first of two approvals at once, and also its withdrawal", async (context) => {
    const rules = "rules:\n  - name: strict\n    approvers: anyone\n    quorum: 2\n    hold: 10 min\n";
    const world = await aWorld(context, { env: { POLICY_FILE: policyFile(rules, context).path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.becomes(card, "rule:0-of-2");
    const letGo = holdUpdates(world);
    await world.decide(ben, card, "Approve", "looks right");
    await world.becomes(card, "rule:1-of-2");
    await world.decide(cat, card, "Approve", "to me too");
    await world.becomes(card, "held");
    accepted(await world.click(cat, card, "Undo"));
    await world.becomes(card, "pending");
    letGo();
    expect(world.decisions()).toEqual([]);
  });

  test("is updated without a response URL after a restart", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    await world.stopApp();
    await world.startApp();
    accepted(await world.fillModal(ben, "fine"));
    await world.becomes(card, "approved");
    expect(replacements(world)).toEqual([]);
  });

  test("does not write the response URL to the log or the database", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "fine");
    await world.becomes(card, "approved");
    expect(world.logged.join("\n")).not.toContain("/response/");
  });
});

test("three runs that fail at once are shown as failed in opening, thread and card within three seconds", async (context) => {
  const world = await aWorld(context, { rateLimits: true, timing: slackTiming });
  const runs: { id: string; opening: Message; card: Message }[] = [];
  for (const nth of [1, 2, 3]) {
    const task = `${TASK}, part ${nth}`;
    const { opening, card } = await world.asking(ana, opsAgents, task);
    await world.becomes(opening, "run:awaiting-approval");
    runs.push({ id: (await world.runAt(task)).id, opening, card });
  }
  // The six messages have used up the burst that Slack allows in one channel.
  await world.lateBy(4_000);
  const from = performance.now();
  for (const { id } of runs) world.service.control.fail(id, "no room left");
  for (const { opening, card } of runs) {
    await world.saidIn(opening, "outcome:failed");
    await world.becomes(opening, "run:failed");
    await world.becomes(card, "closed");
  }
  expect(performance.now() - from).toBeLessThan(3_000);
  expect(runs.map(({ card }) => cardStateOf(card))).toEqual(["closed", "closed", "closed"]);
  expect(runs.every(({ opening }) => says("run:failed", opening))).toBe(true);
});
