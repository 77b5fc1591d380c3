import type { EventLog } from "../../ports.ts";

/**
 * Slack has not heard of us when this is false, for example because the socket has dropped. What was done before stays done,
 * and what is still to be done goes on: the payload itself is here.
 */
export async function tryAck(ack: () => Promise<void>, log: EventLog): Promise<boolean> {
  try {
    await ack();
    return true;
  } catch (error) {
    log.warn({ error }, "Slack could not be told that its payload has arrived");
    return false;
  }
}
