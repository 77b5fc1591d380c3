// Only members of a run's channel learn about the run. A requester may have left the channel, or been removed from it, since they asked.

import { SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import { type People, PortError } from "../ports.ts";
import type { Notification, NotificationFacts } from "../ports/notification.ts";

/** The code of the error for a person who does not see the channel. */
export const NOT_IN_CHANNEL = "not_in_channel";

/** Rejects with PortError if the notification is for a requester who does not see the run's channel, or if Slack does not say. */
export async function refuseIfHidden(
  people: Pick<People, "lookUp">,
  { kind }: Notification,
  { entry: { entry }, channel }: NotificationFacts,
): Promise<void> {
  const { requester } = entry;
  if ((kind !== "answered" && kind !== "expired") || requester === null || channel === null) return;
  const { seesChannel } = await people.lookUp(requester.team, requester.user, channel, SUBMIT_AGE_MS);
  if (!seesChannel)
    throw new PortError("the requester does not see the run's channel", {
      applied: "no",
      retry: "never",
      code: NOT_IN_CHANNEL,
    });
}
