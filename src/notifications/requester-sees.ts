// Only members of a run's channel learn about the run. A requester may have left the channel, or been removed from it, since they asked.

import { SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import { type People, PortError } from "../ports.ts";
import type { Notification, NotificationFacts } from "../ports/notification.ts";

/** The code of the error for a requester who, as far as Slack says, does not see the channel. No code of Slack's own. */
export const REQUESTER_NOT_SHOWN = "requester_not_shown";

/**
 * Rejects with PortError if the notification is for a requester of whom Slack does not say that they see the run's channel. After the code
 * above, the notification is tried again slowly, and not for ever: the person, or the app, may come back into the channel.
 */
export async function refuseIfHidden(
  people: Pick<People, "lookUp">,
  { kind }: Notification,
  facts: NotificationFacts,
): Promise<void> {
  const { requester } = facts.entry.entry;
  if ((kind !== "answered" && kind !== "expired") || requester === null) return;
  // The run may be deleted.
  const channel = facts.channel ?? facts.entry.entry.channel;
  if (channel === null) throw notShown();
  const { team, user } = requester;
  const person = await people.lookUp(team, user, channel, SUBMIT_AGE_MS).catch((error: unknown) => {
    if (error instanceof PortError && error.retry === "never") throw notShown(error);
    throw error;
  });
  if (!person.seesChannel) throw notShown();
}

const notShown = (cause?: PortError): PortError =>
  new PortError("Slack does not say that the requester sees the run's channel", {
    applied: "no",
    retry: "never",
    code: REQUESTER_NOT_SHOWN,
    cause,
  });
