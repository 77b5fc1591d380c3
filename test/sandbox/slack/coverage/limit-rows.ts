// How faithfully the sandbox imitates Slack's limits of time, number and size. Every limit in the code has a row here.

import type { Proof, Row } from "./row.ts";
import type { Timing } from "#sandbox/slack/slack-context.ts";
import type { Tier } from "#sandbox/slack/limits.ts";

/** The limits that have a name in the code, keyed by that name. */
type Limits = Record<keyof Timing | Tier, Row>;

const pacing: Proof = [
  "listings.test.ts",
  "a method of %s is refused one call beyond its limit, until the minute is over",
];

const answered: Proof = [
  "refusals.test.ts",
  "the fifty-first call of a tier 3 method in a minute is refused, with the seconds to wait",
];

const tier = (subject: string, calls: number): Row => ({
  subject,
  what: `${calls} calls of a method within 60 s, then 429 with Retry-After; Slack allows "${calls}+" and some bursts`,
  how: "close",
  source: "docs.slack.dev, rate limits",
  proof: pacing,
  also: [answered],
});

export const namedLimits: Limits = {
  ackMs: {
    subject: "time to acknowledge",
    what: "3 s",
    how: "exact",
    source: "docs.slack.dev, handling user interaction",
    proof: [
      "judge-interactions.test.ts",
      "a command, a click and a form that are not acknowledged in time show an error to the person",
    ],
  },
  triggerMs: {
    subject: "life of a trigger_id",
    what: "3 s, one use; a refused view does not use it up, which is not documented",
    how: "close",
    source: "docs.slack.dev, modals",
    proof: ["refusals.test.ts", "need a new trigger, which works once"],
  },
  responseUrlMs: {
    subject: "life of a response_url",
    what: "30 min, five uses",
    how: "exact",
    source: "docs.slack.dev, handling user interaction",
    proof: ["response-url.test.ts", "five answers are accepted, and the sixth is refused"],
    also: [["response-url.test.ts", "after half an hour no answer is accepted"]],
  },
  retryDelaysMs: {
    subject: "delays before redelivery of events",
    what: "at once, 1 min, 5 min; a test may shorten them",
    how: "exact",
    source: "docs.slack.dev, Events API",
    proof: [
      "bolt-http.test.ts",
      "an event that was answered with an error is sent again, numbered and with a reason",
    ],
  },
  disconnectNoticeMs: {
    subject: "notice before a socket is closed",
    what: "10 s",
    how: "close",
    source: "docs.slack.dev, Socket Mode",
    proof: [
      "sockets.test.ts",
      "a retiring socket gets no more payloads and is closed after the notice, and the SDK reconnects",
    ],
  },
  connectionMs: {
    subject: "life of a socket",
    what: '1 h; Slack says "about"',
    how: "close",
    source: "docs.slack.dev, Socket Mode",
    proof: [
      "sockets.test.ts",
      "a socket at Slack's age limit is warned, and closed after the notice",
    ],
  },
  shareMs: {
    subject: "appearance of a shared file",
    what: "0.3 s after the answer; Slack names no time",
    how: "close",
    source: "third party: the maintainers in bolt-js#2115",
    proof: ["bolt-socket.test.ts", "a file is posted in a thread with filesUploadV2, after the answer"],
  },
  tier1: tier("tier 1", 1),
  tier2: tier("tier 2", 20),
  tier3: tier("tier 3", 50),
  tier4: tier("tier 4", 100),
  special: {
    subject: "posts in a channel",
    what: "one per second after a burst of five, which is a guess; no limit for the whole workspace",
    how: "simplified",
    source: "docs.slack.dev, rate limits",
    proof: ["refusals.test.ts", "a channel accepts a short burst, and then one message a second"],
  },
};

const rules = "rules.test.ts";

export const limitRows: readonly Row[] = [
  ...Object.values(namedLimits),
  {
    subject: "sockets at once",
    what: "10",
    how: "exact",
    source: "docs.slack.dev, Socket Mode",
    proof: ["sockets.test.ts", "the eleventh socket is refused"],
  },
  {
    subject: "texts",
    what: "a post is truncated to 40,000 characters; an update can have 4,000, and Markdown 12,000",
    how: "exact",
    source: "docs.slack.dev, chat.postMessage and chat.update",
    proof: [
      "refusals.test.ts",
      "are cut at 40,000 characters when posted, and refused beyond 4,000 when updated",
    ],
  },
  {
    subject: "all blocks of a message",
    what: "about 13,200 counted characters",
    how: "close",
    source: "third party: measured, not published",
    proof: [rules, "the limit of a whole message is checked before the limits of its blocks"],
  },
  {
    subject: "views",
    what: "100 blocks, 250 kB, three on a stack",
    how: "exact",
    source: "docs.slack.dev, modals",
    proof: [rules, "a modal accepts only the blocks that are allowed in modals"],
    also: [["refusals.test.ts", "that are too large, have a title that is too long, or lack a submit button are refused"]],
  },
  {
    subject: "unknown fields and arguments",
    what: "refused everywhere; Slack ignores some of them, and in the Web API most",
    how: "simplified",
    source: "guess",
    proof: ["refusals.test.ts", "that are unknown, missing or mistyped are refused with an explanation"],
    also: [
      [
        "response-url.test.ts",
        "fields: unknown ones, and those that the sandbox cannot show, are refused by name",
      ],
    ],
  },
  {
    subject: "characters",
    what: "counted as UTF-16 units, which is stricter than Slack for characters outside the basic plane",
    how: "close",
    source: "guess",
    proof: [rules, "a character beyond the basic plane counts as two"],
  },
];
