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
  /** Null while no process runs. */
  readonly pid: number | null;
  /** Why the replica does not start. */
  readonly fault: string | null;
};

export type ShownSlack = {
  /** Descriptions of the faults that calls of the app will meet. */
  readonly faults: readonly string[];
  /** Whether calls over the rate limits are refused. */
  readonly rateLimits: boolean;
  /** The scopes that the app's token has lost. */
  readonly missingScopes: readonly string[];
};

export type ServiceState = {
  readonly url: string;
  readonly up: boolean;
  readonly gatewayUp: boolean;
  /** How long the gateway delays its answers (ms). */
  readonly gatewaySlowMs: number;
  /** What the gateway says about itself. "ok" means healthy. */
  readonly gatewayStatus: { readonly status: string; readonly message: string };
  readonly slack: ShownSlack;
  /** How long the service delays its answers (ms). */
  readonly slowMs: number;
  /** "rotated" if the bot still uses a key that is no longer valid. */
  readonly key: "right" | "rotated";
  readonly bot: BotState;
  /** Why the bot does not start, with the last lines that it printed. */
  readonly botFault: string | null;
  /** The bot's processes, usually one. */
  readonly replicas: readonly ShownReplica[];
  readonly policy: ShownPolicy;
  /** How far the sandbox's clock has been set ahead of the machine's (ms). */
  readonly clockAheadMs: number;
  /** Whether the bot's clock has not arrived there yet. */
  readonly isClockMoving: boolean;
  /** Descriptions of the faults that the next requests will meet. */
  readonly faults: readonly string[];
  readonly profile: Readonly<Profile>;
  /** Newest first. */
  readonly runs: readonly Run[];
  /** The ids of the runs that answer 404. */
  readonly vanished: readonly string[];
};

/** One row of the panel: a state that can be good or bad, and the buttons that change it. */
export type Row = {
  readonly name: string;
  readonly good: boolean;
  readonly state: Part;
  readonly buttons: readonly Html[];
  /** Content below both, over the full width. */
  readonly below?: Html;
};
