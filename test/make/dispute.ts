// A decision that the approver disputes, and its card.

import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import type { RunId } from "#src/domain/ids.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { cardSlot } from "#src/domain/slot.ts";
import { printedMessage } from "../adapters/slack/blocks/printed.ts";
import type { Bench } from "./bot.ts";
import { BY, decided, receiptOf } from "./receipts.ts";

export async function withReceipt(bench: Bench) {
  const card = await decided(bench);
  return { ...card, receipt: await receiptOf(bench) };
}

export async function disputed(bench: Bench) {
  const made = await withReceipt(bench);
  const answer = await bench.flow.dispute(BY, made.receipt.id);
  await bench.clock.pass(3_000);
  return { ...made, answer };
}

export async function cardOf(bench: Bench, id: RunId) {
  const run = await bench.run(id);
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("no approval");
  return {
    run,
    approval,
    shown: printedMessage(approvalCard(run, approval)).replaceAll("**", ""),
    key: renderKey(run, cardSlot(approval.id)),
  };
}
