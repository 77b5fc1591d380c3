// What the Service panel shows.
import type { Html, Part } from "../page/base/html.ts";
import type { BotState } from "../page/base/parts.ts";
import type { Profile } from "../service/profile.ts";
import type { Run } from "../service/service-run.ts";

type NamedPolicy = {
  readonly name: string;
  readonly title: string;
  readonly what: string;
};

/** The policy of the bot. `inForce` is null while no bot is ready. */
export type ShownPolicy = {
  readonly policies: readonly NamedPolicy[];
  readonly chosen: NamedPolicy;
  readonly inForce: { readonly policy: NamedPolicy; readonly since: number } | null;
  /** Why the newest switch failed. */
  readonly fault: string | null;
};

export type ShownReplica = {
  /** "replica 1" */
  readonly name: string;
  readonly state: BotState;
  readonly port: number;
  /** Null while there is no process. */
  readonly pid: number | null;
  /** Why it does not start. */
  readonly fault: string | null;
};

export type ServiceState = {
  readonly url: string;
  readonly up: boolean;
  readonly gatewayUp: boolean;
  /** How long the service delays its answers (ms); 0: not at all. */
  readonly slowMs: number;
  /** "rotated": the bot still uses a key that is no longer valid. */
  readonly key: "right" | "rotated";
  readonly bot: BotState;
  /** Why the bot does not start, with the end of what it printed. */
  readonly botFault: string | null;
  /** Its processes; usually one. */
  readonly replicas: readonly ShownReplica[];
  readonly policy: ShownPolicy;
  /** How far the sandbox's clock has been set ahead of the machine's (ms). */
  readonly clockAheadMs: number;
  /** The faults of the next requests, in words. */
  readonly faults: readonly string[];
  readonly profile: Readonly<Profile>;
  /** Newest first. */
  readonly runs: readonly Run[];
  /** The ids of those that answer 404. */
  readonly vanished: readonly string[];
};

/** One thing that can be well or not, and what can be done about it. */
export type Row = {
  readonly name: string;
  readonly good: boolean;
  readonly type: Part;
  readonly buttons: readonly Html[];
  /** What stands below both, over the whole width. */
  readonly below?: Html;
};
