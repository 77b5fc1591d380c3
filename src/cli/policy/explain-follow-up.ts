// What a rule says about a request that waits, in sentences.

import { type FollowUpRule, NO_FOLLOW_UP, type Stage } from "../../domain/policy/follow-up-rule.ts";
import type { Hours } from "../../domain/policy/hours.ts";
import type { Rule } from "../../domain/policy/policy.ts";
import type { NamedPeople } from "../../domain/policy/named-people.ts";

type Words = {
  readonly time: (ms: number) => string;
  readonly people: (named: NamedPeople) => string;
};

export function followUpSentences({ followUp, expiry }: Rule, { time, people }: Words): readonly string[] {
  const { remind, escalate, warnMs } = followUp;
  const sentences = [
    ...(remind === null
      ? []
      : [
          `Reminds the people who can decide after ${time(remind.afterMs)}, then ${remind.doubles ? "after twice as long each time" : "as often"}, at most ${remind.atMost} times.`,
        ]),
    ...escalate.flatMap((stage) => stageSentences(stage, { time, people })),
    ...(expiry === null
      ? []
      : [
          `The last reminder comes ${warnMs === null ? "when a fourth of the time is left, at most 15 min" : time(warnMs)} before the end.`,
        ]),
  ];
  const called = sentences.length === 0 ? [] : [...sentences, hoursSentence(followUp)];
  return [...called, ...timeSentences({ followUp, expiry }, time)];
}

/** What a rule says beyond the defaults. */
function timeSentences(
  { followUp, expiry }: Pick<Rule, "followUp" | "expiry">,
  time: Words["time"],
): readonly string[] {
  const { claimMs, questionMs, extend } = followUp;
  return [
    ...(claimMs === NO_FOLLOW_UP.claimMs ? [] : [`"I'm looking at it" lasts ${time(claimMs)}.`]),
    ...(questionMs === NO_FOLLOW_UP.questionMs
      ? []
      : [`A question to the requester stops its clocks for at most ${time(questionMs)}.`]),
    ...(extend === null || expiry === null
      ? []
      : [
          `Who may approve can extend its time by ${time(extend.byMs)}, together by at most ${time(extend.atMostMs)}.`,
        ]),
  ];
}

function stageSentences({ afterMs, to, call }: Stage, { time, people }: Words): readonly string[] {
  return [
    ...(to === null
      ? []
      : [`After ${time(afterMs)}, ${people(to)} may decide as well, also if they do not see the channel.`]),
    ...(call === null
      ? []
      : [`After ${time(afterMs)}, ${people(call)} get a call, which lets them decide nothing.`]),
  ];
}

function hoursSentence({ hours, urgent }: FollowUpRule): string {
  if (urgent) return "It is urgent: people are reminded and called at any time.";
  return hours === null
    ? "People are reminded and called at any time."
    : `People are reminded and called ${inWords(hours)}.`;
}

const inWords = ({ tz, days, from, to }: Hours): string =>
  `on ${days.join(", ")} from ${from} to ${to} (${tz}); outside these hours messages wait`;
