// Measures how long after a press of Stop an approval may still leave. Each run has one approval that is held for a second, and someone
// stops the run around the end of the hold.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBot } from "#sandbox/bot/bot-process.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { isOpenCard, openForm, quantile } from "./deciding.ts";

/** `late`: how many approvals left after their run's Stop was pressed. `p99Ms`: how late they left (p99), or 0 if none did. */
export type BrakeTimes = { readonly p99Ms: number; readonly late: number; readonly presses: number };

const CHANNEL = "C0OPSAGENTS";
const HOLD_MS = 1_000;
const POLICY = `rules:\n  - name: held\n    approvers: anyone\n    hold: ${HOLD_MS / 1_000}s\n`;
const WAIT_MS = 20_000;
/** The presses are spread over this time around the end of the hold (ms). */
const SPREAD_MS = 200;

export async function brakeTimes(presses: number): Promise<BrakeTimes> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const policy = join(folder, "policy.yaml");
  await writeFile(policy, POLICY);
  const world = await startWorld({
    databaseUrl: `sqlite:${join(folder, "bot.db")}`,
    slack: { rateLimits: false },
  });
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn", POLICY_FILE: policy });
  await bot.ready();
  const times: number[] = [];
  for (let nth = 0; nth < presses; nth += 1)
    times.push(await lateness(world, nth, (nth / presses) * SPREAD_MS));
  await bot.end("SIGKILL");
  await world.stop();
  await rm(folder, { recursive: true, force: true });
  return { p99Ms: quantile(times, 0.99), late: times.filter((ms) => ms > 0).length, presses };
}

/** Resolves to how long after the press the approval left (ms), or 0 if it left before the press or never. */
async function lateness(world: World, nth: number, delayMs: number): Promise<number> {
  const { slack, service } = world;
  const run = service.control.createRun(`release ${nth} forever`);
  service.control.addApproval(run.id, { action: `Deploy part ${nth}`, details: { tool: "deploy" } });
  await slack.acts.command("U0ANA", CHANNEL, "/agent", `watch ${run.id}`);
  const open = (): Message | undefined => slack.workspace.messages.find(isOpenCard);
  const card = await slack.workspace.until(open, { timeoutMs: WAIT_MS, what: "a card" });
  // A card is visible a moment before the bot has Slack's answer.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const submit = await openForm(world, card, `U0BRAKE${nth}`);
  await submit();
  await new Promise((resolve) => setTimeout(resolve, HOLD_MS - SPREAD_MS / 2 + delayMs));
  const pressed = Date.now();
  const opening = slack.workspace.messages.find(({ ts }) => ts === card.thread);
  const block = opening?.blocks.find(({ type }) => type === "actions")?.block_id ?? "";
  await slack.acts.click("U0ANA", { channel: CHANNEL, ts: opening?.ts ?? "" }, block, "run_stop");
  const decisions = () =>
    service.requests.all({ method: "POST", route: "decide" }).filter(({ path }) => path.includes(run.id));
  await service.requests.until(() => decisions().length > 0, { timeoutMs: WAIT_MS });
  const approved = decisions().find(({ body }) => body?.includes('"approve"') === true);
  return approved === undefined ? 0 : Math.max(0, approved.at - pressed);
}
