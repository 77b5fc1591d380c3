// The kind of a channel, and whether the app can see it at all.

import type { ChannelId } from "../../domain/ids.ts";
import type { Clock } from "../../engine/clock.ts";
import { PortError } from "../../ports.ts";
import { slackChannel } from "./answers.ts";
import type { Call } from "./clients.ts";
import { CHANNELS, type Pacers } from "./rate-limiter.ts";
import { createSharedAnswers } from "./shared-look-ups.ts";

/** A channel is `hidden` if Slack refuses to answer the app about it, or if it is private and the app is not in it. */
export type ChannelKind = "public" | "private" | "hidden";

export type ChannelKinds = {
  /** Whether every full member can open the channel. Rejects with PortError. */
  readonly isPublic: (channel: ChannelId, maxAgeMs: number) => Promise<boolean>;
  /** Whether `isPublic` would answer without waiting for Slack's rate limit. */
  readonly isQuick: (channel: ChannelId, maxAgeMs: number) => boolean;
  /** The answer is at most `KIND_AGE_MS` old, or null if Slack's rate limit would make us wait. Rejects with PortError. */
  readonly kindOf: (channel: ChannelId) => Promise<ChannelKind | null>;
};

/**
 * The maximum age of an answer (ms). Without it, each click would ask about a hidden channel that the policy names. The accepted risk:
 * during this time, a channel that the app has just joined still counts as hidden, which refuses people. And a channel that an owner of the
 * workspace has just made private still counts as public.
 */
const KIND_AGE_MS = 60_000;

export function createChannelKinds(call: Call, pacers: Pick<Pacers, "make">, clock: Clock): ChannelKinds {
  const pacer = pacers.make(CHANNELS);
  const facts = createSharedAnswers(
    clock,
    async (channel: ChannelId) => slackChannel(await call("conversations.info", { channel })),
    () => pacer.waitForTurn(0, null),
  );
  const kinds = createSharedAnswers(clock, async (channel: ChannelId): Promise<ChannelKind> => {
    try {
      const { isPublic, isMember } = await facts(channel, 0);
      return isPublic ? "public" : isMember === false ? "hidden" : "private";
    } catch (error) {
      if (error instanceof PortError && error.retry === "never") return "hidden";
      throw error;
    }
  });
  const hasFreeTurn = (): boolean => pacer.queueBefore(0).ms === 0;
  return {
    isPublic: async (channel, maxAgeMs) => (await facts(channel, maxAgeMs)).isPublic,
    isQuick: (channel, maxAgeMs) => facts.has(channel, maxAgeMs) || hasFreeTurn(),
    kindOf: async (channel) =>
      kinds.has(channel, KIND_AGE_MS) || hasFreeTurn() ? kinds(channel, KIND_AGE_MS) : null,
  };
}
