// Slack's rate limits: calls of a method per minute, and about one message per second in a channel.

import { RateLimited } from "./errors.ts";

/** docs.slack.dev, rate limits: calls of a method per minute. "special": a separate rule, or no relevant limit. */
const perMinute = { tier1: 1, tier2: 20, tier3: 50, tier4: 100, special: Infinity };

export type Tier = keyof typeof perMinute;

/** docs.slack.dev: "About one per second, short bursts allowed". The length of a burst is not published, so five is a guess. */
const burst = 5;

const windowMs = 60_000;

export type Limits = ReturnType<typeof createLimits>;

export function createLimits({ now, on }: { now: () => number; on: boolean }) {
  const calls = new Map<string, number[]>();
  const buckets = new Map<string, { tokens: number; at: number }>();
  let enforced = on;
  return {
    areOn: () => enforced,
    enforce: (value: boolean): void => {
      enforced = value;
    },
    /** Returns to the state at the start. */
    reset: (): void => {
      enforced = on;
    },
    call: (method: string, tier: Tier): void => {
      if (!enforced || perMinute[tier] === Infinity) return;
      const recent = (calls.get(method) ?? []).filter((at) => at > now() - windowMs);
      calls.set(method, recent);
      const oldest = recent[0];
      if (oldest !== undefined && recent.length >= perMinute[tier])
        throw new RateLimited(Math.max(1, Math.ceil((oldest + windowMs - now()) / 1000)));
      recent.push(now());
    },
    post: (channel: string): void => {
      if (!enforced) return;
      const bucket = buckets.get(channel) ?? { tokens: burst, at: now() };
      const tokens = Math.min(burst, bucket.tokens + (now() - bucket.at) / 1000);
      if (tokens < 1) throw new RateLimited(1);
      buckets.set(channel, { tokens: tokens - 1, at: now() });
    },
  };
}
