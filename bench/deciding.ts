// What the measurements of decisions share: a person opens the form of a card and submits it.

import type { Message } from "#sandbox/slack/model.ts";
import type { World } from "#sandbox/world/world.ts";

export const isOpenCard = ({ blocks, broadcast }: Message): boolean =>
  broadcast && JSON.stringify(blocks).includes('"action_id":"card_approve"');

/** Adds a new member of the workspace who opens the form. Resolves to their submit. */
export async function openForm({ slack }: World, card: Message, id: string): Promise<() => Promise<unknown>> {
  const { workspace, acts } = slack;
  const { team } = workspace;
  workspace.people.set(id, {
    id,
    team: team.id,
    name: id,
    handle: id.toLowerCase(),
    kind: "member",
    deactivated: false,
  });
  const block = card.blocks.find(({ type }) => type === "actions")?.block_id ?? "";
  await acts.click(id, { channel: card.channel, ts: card.ts }, block, "card_approve");
  const modal = await workspace.until(() => workspace.viewsOf(id)[0], { timeoutMs: 5_000, what: "a modal" });
  return () => acts.submit(id, modal.id, { reason: { reason_text: "The numbers are right." } });
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
