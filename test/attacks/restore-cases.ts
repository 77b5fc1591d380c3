// Messages that look like ours, prepared for a restore. After a restore, Countersign closes only messages that it posted and does not know.

import { expect } from "vitest";
import { buttonsOf, textOf } from "../make/journey-sight.ts";
import { backedUp } from "../make/restore.ts";
import { ana, ben, releases } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";

type Copy = { readonly author: string; readonly event_payload: Record<string, unknown> };
type Row = readonly [what: string, copied: (payload: Record<string, unknown>, app: string) => Copy];

const rows: readonly Row[] = [
  [
    "another author's copy of a card, with our metadata: a restore leaves it alone, and a press decides nothing",
    (event_payload) => ({ author: ana, event_payload }),
  ],
  [
    "the card of another installation of the same app: a restore and a press leave it alone",
    (payload, author) => ({ author, event_payload: { ...payload, home: "0".repeat(16) } }),
  ],
  [
    "our message whose metadata names the run of another card: the known card stays unchanged",
    (payload, author) => ({ author, event_payload: { ...payload, run: ["not", "a", "run"], mark: 7 } }),
  ],
];

async function attack(on: Story, [, copied]: Row): Promise<void> {
  const { world, card } = on;
  const { workspace } = world.slack;
  const copy = await backedUp(world);
  const lost = await world.asking(ana, releases, "deploy search to production");
  const { blocks, metadata } = structuredClone(lost.card);
  const { author, event_payload } = copied(metadata?.event_payload ?? {}, workspace.app.person);
  const event = { event_type: metadata?.event_type ?? "", event_payload };
  const fake = workspace.post({ channel: releases, author, text: "a card", blocks, metadata: event });
  const before = textOf(fake);
  await copy.restore();
  await world.becomes(lost.card, "orphan:card");
  await world.until(() =>
    world.logged.some((line) => line.includes("restored copy does not know are closed")),
  );
  expect(buttonsOf(card)).not.toEqual([]);
  if (author !== ana) {
    on.refused("unknown");
    await world.isRefused(ben, fake, "Approve", "unknown");
  }
  expect(textOf(fake)).toBe(before);
  expect(world.decisionPosts()).toEqual([]);
}

export const restoreCases: readonly Attack<Story>[] = attacks<Story, Row>(21, 10, rows, attack);
