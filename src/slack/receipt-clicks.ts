// «This was not me», pressed on a receipt.

import { Nonce, parsed } from "../core/ids.ts";
import { PortError } from "../flow/ports.ts";
import type { Disputed } from "../flow/dispute.ts";
import { showAnswer } from "./clicks.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { ClickPayload } from "./payloads.ts";

export async function onNotMe(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const [{ value }] = payload.actions;
  try {
    const by = { team: deps.team, user: payload.user.id };
    const done = await deps.dispute(by, parsed<Nonce>(Nonce, value));
    if (!done.ok)
      return await showAnswer(
        deps,
        payload,
        "Nothing was reported",
        "This button belongs to somebody else's receipt, or to none.",
      );
    await showAnswer(deps, payload, done.value.again ? "Reported already" : "Reported", words(done.value));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "«This was not me» could not be recorded");
    const says =
      "Countersign could not write it down just now. Press the button again, and tell whoever runs Countersign.";
    await showAnswer(deps, payload, "Not reported yet", says);
  }
}

function words({ told }: Disputed): string {
  const who =
    told === 0
      ? "No admin is named in Countersign's configuration, so tell whoever runs it *now*."
      : "The admins have been told.";
  return `The audit marks this decision as not yours. ${who} The decision itself may be with the service already. Sign out of all your Slack sessions and change your password.`;
}
