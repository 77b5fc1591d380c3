// Shared by the measurements of decisions: a person opens the form of a card and submits it.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBot } from "#sandbox/bot/bot-process.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";

export const isOpenCard = ({ blocks, broadcast }: Message): boolean =>
  broadcast && JSON.stringify(blocks).includes('"action_id":"card_approve"');

/** Adds a new member to the workspace, who opens the form. Resolves to a function that submits it. */
export async function openForm({ slack }: World, card: Message, id: string): Promise<() => Promise<unknown>> {
  const { workspace, acts } = slack;
  addPerson({ slack }, id);
  const block = card.blocks.find(({ type }) => type === "actions")?.block_id ?? "";
  await acts.click(id, { channel: card.channel, ts: card.ts }, block, "card_approve");
  const modal = await workspace.until(() => workspace.viewsOf(id)[0], { timeoutMs: 5_000, what: "a modal" });
  return () => acts.submit(id, modal.id, { reason: { reason_text: "The numbers are right." } });
}

export function addPerson({ slack: { workspace } }: Pick<World, "slack">, id: string): void {
  const person = { id, team: workspace.team.id, name: id, handle: id.toLowerCase() };
  workspace.people.set(id, { ...person, kind: "member", deactivated: false });
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Starts a bot in a world where Slack enforces its limits. Rejects if Slack rate-limited a call. */
export async function withBot<Value>(
  measure: (world: World) => Promise<Value>,
  env: { readonly [name: string]: string } = {},
): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const world = await startWorld({ databaseUrl, slack: { rateLimits: true } });
  const tooFast: string[] = [];
  world.slack.traffic.onLine(({ what, refused }) => void (refused === "ratelimited" && tooFast.push(what)));
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn", ...env });
  try {
    await bot.ready();
    const value = await measure(world);
    if (tooFast.length > 0)
      throw new Error(`Slack answered 429 to ${tooFast.length} calls: ${tooFast.join(", ")}`);
    return value;
  } finally {
    await bot.end("SIGKILL");
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Adds a channel with Ana and the bot. Returns its id. */
export function addChannel({ slack: { workspace } }: World, index: number): string {
  const id = `C0BENCH${index}`;
  const members = ["U0ANA", workspace.app.person];
  workspace.channels.set(id, { id, name: `bench-${index}`, kind: "public", members, archived: false });
  return id;
}

export const range = (count: number): number[] => [...Array(count).keys()];

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
