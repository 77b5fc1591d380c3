// A start that is stopped while it is being sent, and whose answer is lost: no message promises that the stop still holds.

import { expect, test } from "vitest";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { OUTCOME, STOPPED } from "#src/domain/slot.ts";
import { createBench, failure } from "../make/bot.ts";
import { CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: REQUESTER, channel: CHANNEL };

async function lostStart({ isStopped }: { isStopped: boolean }) {
  const bench = await createBench();
  const { promise, reject } = Promise.withResolvers<never>();
  bench.agents.create = () => promise;
  const started = await bench.flow.startRun.start(BY, { input: "task", intention: "a", answerUrl: null });
  if (!started.ok) throw new Error(started.error.type);
  await bench.clock.pass(1_000);
  if (isStopped) await bench.flow.stopRun.stop({ ...BY, run: started.value, shown: null });
  reject(failure("timeout", { applied: "maybe" }));
  await bench.clock.pass(5_000);
  const stored = await bench.store.load(started.value);
  if (stored?.run.creation.type !== "unknown") throw new Error("the start is not in doubt");
  return stored.run;
}

test("the message about the start says that a run that is watched must be stopped again", async () => {
  const [stopped, other] = [await lostStart({ isStopped: true }), await lostStart({ isStopped: false })];
  expect(JSON.stringify(messageIn(stopped, OUTCOME))).toContain("press Stop in its thread");
  expect(JSON.stringify(messageIn(other, OUTCOME))).not.toContain("Stop");
  expect(renderKey(stopped, OUTCOME)).not.toBe(renderKey(other, OUTCOME));
});

test("the message about the stop no longer says that requests are denied", async () => {
  const { text } = messageIn(await lostStart({ isStopped: true }), STOPPED);
  expect(text).toContain("pressed Stop");
  expect(text).not.toContain("denied");
});
