// The schemas of stored runs and forms, so that what is read from the store is parsed instead of cast. A field that is added after 0.2.0
// needs `orElse` or `optional`, so that runs stored earlier still load (test/adapters/store/golden contains such runs), and a version of the
// documents that no released program has (`DOC_VERSION` in run-row.ts), so that older replicas leave it alone.

import type { Freeze } from "../../domain/freeze.ts";
import {
  ChannelId,
  GroupId,
  MessageTs,
  Nonce,
  type RunId,
  RunKey,
  TeamId,
  UserId,
} from "../../domain/ids.ts";
import type { Promised } from "../../domain/policy/policy.ts";
import type { PostedMessage, Upload } from "../../domain/posted-message.ts";
import type { NoticeContent, PrivateNotice } from "../../domain/notice.ts";
import type {
  Creation,
  Ended,
  Outage,
  RequesterGroups,
  Run,
  Seen,
  Stop,
  Storm,
  UncausedEntries,
  Watch,
} from "../../domain/run.ts";
import type { Unreadable, UnreadableItem } from "../../domain/snapshot.ts";
import type { FormTicket } from "../../ports/store.ts";
import {
  absence,
  approval,
  approvalId,
  auditPlace,
  parts,
  precedents,
  request,
  runContext,
  verdict,
} from "./approval-document.ts";
import {
  byName,
  type Doc,
  either,
  fields,
  flag,
  id,
  list,
  number,
  optional,
  orElse,
  orNull,
  record,
  serviceId,
  tagged,
  text,
  word,
  yes,
} from "./document-shape.ts";
import { gathered } from "./follow-up-document.ts";

const runId = serviceId<RunId>();
const [team, user, channel] = [id(TeamId), id(UserId), id(ChannelId)];

const creation = tagged<Creation>({
  planned: { notBefore: number, tries: number, why: text },
  sending: { at: number, tries: number },
  created: { id: runId, at: number, reused: optional(yes) },
  taken: { id: runId, at: number },
  refused: { words: text, at: number },
  unknown: {
    words: text,
    at: number,
    again: word({ asked: true, started: true, left: true }),
    restored: optional(yes),
  },
});

const watch = tagged<Watch>({
  on: {},
  missing: { since: number, absence: orNull(absence) },
  over: { at: number },
  "given-up": { at: number },
  tampered: { at: number },
  dropped: { at: number, by: user, missing: optional(yes) },
});

const ended = record<Ended>({
  how: word({ succeeded: true, failed: true, canceled: true }),
  completedAt: orNull(text),
  output: orNull(text),
  outputChars: number,
  asFile: flag,
  extra: fields,
});

const seen = record<Seen>({
  status: text,
  since: number,
  ended: orNull(ended),
  lists: flag,
  askedAt: number,
});

const unreadable = record<Unreadable>({
  since: number,
  what: word({ answer: true, list: true, items: true }),
  count: number,
  items: list(
    record<UnreadableItem>({
      ids: list(approvalId),
      code: text,
      why: text,
      source: text,
      hidden: number,
      count: optional(number),
    }),
  ),
});

const lost = { lostAt: optional(number) };
const tries = { tries: number, refusals: optional(number), ...lost };
export const postedMessage = tagged<PostedMessage>({
  planned: { notBefore: number, ...tries },
  sending: { at: number, ...tries },
  unsure: { lookAt: number, ...tries },
  up: { ts: id(MessageTs), shows: text, sweepAt: orNull(number), notBefore: number, tries: number, ...lost },
  refused: { words: text, retryAt: number, ...tries },
});

const losses = { losses: optional(number) };
const file = { file: text, masked: optional(list(text)), ...losses };
const upload = tagged<Upload>({
  planned: { notBefore: number, tries: number, ...losses },
  uploaded: { ...file, notBefore: number, tries: number },
  sharing: { ...file, at: number, tries: number },
  unsure: { ...file, lookAt: number, tries: number, until: optional(number) },
  up: file,
  refused: { words: text, retryAt: optional(number) },
});

const noticeContent = tagged<NoticeContent>({
  "cannot-post": { words: text, code: optional(text) },
  "decision-void": {
    approval: approvalId,
    cause: word({
      "request-changed": true,
      "no-longer-listed": true,
      "run-missing": true,
      "given-up": true,
      unreadable: true,
      "run-over": true,
      "voter-may-not": true,
      "rule-changed": true,
      "others-needed": true,
      denied: true,
      stopped: true,
      frozen: true,
      restored: true,
      tampered: true,
    }),
  },
  "decision-stopped": { approval: approvalId },
  "decision-unconfirmed": { approval: approvalId },
  "decision-still-listed": { approval: approvalId },
  "nobody-can-approve": { approval: approvalId, able: number, needs: number, grows: flag },
  "decision-refused": { approval: approvalId, words: text },
  "decision-elsewhere": { approval: approvalId, words: text, said: optional(text) },
});

const privateNotice = record<PrivateNotice>({
  id: text,
  to: either(user, channel),
  says: noticeContent,
  state: word({ planned: true, sending: true }),
  notBefore: number,
  tries: optional(number),
});

export const runDocument: Doc<Run> = record<Run>({
  key: id(RunKey),
  team,
  channel,
  requester: user,
  origin: word({ started: true, adopted: true }),
  input: text,
  askedAt: number,
  answer: orElse(orNull(record<NonNullable<Run["answer"]>>({ url: text, until: number })), null),
  creation,
  watch,
  seen: orElse(orNull(seen), null),
  approvals: list(approval),
  context: orElse(orNull(runContext), null),
  unreadable: orElse(orNull(unreadable), null),
  posts: byName(postedMessage),
  uploads: orElse(byName(upload), {}),
  notices: orElse(list(privateNotice), []),
  outage: orElse(
    orNull(record<Outage>({ since: number, why: text, until: orNull(number), unchecked: optional(yes) })),
    null,
  ),
  gathered: optional(list(gathered)),
  storm: optional(record<Storm>({ since: number, waiting: number, at: number, until: orNull(number) })),
  stop: optional(
    record<Stop>({
      by: user,
      at: number,
      ofEarlierRecord: optional(yes),
      lifted: optional(record<NonNullable<Stop["lifted"]>>({ by: user, at: number })),
    }),
  ),
  frozen: optional(
    record<Freeze>({ entry: number, channel: orNull(channel), by: user, at: number, why: text }),
  ),
  requesterGroups: optional(
    record<RequesterGroups>({ asks: list(id(GroupId)), in: byName(flag), at: orNull(number) }),
  ),
  mayHaveAsked: optional(list(user)),
  untouched: optional(
    record<UncausedEntries>({ since: number, told: byName(number), chars: number, omitted: number }),
  ),
  audited: optional(auditPlace),
});

// The schema of a stored form: who opened it, for which version of the card, and what it showed.

export const formDocument: Doc<FormTicket> = record<FormTicket>({
  nonce: id(Nonce),
  team: id(TeamId),
  approval: approvalId,
  version: number,
  user: orNull(id(UserId)),
  run: id(RunKey),
  verdict,
  saw: request,
  at: number,
  promised: optional(record<Promised>({ needs: number, holdMs: number, parts: optional(parts) })),
  reading: optional(yes),
  choice: optional(yes),
  bundle: optional(id(Nonce)),
  precedents: optional(precedents),
  asks: optional(word({ question: true, answer: true, "hand-over": true, snooze: true })),
  question: optional(id(Nonce)),
});
