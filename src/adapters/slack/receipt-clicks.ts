// Handles "This was not me": records the report, and removes the button from the receipt.

import { Nonce, parsed } from "../../domain/ids.ts";
import { PortError, SEVERAL_RECEIPTS } from "../../ports.ts";
import type { Disputed } from "../../usecases/dispute.ts";
import { named } from "./blocks/deployment.ts";
import { notificationMessage } from "./blocks/notification-message.ts";
import { severalReceipts } from "./blocks/receipts.ts";
import type { Message } from "./blocks/rich.ts";
import { type Answer, showAnswer } from "./clicks.ts";
import { linkAt } from "./own-messages.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { ClickPayload } from "./payloads.ts";

/** "This was not me", pressed on a receipt. */
export async function onNotMe(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const reported = await report(deps, payload);
  if (reported === null) return;
  const heading = reported.again ? "Already reported" : "Reported";
  const id = reported.again ? "answer:reported-before" : "answer:reported";
  try {
    await showAnswer(deps, payload, { id, heading, text: disputeWords(reported) });
  } finally {
    await removeButton(deps, payload, reported);
  }
}

/** Null: nothing was reported, and the person has an answer that says so. */
async function report(deps: ListenerDeps, payload: ClickPayload): Promise<Disputed | null> {
  const [{ value }] = payload.actions;
  try {
    const by = { team: deps.team, user: payload.user.id };
    const disputed = await deps.dispute(by, parsed<Nonce>(Nonce, value));
    if (disputed.ok) return disputed.value;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, 'could not record "This was not me"');
    await showAnswer(deps, payload, NOT_REPORTED_YET);
    return null;
  }
  await showAnswer(deps, payload, NOT_YOUR_RECEIPT);
  return null;
}

const NOT_REPORTED_YET: Answer = {
  id: "answer:report-not-recorded",
  heading: "Not reported yet",
  text: "Countersign could not record this just now. Press the button again, and tell an admin of Countersign.",
};
const NOT_YOUR_RECEIPT: Answer = {
  id: "answer:not-your-receipt",
  heading: "Nothing was reported",
  text: "This button does not belong to a receipt of yours.",
};

/** Removes this receipt's button from its message. If Slack refuses the update, the button stays, and pressing it reports nothing new. */
async function removeButton(
  deps: ListenerDeps,
  { response_url }: ClickPayload,
  reported: Disputed,
): Promise<void> {
  const message = await withoutButton(deps, reported);
  if (message === null) return;
  try {
    const drawn = named(message, deps.deployment);
    await deps.answerAt(response_url, { replace_original: true, ...drawn });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "the button of a receipt stays");
  }
}

/** Null: which receipts share its message is not known, and their buttons must stay. */
async function withoutButton(
  deps: ListenerDeps,
  { receipt, facts, reportedAt, together }: Disputed,
): Promise<Message | null> {
  if (receipt.post.type !== "up") return null;
  if (receipt.post.shows !== SEVERAL_RECEIPTS)
    return notificationMessage(receipt, facts, { reportedAt, deployment: deps.deployment });
  if (together.length === 0) return null;
  const linked = await Promise.all(
    together.map(async (each) => ({
      ...each,
      link: await linkAt(deps, each.facts.channel, each.facts.card),
    })),
  );
  return severalReceipts(linked, deps.deployment);
}

function disputeWords({ notified }: Disputed): string {
  const admins =
    notified === 0
      ? "No admin is named in Countersign's configuration, so tell the people who operate it *now*."
      : "The admins have been told.";
  return `You reported that somebody else decided this in your name. The audit records it. ${admins} The decision is not undone: it may have reached the service already. Sign out of all your Slack sessions and change your password.`;
}
