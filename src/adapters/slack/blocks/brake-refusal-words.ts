// The words for a press on Stop or on "Lift the stop" that is refused. They rest on who may decide, but the person did not try to decide.

import type { Refusal } from "../../../domain/authorization.ts";
import { PRESS_REPEATS_MS } from "../../../domain/brake.ts";
import type { UserId } from "../../../domain/ids.ts";
import type { Stop } from "../../../domain/run.ts";
import { refusalTitle, refusalWords, whoDecides } from "./refusal-words.ts";
import { localTime, mentioned } from "./rich.ts";

const BRAKE = {
  stop: {
    title: "You can't stop this run",
    who: "The person who started or watches this run can stop it, and so can people who may decide one of its requests.",
    stays: "The run is not stopped.",
    over: {
      heading: "The run is not stopped",
      text: "It has ended, or Countersign no longer watches it. If it is still running, ask the operators of the agent service to end it.",
    },
  },
  lift: {
    title: "You can't lift this stop",
    who: "Only people who may decide one of this run's requests can lift its stop, and not the person who started or watches the run.",
    stays: "The run stays stopped.",
    over: {
      heading: "The stop is over",
      text: "The run has ended, or Countersign no longer watches it, so there is no stop to lift.",
    },
  },
} as const;

/** Why people without a right to decide can't use the brake. */
const NOT_THEM = {
  guest: "You are a guest: ask a full member of this workspace.",
  outsider: "Your account belongs to another workspace.",
  bot: "Apps and bots can't.",
  deactivated: "This account is deactivated.",
  "not-in-channel": "You are not in this channel: ask someone who is.",
} as const;

type Words = { readonly heading: string; readonly text: string };

/** The title and the words, in Slack's markup as those of `refusalWords`. */
export function brakeRefusal(refusal: Refusal, asker: UserId, act: keyof typeof BRAKE): Words {
  const { title: heading, who, stays } = BRAKE[act];
  switch (refusal.type) {
    case "closed":
      return BRAKE[act].over;
    case "other-stop":
      return act === "stop" ? notAgain(refusal.stop) : otherwise(refusal, asker);
    case "requester": {
      const you =
        refusal.perhaps === true
          ? "You may have started the run, or you watched it before."
          : "You started or watch the run.";
      return {
        heading,
        text: `${who} ${you} ${whoDecides(refusal.rule, [asker])} ${stays}`,
      };
    }
    case "not-approver":
      return { heading, text: `${who} ${whoDecides(refusal.rule, [asker, refusal.requester])} ${stays}` };
    case "guest":
    case "outsider":
    case "bot":
    case "deactivated":
    case "not-in-channel":
      return { heading, text: `${who} ${NOT_THEM[refusal.type]} ${stays}` };
    default:
      return otherwise(refusal, asker);
  }
}

const otherwise = (refusal: Refusal, asker: UserId): Words => ({
  heading: refusalTitle(refusal),
  text: refusalWords(refusal, asker),
});

function notAgain({ by, at, lifted }: Stop): Words {
  const since =
    lifted === undefined ? "" : ` ${mentioned(lifted.by)} lifted that stop, ${localTime(lifted.at)}.`;
  const later =
    lifted === undefined
      ? ""
      : ` ${PRESS_REPEATS_MS / 60_000} minutes after the lift, this button works, too.`;
  return {
    heading: "Not stopped again",
    text: `This button is from before the last stop: ${mentioned(by)} pressed Stop, ${localTime(at)}.${since} Slack may have delivered your press late or twice, so it does not stop the run again. To stop it now, press Stop on a message that Countersign has updated since, in the run's thread.${later}`,
  };
}
