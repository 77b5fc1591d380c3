// What has been done about a request that waits, and what its rule says about that, as schemas of a stored approval.

import type { Claim, Extension, FollowUp, Pause, Question } from "../../domain/follow-up.ts";
import { ChannelId, GroupId, Nonce, UserId } from "../../domain/ids.ts";
import type { FollowUpRule, Reminders, Stage } from "../../domain/policy/follow-up-rule.ts";
import { flag, id, list, number, optional, orNull, record, text, word, yes } from "./document-shape.ts";

const user = id(UserId);
const people = record<NonNullable<Stage["call"]>>({
  users: list(user),
  groups: list(id(GroupId)),
  channels: list(id(ChannelId)),
});

export const followUpRule = record<FollowUpRule>({
  remind: orNull(record<Reminders>({ afterMs: number, doubles: flag, atMost: number })),
  escalate: list(record<Stage>({ afterMs: number, to: orNull(people), call: orNull(people) })),
  claimMs: number,
  questionMs: number,
  warnMs: orNull(number),
  extend: orNull(record<NonNullable<FollowUpRule["extend"]>>({ byMs: number, atMostMs: number })),
});

const claim = record<Claim>({
  by: user,
  at: number,
  until: number,
  snoozedUntil: optional(number),
  from: optional(user),
});

const question = record<Question>({
  id: id(Nonce),
  by: user,
  at: number,
  text,
  answer: optional(record<NonNullable<Question["answer"]>>({ by: user, at: number, text })),
});

export const followUp = record<FollowUp>({
  reminded: optional(number),
  warned: optional(yes),
  escalatedMs: optional(number),
  claim: optional(claim),
  questions: optional(list(question)),
  extensions: optional(list(record<Extension>({ by: user, at: number, byMs: number }))),
  pauses: optional(
    list(
      record<Pause>({
        why: word({ slack: true, service: true, stopped: true, question: true }),
        from: number,
        until: orNull(number),
      }),
    ),
  ),
});
