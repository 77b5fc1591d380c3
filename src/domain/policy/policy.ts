// The policy as a value, and the fields of a request that it lets change. choose-rule.ts says which rule applies to a request;
// authorization.ts says what a rule lets a person do.

import type { ChannelId, GroupId, UserId } from "../ids.ts";
import { isRecord, type Json } from "../json.ts";
import { type FollowUpRule, idsOfFollowUp, NO_FOLLOW_UP } from "./follow-up-rule.ts";
import { DEFAULT_LOOK_BACK, type Hours, type LookBackTime } from "./hours.ts";
import type { Pattern } from "./pattern.ts";
import {
  idsOf,
  type ListedPeople,
  listsOf,
  NO_ONE,
  type NamedPeople,
  type Part,
  type Principals,
} from "./named-people.ts";
import type { SavedTask } from "./saved-task.ts";

export type Policy = {
  /** Identifies the text of the policy file. Null if there is no file. */
  readonly version: string | null;
  /** The first rule that fits applies. If none fits, no person may decide. */
  readonly rules: readonly Rule[];
  /** Who may start runs, and where. Null if everyone who may use Countersign may, in every channel. */
  readonly starters: readonly Starters[] | null;
  /** Fields that may change without making a request a new one, by name or dotted path. Never `id` or `action`. */
  readonly volatile: readonly string[];
  /** Texts that people can start runs with. */
  readonly tasks: readonly SavedTask[];
  /** A channel that is also notified if a request has too few people who can approve it. */
  readonly fallback: ChannelId | null;
  /** The fields that a card shows first. Null for those of `CARD_FIELDS`. */
  readonly card: CardFields | null;
  /** Who may get the audit of a run, besides the admins of the configuration. Null if only the admins may. */
  readonly auditors: Principals | null;
  /** Who may freeze and lift a freeze, besides the admins of the configuration. Null if only the admins may. */
  readonly freezers: Principals | null;
  /** When the audit channel gets the look-back at the week. Null if never. */
  readonly lookBack: LookBackTime | null;
};

/**
 * Names or dotted paths of fields of the request, or of the run (`run.NAME`). They affect only the layout of the card, not the choice of a
 * rule or a digest.
 */
export type CardFields = {
  /** Fields that say how risky the action is. */
  readonly risk: readonly string[];
  /** Fields that say where it happens. */
  readonly where: readonly string[];
  /** Fields that come first among the others. */
  readonly lead: readonly string[];
};

export const CARD_FIELDS: CardFields = {
  risk: ["risk", "risk_level", "severity", "run.risk", "run.risk_level"],
  where: ["environment", "env", "target.environment", "target.env", "run.environment", "run.env"],
  lead: ["tool", "target", "resource", "service"],
};

/** Returns every id that the policy names. An id may occur more than once. */
export function idsNamedIn({
  rules,
  starters,
  auditors,
  freezers,
  fallback,
  tasks,
}: Policy): readonly string[] {
  const principalLists = [
    ...rules.flatMap(({ approvers, parts, except }) => [
      approvers,
      ...parts,
      ...(except === null ? [] : [except]),
    ]),
    ...(starters ?? []).map(({ who }) => who),
    ...tasks.flatMap(({ who }) => (who === null ? [] : [who])),
    ...(auditors === null ? [] : [auditors]),
    ...(freezers === null ? [] : [freezers]),
  ];
  const people = principalLists.flatMap((principals) => listsOf(principals).flatMap(idsOf));
  const conditions = rules.flatMap(({ when }) => [
    ...(when.channels ?? []),
    ...(when.requesters ?? []),
    ...(when.requesterGroups ?? []),
  ]);
  const mentioned = rules.flatMap(({ mention }) => [...mention.users, ...mention.groups]);
  const followUps = rules.flatMap(({ followUp }) => idsOfFollowUp(followUp));
  const channels = [...(starters ?? []), ...tasks].flatMap((item) => item.channels ?? []);
  const ids = [...people, ...mentioned, ...followUps, ...conditions, ...channels];
  return fallback === null ? ids : [...ids, fallback];
}

export type Rule = {
  readonly name: string;
  readonly when: When;
  readonly approvers: Principals;
  /** A person from each part must approve, all of them different people. Empty if approvals may come from anywhere. */
  readonly parts: readonly Part[];
  /** People who may not decide, even if `approvers` includes them. Null if there are none. */
  readonly except: NamedPeople | null;
  readonly selfApproval: boolean;
  /** The shortest reason (characters), by verdict. 0 if a reason is optional. */
  readonly reason: { readonly approve: number; readonly deny: number };
  /** The number of different people who must approve. One denial is enough to deny. */
  readonly needs: number;
  /** How long an approval is held before it is sent (ms). Until then, it can be undone. */
  readonly holdMs: number;
  readonly expiry: { readonly afterMs: number; readonly outcome: "nothing" | "deny" } | null;
  /** Requirements for approvals only: to open the request in full, and to type a word. */
  readonly friction: { readonly readFirst: boolean; readonly word: string | null };
  /** Reasons that the form for a denial offers. The person can edit the text before they send it. */
  readonly denyReasons: readonly string[];
  /** The people whom the card mentions. Others can decide without a mention. */
  readonly mention: { readonly users: readonly UserId[]; readonly groups: readonly GroupId[] };
  /** A decider gets their receipt at once, in a separate message. Otherwise receipts may share a message. */
  readonly receiptAtOnce: boolean;
  /** What happens while the request waits. */
  readonly followUp: FollowUpRule;
  /**
   * People who may also decide because of an escalation, even if they do not see the run's channel. Absent until a stage is reached. No
   * rule in a policy has this field; `ruleOf` adds it for one request.
   */
  readonly escalated?: ListedPeople;
};

/**
 * What the form for an approval promises: how many people must approve, from which parts, and how long the approval is held (ms). A form of
 * an earlier version has no parts.
 */
export type Promised = Pick<Rule, "needs" | "holdMs"> & Partial<Pick<Rule, "parts">>;

/** The conditions of a rule. All that are given must hold; of a list, one item must. Texts are patterns as written in the file. */
export type When = {
  readonly channels: readonly ChannelId[] | null;
  readonly requesters: readonly UserId[] | null;
  /** Absent if there is no such condition. With `requesters`, either may hold. */
  readonly requesterGroups?: readonly GroupId[];
  readonly action: readonly string[] | null;
  readonly input: readonly string[] | null;
  /** By field name or dotted path, in what the service sent about the approval. A dot in a name is written `\\.`. */
  readonly fields: { readonly [path: string]: readonly Pattern[] };
  /** The time must be within one of these. Absent if any time will do. */
  readonly hours?: readonly Hours[];
  /** The time must be outside all of these. Absent if any time will do. */
  readonly outsideHours?: readonly Hours[];
};

/** Who may start runs in these channels. Null for all channels. */
export type Starters = { readonly channels: readonly ChannelId[] | null; readonly who: Principals };

/** The facts that determine which rule applies. */
export type Facts = {
  readonly channel: ChannelId;
  readonly requester: UserId;
  readonly input: string;
  readonly action: string | null;
  readonly content: Json;
  /** Whether the requester is in these groups. A group that is missing is unknown. */
  readonly requesterIn?: { readonly [group: GroupId]: boolean };
  /** Wall time (ms). Absent if unknown. */
  readonly at?: number;
};

/** A reference to a rule of a policy. Null if there was no policy file. */
export type RuleRef = { readonly version: string; readonly rule: string } | null;

/**
 * The part of its rule that an approval stores: what is displayed, and what determines times. When the rule applies and who may decide are
 * not stored, because the current policy says that.
 */
export type KeptRule = Omit<Rule, "when" | "approvers" | "except" | "receiptAtOnce" | "escalated">;

export function keptRule(rule: Rule): KeptRule {
  const { when: _when, approvers: _who, except: _except, ...others } = rule;
  const { receiptAtOnce: _receipt, escalated: _escalated, ...kept } = others;
  return kept;
}

/** The rule by which people are reminded and called. */
export type CallingRule = Pick<Rule, "name" | "followUp">;

/** The rule that applies to an approval, and the version of its policy. */
export type AppliedRule = {
  readonly version: string | null;
  readonly rule: KeptRule;
  /** The policy's `card`. `CARD_FIELDS` if absent. */
  readonly card?: CardFields;
  /** When hours of the policy begin or end, so that another rule may apply (monotonic). Absent if never. */
  readonly until?: number;
  /** Slack has not said which of several rules applies, so all of them hold. Absent if the rule is known. */
  readonly inDoubt?: {
    /** The last rule that surely applied. Until the rule is known, people are called by this one. Null if none did. */
    readonly calledBy: CallingRule | null;
  };
};

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };

/** The rule without a policy file: any full member who can see the card may decide, except the requester. */
export const BUILT_IN_RULE: Rule = {
  name: "built-in",
  when: ALWAYS,
  approvers: "anyone",
  parts: [],
  except: null,
  selfApproval: false,
  reason: { approve: 0, deny: 1 },
  needs: 1,
  holdMs: 0,
  expiry: null,
  friction: { readFirst: false, word: null },
  denyReasons: [],
  mention: { users: [], groups: [] },
  receiptAtOnce: false,
  followUp: NO_FOLLOW_UP,
};

export const BUILT_IN: Policy = {
  version: null,
  rules: [BUILT_IN_RULE],
  starters: null,
  tasks: [],
  volatile: [],
  fallback: null,
  card: null,
  auditors: null,
  freezers: null,
  lookBack: DEFAULT_LOOK_BACK,
};

export const BUILT_IN_APPLIED_RULE: AppliedRule = {
  version: BUILT_IN.version,
  rule: keptRule(BUILT_IN_RULE),
};

/** The rule of an approval to which no policy has been applied yet. */
export const NOT_YET_APPLIED: AppliedRule = { ...BUILT_IN_APPLIED_RULE, inDoubt: { calledBy: null } };

/** Returns the built-in policy with cards that mention these people and groups. */
export function builtInFor(mention: Rule["mention"]): Policy {
  return { ...BUILT_IN, rules: [{ ...BUILT_IN_RULE, mention }] };
}

export const NO_RULE: Rule = {
  ...BUILT_IN_RULE,
  name: "(no rule fits)",
  approvers: NO_ONE,
};

// Volatile fields: fields that may change without making a request a new one, such as the time of its last poll.

/** Fields that the digest always covers. */
export const NEVER_VOLATILE: readonly string[] = ["id", "action"];

/** Returns those of the paths that exist in the content. */
export function volatileIn(content: Json, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => withoutFields(content, [path]) !== content);
}

const isNeverVolatile = (path: string): boolean => NEVER_VOLATILE.includes(path.split(".")[0] ?? "");

/** Removes the fields. Returns the same object if it has none of them. A field with dots in its name takes precedence over a path. */
export function withoutFields(content: Json, paths: readonly string[]): Json {
  return paths.reduce<Json>(
    (left, path) => (isNeverVolatile(path) ? left : withoutField(left, path)),
    content,
  );
}

function withoutField(content: Json, path: string): Json {
  if (!isRecord(content)) return content;
  if (Object.hasOwn(content, path)) {
    const { [path]: _gone, ...rest } = content;
    return rest;
  }
  const dots = [...path.matchAll(/\./g)].map(({ index }) => index);
  for (const dot of dots) {
    const head = path.slice(0, dot);
    const inner = Object.hasOwn(content, head) ? content[head] : undefined;
    const left = inner === undefined ? undefined : withoutField(inner, path.slice(dot + 1));
    if (left !== inner && left !== undefined) return { ...content, [head]: left };
  }
  return content;
}
