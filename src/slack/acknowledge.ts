import type { FlowLog } from "../flow/flow-log.ts";

/**
 * Slack has not heard of us when this is false, for example because the socket has dropped. What was done before stays done,
 * and what is still to be done goes on: the payload itself is here.
 */
export async function acknowledged(ack: () => Promise<void>, log: FlowLog): Promise<boolean> {
  try {
    await ack();
    return true;
  } catch (error) {
    log.warn({ error }, "Slack could not be told that its payload has arrived");
    return false;
  }
}
