import type { EventLog } from "../../ports.ts";

/**
 * Returns false when the acknowledgement did not reach Slack, for example because the socket has dropped. The work goes on all the
 * same: we have the payload.
 */
export async function tryAck(ack: () => Promise<void>, log: EventLog): Promise<boolean> {
  try {
    await ack();
    return true;
  } catch (error) {
    log.warn({ error }, "could not acknowledge a payload to Slack");
    return false;
  }
}
