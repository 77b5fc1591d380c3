// The context that all parts of the emulated Slack share.

import type { Faults } from "./injected-faults.ts";
import type { Limits } from "./limits.ts";
import type { Manifest } from "./manifest.ts";
import type { TrafficLog } from "./traffic.ts";
import type { Triggers } from "./triggers.ts";
import type { Workspace } from "./workspace.ts";

type Secrets = {
  readonly botToken: string;
  readonly appToken: string;
  readonly signingSecret: string;
};

export type Timing = {
  /** How long the app may take to acknowledge (ms). */
  readonly ackMs: number;
  readonly triggerMs: number;
  readonly responseUrlMs: number;
  /** The delays before an unacknowledged event is sent again (ms), each after the previous failure. */
  readonly retryDelaysMs: readonly number[];
  /** The time from the warning to the disconnect (ms). */
  readonly disconnectNoticeMs: number;
  /** How long a socket lives before Slack asks for a new one (ms). */
  readonly connectionMs: number;
  /** The time from the answer that a file is shared to its message (ms). */
  readonly shareMs: number;
};

/**
 * docs.slack.dev: 3 s to acknowledge; events are resent at once, after 1 and 5 minutes; sockets live about an hour. Slack names no time for
 * `shareMs`, which is our choice. Rest: third party.
 */
export const slackTiming: Timing = {
  ackMs: 3000,
  triggerMs: 3000,
  responseUrlMs: 30 * 60_000,
  retryDelaysMs: [0, 60_000, 300_000],
  disconnectNoticeMs: 10_000,
  connectionMs: 3_600_000,
  shareMs: 300,
};

export type SlackContext = {
  readonly workspace: Workspace;
  readonly manifest: Manifest;
  readonly secrets: Secrets;
  /** The bot token's scopes. A test may remove one. */
  readonly scopes: Set<string>;
  readonly now: () => number;
  readonly timing: Timing;
  readonly traffic: TrafficLog;
  readonly faults: Faults;
  readonly limits: Limits;
  readonly triggers: Triggers;
  /** The base of every address, with a trailing slash. Available once the port is known. */
  readonly url: () => string;
};
