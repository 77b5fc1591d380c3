// `kill -9` around the notice of many requests in a channel: there is one notice, and it ends.

import { expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { idOf } from "../make/message-id.ts";
import { type Lane, startLane } from "./lane.ts";
import { newLife } from "./life.ts";

const RUNS = 13;
/** How long after the requests the process dies (ms): before the notice, while it is posted, and once it is there. Our choice. */
const KILLS = [300, 700, 1_100, 2_500];
const PATIENCE_MS = 60_000;

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function asking(lane: Lane): Promise<() => Message[]> {
  const { service, slack } = lane.world;
  const life = newLife(lane.world, "many requests", "none", { verdict: "approve" });
  const posted = (): Message[] =>
    slack.workspace.messages.filter(
      ({ channel, ephemeralFor }) => channel === life.channel && ephemeralFor === null,
    );
  const ids = Array.from({ length: RUNS }, () => service.control.createRun("release forever").id);
  for (const id of ids) await slack.acts.command(life.requester, life.channel, "/agent", `watch ${id}`);
  await slack.workspace.until(() => posted().length >= RUNS, { timeoutMs: PATIENCE_MS });
  for (const id of ids) service.control.addApproval(id, { action: "Deploy", details: { tool: "deploy" } });
  return posted;
}

test.concurrent.for(KILLS)(
  "a channel has one notice of many requests, which ends, after a kill %d ms later",
  { timeout: 180_000 },
  async (ms, context) => {
    const lane = await startLane();
    context.onTestFinished(() => lane.stop());
    const posted = await asking(lane);
    await later(ms);
    await lane.kill();
    await lane.restart();
    const { workspace } = lane.world.slack;
    const cards = (): Message[] => posted().filter(({ broadcast }) => broadcast);
    await workspace.until(() => cards().length >= RUNS, { timeoutMs: PATIENCE_MS });
    await lane.quiet();
    const notices = posted()
      .map(idOf)
      .filter((id) => id?.startsWith("thread:storm") === true);
    expect(notices.filter((id) => id !== "thread:storm-over")).toEqual([]);
    expect(notices.length).toBeLessThanOrEqual(1);
    expect(cards()).toHaveLength(RUNS);
    expect(await lane.audit()).toMatchObject({ ok: true });
  },
);
