// The schema of a stored approval: its request, its decision, and the progress of that decision.

import {
  type Approval,
  type ApprovalState,
  type ApproverCount,
  CLOSED_CAUSES,
  type Decision,
  type Dispute,
  type FieldChange,
  type PastDecision,
  type Request,
  type RunContext,
  type Verdict,
} from "../../domain/approval.ts";
import type { Delivery } from "../../domain/delivery-state.ts";
import type { AuditPlace } from "../../domain/audit/hash-chain.ts";
import { type ApprovalId, ChannelId, GroupId, Nonce, TeamId, UserId } from "../../domain/ids.ts";
import {
  type AppliedRule,
  type CardFields,
  BUILT_IN_APPLIED_RULE,
  BUILT_IN_RULE,
  type CallingRule,
  type KeptRule,
  type RuleRef,
} from "../../domain/policy/policy.ts";
import type { Precedent, PrecedentLookUp, Precedents } from "../../domain/precedent.ts";
import type { Part } from "../../domain/policy/named-people.ts";
import type { Absence } from "../../domain/snapshot.ts";
import {
  type Doc,
  either,
  fields,
  flag,
  id,
  lazy,
  list,
  number,
  opaque,
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
import { call, followUp, followUpRule } from "./follow-up-document.ts";

export const approvalId = serviceId<ApprovalId>();
const [team, user, nonce] = [id(TeamId), id(UserId), id(Nonce)];

export const auditPlace = record<AuditPlace>({ seq: number, link: text });
export const absence = record<Absence>({ process: text, since: number, looks: number });
export const ruleRef: Doc<RuleRef> = orNull(record<NonNullable<RuleRef>>({ version: text, rule: text }));
export const verdict = word<Verdict>({ approve: true, deny: true });

const decision: Doc<Decision> = record<Decision>({
  verdict,
  reason: text,
  by: orNull(record<NonNullable<Decision["by"]>>({ team, user })),
  at: number,
  digest: text,
  votes: optional(list(lazy(() => decision))),
  word: optional(text),
  memberOf: optional(list(either(id(GroupId), id(ChannelId)))),
  policy: optional(ruleRef),
  stoppedBy: optional(user),
  entry: optional(number),
});

export const runContext = record<RunContext>({ fields, volatile: list(text), digest: text, chars: number });

export const request = record<Request>({
  action: orNull(text),
  content: opaque,
  volatile: optional(list(text)),
  requestedAt: orNull(text),
  context: optional(text),
  contextChars: optional(number),
  shownContext: optional(orNull(runContext)),
  digest: text,
  chars: number,
});

const answered = { answered: optional(text), failedWith: optional(number) };

// Earlier versions wrote the wall time of an unconfirmed decision, and of one that was made elsewhere. The monotonic time is close to it.
const ended = { at: number, stillListed: optional(orNull(flag)), told: optional(yes) };

const delivery = tagged<Delivery>({
  held: { until: number, sendAt: number },
  recorded: {},
  sending: {
    at: number,
    tries: number,
    lost: flag,
    notSent: optional(yes),
    otherListed: optional(yes),
    ...answered,
  },
  retry: {
    notBefore: number,
    tries: number,
    lost: flag,
    why: text,
    heldBack: optional(yes),
    notSent: optional(yes),
    ...answered,
  },
  unsure: { since: number, notBefore: number, tries: number, why: text, ...answered },
  confirmed: ended,
  refused: { at: number, words: text, absent: flag, said: optional(text) },
  elsewhere: { words: text, said: optional(text), ...ended },
  unconfirmed: {
    cause: word({
      "no-longer-listed": true,
      "request-changed": true,
      "run-missing": true,
      "refused-after-lost-answer": true,
      "no-longer-authorised": true,
      stopped: true,
      frozen: true,
      tampered: true,
    }),
    accepted: optional(yes),
    said: optional(text),
    ...ended,
    ...answered,
  },
});

const approvalState = tagged<ApprovalState>({
  pending: {},
  decided: { decision, delivery },
  closed: {
    cause: word(CLOSED_CAUSES),
    at: number,
    said: optional(text),
  },
});

const pastDecision = record<PastDecision>({
  decision,
  cause: word({
    "request-changed": true,
    "no-longer-listed": true,
    unreadable: true,
    "run-missing": true,
    refused: true,
    "run-over": true,
    undone: true,
    denied: true,
    expired: true,
    "voter-may-not": true,
    "rule-changed": true,
    unwatched: true,
    stopped: true,
    frozen: true,
    restored: true,
    tampered: true,
  }),
  words: text,
});

type Expiry = NonNullable<KeptRule["expiry"]>;

export const parts: Doc<readonly Part[]> = list(
  record<Part>({
    name: optional(text),
    users: list(user),
    groups: list(id(GroupId)),
    channels: list(id(ChannelId)),
  }),
);

/** Used only for display and timing. Missing fields have the built-in rule's values until the policy is applied again. */
const keptRule = record<KeptRule>({
  name: text,
  parts: orElse(parts, BUILT_IN_RULE.parts),
  selfApproval: orElse(flag, BUILT_IN_RULE.selfApproval),
  reason: orElse(record<KeptRule["reason"]>({ approve: number, deny: number }), BUILT_IN_RULE.reason),
  needs: orElse(number, BUILT_IN_RULE.needs),
  holdMs: orElse(number, BUILT_IN_RULE.holdMs),
  expiry: orElse(
    orNull(record<Expiry>({ afterMs: number, outcome: word({ nothing: true, deny: true }) })),
    BUILT_IN_RULE.expiry,
  ),
  friction: orElse(
    record<KeptRule["friction"]>({ readFirst: flag, word: orNull(text) }),
    BUILT_IN_RULE.friction,
  ),
  denyReasons: orElse(list(text), BUILT_IN_RULE.denyReasons),
  mention: orElse(
    record<KeptRule["mention"]>({ users: list(user), groups: list(id(GroupId)) }),
    BUILT_IN_RULE.mention,
  ),
  followUp: orElse(followUpRule, BUILT_IN_RULE.followUp),
});

const callingRule = record<CallingRule>({ name: text, followUp: followUpRule });

const cardFields = record<CardFields>({ risk: list(text), where: list(text), lead: list(text) });

const precedent = { times: number, more: flag, entry: number, by: user, at: number };
const precedentFields = {
  denied: orNull(record<NonNullable<Precedents["denied"]>>({ ...precedent, reason: text })),
  approved: orNull(record<Precedent>(precedent)),
  unread: optional(yes),
};
export const precedents: Doc<Precedents> = record<Precedents>(precedentFields);

const closed = record<NonNullable<Dispute["closed"]>>({ by: user, at: number, words: text });

export const approval = record<Approval>({
  id: approvalId,
  serviceId: approvalId,
  request,
  seenAt: number,
  version: number,
  nonce,
  requestVersion: number,
  onlyContextChanged: optional(yes),
  changes: optional(list(record<FieldChange>({ name: text, was: orNull(text), is: orNull(text) }))),
  moreChanges: optional(number),
  state: approvalState,
  past: list(pastDecision),
  unlisted: orElse(orNull(either(absence, word({ "in-doubt": true }))), null),
  since: number,
  waitsSince: number,
  votes: list(decision),
  readers: orElse(list(user), []),
  approverCount: orElse(
    orNull(
      record<ApproverCount>({
        of: text,
        at: number,
        able: orNull(number),
        needs: optional(number),
        grows: flag,
      }),
    ),
    null,
  ),
  precedents: optional(record<PrecedentLookUp>({ of: text, ...precedentFields })),
  appliedRule: orElse(
    record<AppliedRule>({
      version: orNull(text),
      rule: keptRule,
      card: optional(cardFields),
      until: optional(number),
      inDoubt: optional(record<NonNullable<AppliedRule["inDoubt"]>>({ calledBy: orNull(callingRule) })),
    }),
    BUILT_IN_APPLIED_RULE,
  ),
  followUp: optional(followUp),
  calls: optional(list(call)),
  audited: optional(auditPlace),
  disputes: optional(
    list(record<Dispute>({ entry: number, by: user, at: number, closed: optional(closed) })),
  ),
  listing: optional(record<NonNullable<Approval["listing"]>>({ page: number, over: optional(yes) })),
});
