// A decision by the approver, and the notifications that result from it.

import type { Verdict } from "#src/domain/approval.ts";
import type { UserId } from "#src/domain/ids.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { type Bench, failure } from "./bot.ts";
import { APPROVER, TEAM } from "./run.ts";

export const BY = { team: TEAM, user: APPROVER };

export async function decided(bench: Bench, verdict: Verdict = "approve", user: UserId = APPROVER) {
  const card = await bench.withCard();
  await decide(bench, { ...card.click, user }, verdict);
  return card;
}

export async function decide({ flow }: Bench, click: Click, verdict: Verdict): Promise<void> {
  const { user } = click;
  const opened = await flow.openForm.open(click, verdict);
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  const done = await flow.submitDecision({ team: TEAM, user }, opened.value.ticket.nonce, "go");
  if (!done.ok) throw new Error(done.error.refusal.type);
}

export const sent = ({ notificationSender }: Bench, kind: string) =>
  notificationSender.posted
    .filter(({ notification }) => notification.kind === kind)
    .map(({ notification, facts }) => ({ ...notification, facts }));

/** From now on, Slack refuses notifications of this kind. */
export function refuseKind({ notificationSender }: Bench, kind: string): void {
  const post = notificationSender.post.bind(notificationSender);
  notificationSender.post = (notification, facts) =>
    notification.kind === kind
      ? Promise.reject(failure("user_not_found", { retry: "never" }))
      : post(notification, facts);
}

export async function receiptOf(bench: Bench) {
  await bench.clock.pass(2_000);
  const [receipt] = sent(bench, "receipt");
  if (receipt === undefined) throw new Error("the decision caused no receipt");
  return receipt;
}

export const disputes = async ({ store }: Bench) => store.auditAfter(0, ["disputed"], 100);
