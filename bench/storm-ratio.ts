// Measures how long people wait in a storm: a followed run asks for 100 approvals at once in one channel. The figure is the time until each
// approval has a button somewhere, divided by the time that one message a second allows for these messages.

import type { Message } from "#sandbox/slack/model.ts";
import { addChannel, range, withBot } from "./deciding.ts";

export type Storm = { readonly ratio: number; readonly ms: number; readonly messages: number };

const APPROVALS = 100;
const REACHABLE_MS = 200_000;

export function stormRatio(): Promise<Storm> {
  return withBot(async (world) => {
    const { workspace, acts } = world.slack;
    const { control } = world.service;
    const channel = addChannel(world, 0);
    const run = control.createRun("release forever");
    const details = (nth: number) => ({ tool: "deploy", risk: nth % 2 === 0 ? "high" : "low" });
    for (const nth of range(APPROVALS))
      control.addApproval(run.id, { action: `Deploy part ${nth}`, details: details(nth) });
    const from = performance.now();
    const { ok } = await acts.command("U0ANA", channel, "/agent", `watch ${run.id}`);
    if (!ok) throw new Error("the bot did not take a command");
    const open = (): Message[] => workspace.messages.filter((each) => approveButtons(each).length > 0);
    const reachable = (): number => new Set(open().flatMap(approveButtons)).size;
    const what = `${APPROVALS} approvals that can be decided`;
    await workspace.until(() => reachable() >= APPROVALS, { timeoutMs: REACHABLE_MS, what });
    const ms = performance.now() - from;
    // The run's opening is needed, too, because its replies have the buttons.
    const messages = open().length + 1;
    return { ms, messages, ratio: ms / (messages * 1_000) };
  });
}

/** Returns the values of the message's Approve buttons. */
function approveButtons({ blocks }: Message): string[] {
  const found = JSON.stringify(blocks).matchAll(/"action_id":"card_approve","value":"([^"]+)"/g);
  return [...found].flatMap(([, value]) => value ?? []);
}
