// The policy as a value, and the fields of a request that it lets change. choose-rule.ts says which rule applies to a request,
// authorization.ts what a rule lets a person do.

import type { ChannelId, GroupId, UserId } from "../ids.ts";
import { isRecord, type Json } from "../json.ts";
import { type FollowUpRule, idsOfFollowUp, NO_FOLLOW_UP } from "./follow-up-rule.ts";
import { DEFAULT_LOOK_BACK, type Hours, type LookBackTime } from "./hours.ts";
import type { Pattern } from "./pattern.ts";
import { groupsAndChannelsOf, type NamedPeople, type Part, type Principals } from "./named-people.ts";
import type { SavedTask } from "./saved-task.ts";

export type Policy = {
  /** Identifies the text of the policy file; null without a file. */
  readonly version: string | null;
  /** The first rule that fits applies; if none fits, nobody may decide. */
  readonly rules: readonly Rule[];
  /** Null: everyone who may use Countersign may start runs, in every channel. */
  readonly starters: readonly Starters[] | null;
  /** Fields of a request that may change without making it another one, by name or path with dots. Never `id` or `action`. */
  readonly volatile: readonly string[];
  /** Texts that people can start runs with. */
  readonly tasks: readonly SavedTask[];
  /** A channel that is also told when nobody can approve something. */
  readonly fallback: ChannelId | null;
  /** Which fields a card shows first; null: those of `CARD_FIELDS`. */
  readonly card: CardFields | null;
  /** Who may get the audit of a run, besides the admins of the configuration. Null: nobody. */
  readonly auditors: Principals | null;
  /** Who may freeze and lift a freeze, besides the admins of the configuration. Null: only the admins. */
  readonly freezers: Principals | null;
  /** When the audit channel looks back at the week. Null: never. */
  readonly lookBack: LookBackTime | null;
};

/**
 * Names of fields, or paths with dots, of the request or (`run.NAME`) of the run. Only the card's layout depends on them: no rule, no
 * digest.
 */
export type CardFields = {
  /** What says how risky the action is. */
  readonly risk: readonly string[];
  /** What says where it happens. */
  readonly where: readonly string[];
  /** These come first among the others. */
  readonly lead: readonly string[];
};

export const CARD_FIELDS: CardFields = {
  risk: ["risk", "risk_level", "severity", "run.risk", "run.risk_level"],
  where: ["environment", "env", "target.environment", "target.env", "run.environment", "run.env"],
  lead: ["tool", "target", "resource", "service"],
};

/** Every id that the policy names, some more than once. */
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
  const people = principalLists.flatMap((each) =>
    each === "anyone" ? [] : [...each.users, ...groupsAndChannelsOf(each)],
  );
  const conditions = rules.flatMap(({ when }) => [
    ...(when.channels ?? []),
    ...(when.requesters ?? []),
    ...(when.requesterGroups ?? []),
  ]);
  const called = rules.flatMap(({ mention }) => [...mention.users, ...mention.groups]);
  const later = rules.flatMap(({ followUp }) => idsOfFollowUp(followUp));
  const places = [...(starters ?? []), ...tasks].flatMap(({ channels }) => channels ?? []);
  return [...people, ...called, ...later, ...conditions, ...places, ...(fallback === null ? [] : [fallback])];
}

export type Rule = {
  readonly name: string;
  readonly when: When;
  readonly approvers: Principals;
  /** One of each must approve, all of them different people. Empty: it does not matter where the approvals come from. */
  readonly parts: readonly Part[];
  /** They may not decide, although `approvers` may list them. Null: no one. */
  readonly except: NamedPeople | null;
  readonly selfApproval: boolean;
  /** The smallest number of characters of a reason; 0: it may be left out. */
  readonly reason: { readonly approve: number; readonly deny: number };
  /** How many different people must approve. One denial ends it. */
  readonly needs: number;
  /** How long an approval is held (ms) before it is sent; until then it can be undone. */
  readonly holdMs: number;
  readonly expiry: { readonly afterMs: number; readonly outcome: "nothing" | "deny" } | null;
  /** What an approval requires, but a denial does not: to have opened the request in full, and to type a word. */
  readonly friction: { readonly readFirst: boolean; readonly word: string | null };
  /** Reasons that the form for a denial offers. The person may change the text before they send it. */
  readonly denyReasons: readonly string[];
  /** Whom the card mentions. Others can decide without a mention. */
  readonly mention: { readonly users: readonly UserId[]; readonly groups: readonly GroupId[] };
  /** Who decides gets a receipt at once, in a message of its own. Otherwise receipts may share a message. */
  readonly receiptAtOnce: boolean;
  /** What happens while the request waits. */
  readonly followUp: FollowUpRule;
  /**
   * Left out: no stage of its escalation was reached. These people may decide as well, also those who do not see the run's channel: the
   * policy names them. No rule of a policy has it; `ruleOf` adds it for one request.
   */
  readonly escalated?: NamedPeople;
};

/** All given conditions must hold; of a list, one item must. Texts are patterns as written in the file. */
export type When = {
  readonly channels: readonly ChannelId[] | null;
  readonly requesters: readonly UserId[] | null;
  /** Left out: none. Beside `requesters`: the two add up. */
  readonly requesterGroups?: readonly GroupId[];
  readonly action: readonly string[] | null;
  readonly input: readonly string[] | null;
  /** By a field's name, or its path with dots, in what the service sent about the approval. A dot in a name is written `\\.`. */
  readonly fields: { readonly [path: string]: readonly Pattern[] };
  /** Within one of these. Left out: at any time. */
  readonly hours?: readonly Hours[];
  /** Outside all of these. Left out: at any time. */
  readonly outsideHours?: readonly Hours[];
};

/** `channels` null: all channels. */
export type Starters = { readonly channels: readonly ChannelId[] | null; readonly who: Principals };

/** The facts that decide which rule applies. */
export type Facts = {
  readonly channel: ChannelId;
  readonly requester: UserId;
  readonly input: string;
  readonly action: string | null;
  readonly content: Json;
  /** Whether the requester is in these groups. A group that is missing here is unknown. */
  readonly requesterIn?: { readonly [group: GroupId]: boolean };
  /** Wall time (ms). Left out: unknown. */
  readonly at?: number;
};

/** Which rule of which policy; null where there was no policy file. */
export type RuleRef = { readonly version: string; readonly rule: string } | null;

/**
 * What an approval keeps of its rule: the parts that are displayed or that time something. The current policy says when a rule
 * applies and who may decide, so these parts are not kept.
 */
export type KeptRule = Omit<Rule, "when" | "approvers" | "except" | "receiptAtOnce" | "escalated">;

export function keptRule(rule: Rule): KeptRule {
  const { when: _when, approvers: _who, except: _except, ...others } = rule;
  const { receiptAtOnce: _receipt, escalated: _escalated, ...kept } = others;
  return kept;
}

/** The rule that applies to an approval, and the version of its policy. `card`: as the policy says; left out: `CARD_FIELDS`. */
export type AppliedRule = {
  readonly version: string | null;
  readonly rule: KeptRule;
  readonly card?: CardFields;
  /** When hours of the policy begin or end (monotonic), so that another rule may apply. Left out: never. */
  readonly until?: number;
};

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };

/** Without a policy file any full member who can see the card may decide, except the requester. */
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

/** The built-in policy with cards that mention these people and groups. */
export function builtInFor(mention: Rule["mention"]): Policy {
  return { ...BUILT_IN, rules: [{ ...BUILT_IN_RULE, mention }] };
}

export const NO_RULE: Rule = {
  ...BUILT_IN_RULE,
  name: "(no rule fits)",
  approvers: { users: [], groups: [], channels: [] },
};

// Fields of a request that the policy lets change without making it another request, such as the time of its last poll.

/** The digest always covers these fields. */
export const NEVER_VOLATILE: readonly string[] = ["id", "action"];

/** The paths that exist in the content. */
export function volatileIn(content: Json, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => withoutFields(content, [path]) !== content);
}

const isBound = (path: string): boolean => NEVER_VOLATILE.includes(path.split(".")[0] ?? "");

/** The same object when it has none of them. A field with dots in its own name takes precedence over a path. */
export function withoutFields(content: Json, paths: readonly string[]): Json {
  return paths.reduce<Json>((left, path) => (isBound(path) ? left : cutOut(left, path)), content);
}

function cutOut(content: Json, path: string): Json {
  if (!isRecord(content)) return content;
  if (Object.hasOwn(content, path)) {
    const { [path]: _gone, ...rest } = content;
    return rest;
  }
  const dots = [...path.matchAll(/\./g)].map(({ index }) => index);
  for (const dot of dots) {
    const [head, rest] = [path.slice(0, dot), path.slice(dot + 1)];
    const inner = Object.hasOwn(content, head) ? content[head] : undefined;
    const left = inner === undefined ? undefined : cutOut(inner, rest);
    if (left !== inner && left !== undefined) return { ...content, [head]: left };
  }
  return content;
}
