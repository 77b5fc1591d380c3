// Posts a notification, and under a look back its picture. The picture is tried once: the text says everything, and never waits for it.

import type { MessageTs } from "../domain/ids.ts";
import type { Context } from "../domain/context.ts";
import { lookBackWords } from "../audit/look-back-words.ts";
import type { EventLog, Notification, NotificationFacts, NotificationSender } from "../ports.ts";
import type { DrawLookBack } from "../ports/pictures.ts";

export type PictureDeps = {
  readonly notificationSender: NotificationSender;
  readonly drawLookBack: DrawLookBack;
  readonly context: () => Context;
  readonly log: EventLog;
};

/** Rejects as the post does. */
export async function postWithPicture(
  deps: PictureDeps,
  notification: Notification,
  facts: NotificationFacts,
): Promise<MessageTs> {
  const ts = await deps.notificationSender.post(notification, facts);
  await attachPicture(deps, notification, facts, ts);
  return ts;
}

/** Never rejects. */
async function attachPicture(
  { notificationSender, drawLookBack, context, log }: PictureDeps,
  { to, entry }: Notification,
  { lookBack }: NotificationFacts,
  ts: MessageTs,
): Promise<void> {
  if (lookBack === undefined || lookBack.days.every((day) => day.approved + day.denied + day.expired === 0))
    return;
  const tz = context().policy.lookBack?.tz ?? "UTC";
  try {
    const bytes = await drawLookBack(lookBack, tz);
    await notificationSender.attach(to, ts, { name: "week.png", bytes, alt: lookBackWords(lookBack, tz) });
  } catch (error) {
    log.warn({ entry, error }, "the look back has no picture; its text says everything");
  }
}
