// `kill -9` around reminders and a stage of the escalation: each request is mentioned once, alone or together with others.

import { expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { idOf } from "../make/message-id.ts";
import { policyFile } from "../make/policy.ts";
import { releases } from "../make/world.ts";
import { startLane } from "./lane.ts";
import { newLife } from "./life.ts";

const RUNS = 3;
const POLICY = `rules:
  - name: timed
    approvers: anyone
    remind: { after: 1 s, at-most: 1 }
    escalate: [{ after: 2 s, to: { channel: ${releases} } }]
`;
/**
 * How long after the requests the process dies (ms): before the reminder is due, while it is gathered, while it is posted, after the stage.
 */
const KILLS = [900, 2_600, 5_200, 7_400];
const PATIENCE_MS = 60_000;

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns how many requests the messages of this kind are about. */
function requestsIn(messages: readonly Message[], kind: "waits" | "stage"): number {
  return messages.reduce((sum, message) => {
    const id = idOf(message);
    if (id === `several:${kind}`) return sum + Number(/\d+/.exec(message.text)?.[0] ?? 0);
    return id === `call:${kind}` || id === `announcement:${kind}` ? sum + 1 : sum;
  }, 0);
}

test.concurrent.for(KILLS)(
  "each waiting request is mentioned once, after a kill %d ms later",
  { timeout: 180_000 },
  async (ms, context) => {
    const lane = await startLane({ POLICY_FILE: policyFile(POLICY, context).path });
    context.onTestFinished(() => lane.stop());
    const { service, slack } = lane.world;
    const life = newLife(lane.world, "calls", "none", { verdict: "approve" });
    const ids = Array.from({ length: RUNS }, () => service.control.createRun("release forever").id);
    const posted = (channel: string): Message[] =>
      slack.workspace.messages.filter((each) => each.channel === channel && each.ephemeralFor === null);
    for (const id of ids) await slack.acts.command(life.requester, life.channel, "/agent", `watch ${id}`);
    await slack.workspace.until(() => posted(life.channel).length >= RUNS, { timeoutMs: PATIENCE_MS });
    for (const id of ids) service.control.addApproval(id, { action: "Deploy", details: { tool: "deploy" } });
    await later(ms);
    await lane.kill();
    await lane.restart();
    const mentioned = (): readonly number[] => [
      requestsIn(posted(life.channel), "waits"),
      requestsIn(posted(releases), "stage"),
    ];
    await slack.workspace.until(() => mentioned().every((count) => count >= RUNS), {
      timeoutMs: PATIENCE_MS,
    });
    await lane.quiet();
    expect(mentioned()).toEqual([RUNS, RUNS]);
    expect(await lane.audit()).toMatchObject({ ok: true });
  },
);
