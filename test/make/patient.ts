import type { Config } from "#src/config.ts";
import type { Timing } from "#sandbox/slack/slack-context.ts";

/**
 * Time limits of Slack (ms), which are three seconds in reality. On a busy machine the app may answer later, and most tests are not about
 * that. The benchmarks measure the real time.
 */
export const PATIENT = { ackMs: 15_000, triggerMs: 15_000 } satisfies Partial<Timing>;

/** Returns the configuration of an app that is as patient with Slack: its look-ups of people do not end after 1.8 s. */
export const patient = (config: Config): Config => ({
  ...config,
  slack: { ...config.slack, quickMs: 10_000 },
});
