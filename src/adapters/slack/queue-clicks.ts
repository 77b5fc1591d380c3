// Handles clicks in the queue, on the Home tab and in the answer to "pending".

import { PortError } from "../../ports.ts";
import { showHome } from "./home-tab.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { QueueClickPayload } from "./payloads.ts";
import { choiceOf, pendingAnswer } from "./queue.ts";

/** A page or a filter: draws the list anew where it was clicked. */
export async function onQueueChoice(deps: ListenerDeps, payload: QueueClickPayload): Promise<void> {
  const { user, view, channel, response_url } = payload;
  const choice = choiceOf(payload);
  if (view !== undefined) return showHome(deps, user.id, choice);
  if (channel === undefined || response_url === undefined) return;
  try {
    const answer = await pendingAnswer(deps, user.id, channel.id, choice);
    await deps.answerAt(response_url, { ...answer, replace_original: true });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not turn a page of the queue");
  }
}
