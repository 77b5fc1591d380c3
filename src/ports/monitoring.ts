// What health and metrics need from the outside world, and what they tell.

/** Slack, as far as its health goes. */
export type SlackHealth = {
  /** "starting": it was never connected since the start of this process. */
  connection(): "starting" | "connected" | "lost" | "stopping";
  /** Slack's code for refusing the bot token; null: Slack took it last time, or has not said. */
  tokenRefusal(): string | null;
  /** Asks Slack about the token, unless another call was answered within `maxAgeMs`. Never rejects. */
  checkToken(maxAgeMs: number): Promise<void>;
};

export const PARTS = [
  "store",
  "slack",
  "slack_token",
  "service",
  "service_key",
  "decisions",
  "watching",
] as const;
export type PartName = (typeof PARTS)[number];

export type PartHealth = {
  readonly part: PartName;
  /** What is wrong, in our own words, without addresses and texts of requests. Null: nothing. */
  readonly fault: string | null;
  /**
   * True: because of the fault, this process can't do its work while another one may. Then it is not ready. A fault that all replicas
   * share is only told: taking all of them out of service would help nobody.
   */
  readonly unready: boolean;
};

export type Health = {
  /** False: only a restart helps. */
  live(): boolean;
  /** Writes to the store, at most once a second. Never rejects. */
  parts(): Promise<readonly PartHealth[]>;
};
