// What the Service panel shows.
import type { BotState } from "../page/base/parts.ts";
import type { Profile } from "../service/profile.ts";
import type { Run } from "../service/service-run.ts";

export type ServiceState = {
  readonly url: string;
  readonly up: boolean;
  readonly gatewayUp: boolean;
  /** How much later the service answers than it would (ms); 0: as fast as it can. */
  readonly slowMs: number;
  /** "rotated": the bot still shows a key that is not right any more. */
  readonly key: "right" | "rotated";
  readonly bot: BotState;
  /** How far the sandbox's clock has been set ahead of the machine's (ms). */
  readonly clockAheadMs: number;
  /** What will strike the next requests, in words. */
  readonly faults: readonly string[];
  readonly profile: Readonly<Profile>;
  /** Newest first. */
  readonly runs: readonly Run[];
  /** The ids of those that answer 404. */
  readonly vanished: readonly string[];
};
