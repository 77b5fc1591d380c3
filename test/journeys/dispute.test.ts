// "This was not me", from the receipt to the admin's conclusion.

import { expect, test, vi } from "vitest";
import { buttonsOf, elementsOf, textOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, aWorld, ben, cat, opsAgents, releases } from "../make/world.ts";

const TASK = "deploy billing-api to production";

test("a disputed decision is marked on its card and opening, linked for the admins, and closed with a conclusion", async (context) => {
  const stage = await aWorld(context, {
    troubled: true,
    env: { ADMINS: cat, AUDIT_CHANNEL: releases },
  });
  const { opening, card } = await stage.asking(ana, opsAgents, TASK);
  await stage.decide(ben, card, "Approve", "looked at it");
  await stage.becomes(card, "approved");
  const { id } = await stage.runAt(TASK);
  const receipt = await stage.until(() => stage.directTo(ben).find((each) => says("receipt:approve", each)));
  // Until the receipt is stored, other receipts may still join its message, and the button would stay.
  const isStored = (): boolean => stage.logged.some((line) => line.includes('"notification":"receipt"'));
  await vi.waitUntil(isStored, { timeout: 20_000 });
  await stage.click(ben, receipt, "This was not me");
  await stage.modalOf(ben, "answer:reported");
  await stage.becomes(receipt, "receipt:reported");
  expect(buttonsOf(receipt)).toEqual([]);
  await stage.becomes(card, "dispute:1:open", `@${ben}`);
  await stage.reads(opening, "disputed");
  const alarm = await stage.until(() =>
    stage.directTo(cat).find((each) => says("notification:dispute", each)),
  );
  expect(textOf(alarm)).toContain(`/agent audit ${id}`);
  const [link] = elementsOf(alarm.blocks).filter(({ type }) => type === "link");
  expect(link?.["url"]).toContain(card.ts.replace(".", ""));
  await stage.command(ana, opsAgents, `audit close ${id} never mind`);
  await stage.told(ana, "command-refusal:not-admin");
  await stage.command(cat, opsAgents, `audit close ${id} A mis-tap; Ben confirmed it.`);
  await stage.told(cat, "answer:dispute-closed");
  await stage.becomes(card, "dispute:1:closed", `@${cat}`, "A mis-tap; Ben confirmed it.");
  await stage.until(() => !textOf(opening).includes("disputed"));
});
