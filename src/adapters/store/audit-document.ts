// An entry of the audit as a schema. Its text is what is signed and chained; this is how that text is read. A field that is added
// after 0.2.0 may be left out, or gets `orElse`: entries are never rewritten.

import type { AuditEntry, KeptEntry, Moments, VoteFacts } from "../../audit/entry.ts";
import type { KeyChange, NamedKey } from "../../domain/audit/hash-chain.ts";
import { ChannelId, type RunId, RunKey, TeamId, UserId } from "../../domain/ids.ts";
import { approvalId, ruleRef, verdict } from "./approval-document.ts";
import {
  type Doc,
  id,
  list,
  number,
  optional,
  orNull,
  record,
  serviceId,
  text,
  word,
  yes,
} from "./document-shape.ts";

type Person = NonNullable<AuditEntry["by"]>;
const person = orNull(record<Person>({ team: id(TeamId), user: id(UserId) }));
const namedKey = record<NamedKey>({ id: text, publicKey: text });

const moments = record<Moments>({
  asked: optional(number),
  shown: optional(number),
  clicked: optional(number),
  submitted: optional(number),
  sent: optional(number),
  confirmed: optional(number),
});

const what = word<AuditEntry["what"]>({
  opened: true,
  voted: true,
  decided: true,
  refused: true,
  sent: true,
  settled: true,
  closed: true,
  coalesced: true,
  disputed: true,
  started: true,
  watched: true,
  "task-told": true,
  unwatched: true,
  "audit-read": true,
  redacted: true,
  "program-started": true,
  "policy-loaded": true,
  "key-changed": true,
  "key-accepted": true,
  "tampering-found": true,
  "tampering-acknowledged": true,
});

const step = word<NonNullable<AuditEntry["step"]>>({
  click: true,
  read: true,
  submit: true,
  undo: true,
  start: true,
  watch: true,
  unwatch: true,
  command: true,
  status: true,
  audit: true,
  acknowledge: true,
  receipt: true,
});

export const auditDocument: Doc<KeptEntry["entry"]> = record<KeptEntry["entry"]>({
  at: number,
  what,
  run: orNull(id(RunKey)),
  runId: orNull(serviceId<RunId>()),
  channel: orNull(id(ChannelId)),
  requester: person,
  approval: orNull(approvalId),
  by: person,
  verdict: orNull(verdict),
  reason: orNull(text),
  digest: orNull(text),
  context: optional(text),
  textKept: optional(yes),
  policy: ruleRef,
  moments: optional(moments),
  outcome: text,
  step: optional(step),
  refusal: optional(text),
  votes: optional(
    list(record<VoteFacts>({ by: person, reason: orNull(text), at: number, entry: orNull(number) })),
  ),
  sentReason: optional(text),
  refers: optional(number),
  times: optional(number),
  since: optional(number),
  keys: optional(record<KeyChange>({ from: namedKey, to: namedKey })),
  findings: optional(list(text)),
});
