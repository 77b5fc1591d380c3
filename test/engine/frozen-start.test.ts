// A start during a freeze. The freeze must be known before anything about the runs is changed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { ADMIN, createBench } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { CHANNEL, TEAM } from "../make/run.ts";

const MIN = 60_000;

test("a start during a freeze calls nobody to a request that nobody can approve", async () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-frozen-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const bench = await createBench({}, 0, join(folder, "bot.db"));
  const remind = { afterMs: 15 * MIN, doubles: false, atMost: 4 };
  bench.policy = aPolicy({ followUp: { ...NO_FOLLOW_UP, remind } });
  await bench.withCard();
  const admin = { team: TEAM, user: ADMIN, channel: CHANNEL };
  expect(await bench.flow.freeze.freeze(admin, CHANNEL, "why")).toMatchObject({ ok: true });
  await bench.clock.pass(20 * MIN);
  await bench.restart(5 * MIN);
  await bench.clock.pass(5 * MIN);
  const calls = bench.chat.posts.filter(({ slot }) => slot.startsWith("call "));
  expect(calls).toEqual([]);
});
