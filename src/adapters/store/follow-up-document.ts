// The schemas for the follow-up of a waiting request: what has been done about it, and what its rule says.

import type {
  Answer,
  AnsweredQuestion,
  Call,
  Called,
  Claim,
  Extension,
  FollowUp,
  Gathered,
  GatheredCall,
  Handover,
  Pause,
  Question,
  ReachedStage,
} from "../../domain/follow-up.ts";
import { type ApprovalId, ChannelId, GroupId, MessageTs, Nonce, RunKey, UserId } from "../../domain/ids.ts";
import { type Hours, type Weekday } from "../../domain/policy/hours.ts";
import { type ListedPeople, NO_ONE, type NamedPeople } from "../../domain/policy/named-people.ts";
import type { FollowUpRule, Reminders, Stage } from "../../domain/policy/follow-up-rule.ts";
import type { Marks, Risk, RiskLevel } from "../../domain/text/marks.ts";
import {
  flag,
  id,
  list,
  number,
  optional,
  orElse,
  orNull,
  record,
  serviceId,
  text,
  word,
  yes,
} from "./document-shape.ts";

const user = id(UserId);
const ofList = { users: list(user), groups: list(id(GroupId)), channels: list(id(ChannelId)) };
const people = record<NamedPeople>(ofList);
const listedPeople = record<ListedPeople>({ ...ofList, alsoIn: optional(list(people)) });

const hours = record<Hours>({
  tz: text,
  days: list(word<Weekday>({ mon: true, tue: true, wed: true, thu: true, fri: true, sat: true, sun: true })),
  from: text,
  to: text,
});

export const followUpRule = record<FollowUpRule>({
  remind: orNull(record<Reminders>({ afterMs: number, doubles: flag, atMost: number })),
  escalate: list(record<Stage>({ afterMs: number, to: orNull(listedPeople), call: orNull(people) })),
  claimMs: number,
  questionMs: number,
  warnMs: orNull(number),
  extend: orNull(record<NonNullable<FollowUpRule["extend"]>>({ byMs: number, atMostMs: number })),
  hours: orElse(orNull(hours), null),
  urgent: orElse(flag, false),
});

const claim = record<Claim>({
  by: user,
  at: number,
  until: number,
  snoozedUntil: optional(number),
  snoozeForm: optional(id(Nonce)),
  from: optional(user),
  instead: optional(user),
});

const question = record<Question>({
  id: id(Nonce),
  by: user,
  at: number,
  text,
  answer: optional(record<Answer>({ by: user, at: number, text, message: optional(id(MessageTs)) })),
});

export const followUp = record<FollowUp>({
  reminders: optional(
    list(record<NonNullable<FollowUp["reminders"]>[number]>({ rule: text, upToMs: number })),
  ),
  warned: optional(yes),
  stages: optional(
    list(
      record<ReachedStage>({
        afterMs: number,
        at: number,
        age: number,
        called: orElse(people, NO_ONE),
        onlyCalled: optional(people),
        entry: optional(number),
      }),
    ),
  ),
  quietUntil: optional(number),
  claim: optional(claim),
  lapsed: optional(record<NonNullable<FollowUp["lapsed"]>>({ by: user, until: optional(number) })),
  questions: optional(list(question)),
  extensions: optional(list(record<Extension>({ by: user, at: number, byMs: number }))),
  handovers: optional(list(record<Handover>({ id: id(Nonce), from: user, to: user, at: number }))),
  pauses: optional(
    list(
      record<Pause>({
        why: word({ slack: true, service: true, stopped: true, question: true }),
        from: number,
        until: orNull(number),
        of: optional(id(Nonce)),
      }),
    ),
  ),
  answered: optional(list(record<AnsweredQuestion>({ id: id(Nonce), message: optional(id(MessageTs)) }))),
});

const says = word<Call["says"]>({
  waits: true,
  last: true,
  reopened: true,
  stage: true,
  over: true,
});
const called = record<Called>({ users: list(user), groups: list(id(GroupId)), more: number });

const marks = record<Marks>({
  risk: orNull(
    record<Risk>({
      level: word<RiskLevel>({ critical: true, high: true, medium: true, low: true, other: true }),
      words: text,
    }),
  ),
  where: list(text),
});

const gatheredCall = record<GatheredCall>({
  run: id(RunKey),
  approval: serviceId<ApprovalId>(),
  n: number,
  closed: optional(yes),
  asked: optional(text),
  marks: optional(marks),
  card: optional(id(MessageTs)),
  done: optional(yes),
});

export const gathered = record<Gathered>({
  since: number,
  says,
  channel: optional(id(ChannelId)),
  of: list(gatheredCall),
  oldest: number,
  who: called,
  over: optional(yes),
});

export const call = record<Call>({
  n: number,
  says,
  of: number,
  at: number,
  notBefore: number,
  who: orNull(called),
  tries: number,
  lookAt: number,
  first: optional(user),
  stageMs: optional(number),
  channel: optional(id(ChannelId)),
  held: optional(yes),
  within: optional(id(RunKey)),
  told: optional(yes),
});
