// Explains a policy, or how it applies to one run, in lines for the terminal.

import { existsSync } from "node:fs";
import { findingLine, loadPolicy } from "../../adapters/policy-file/policy-holder.ts";
import { readRun } from "../../adapters/store/audit-file.ts";
import { type Environment, explainFaults, readAuditConfig, readGiven } from "../../config.ts";
import type { Approval } from "../../domain/approval.ts";
import { conditionsInWords, conditionsOfKind, followUpSentences, stageRights } from "./rule-words.ts";
import { withEscalation } from "../../domain/escalation.ts";
import { matcher, ruleFor } from "../../domain/policy/choose-rule.ts";
import { BUILT_IN, type Policy, type Rule } from "../../domain/policy/policy.ts";
import {
  listsOf,
  type NamedPeople,
  NO_ONE,
  type Part,
  partName,
  type Principals,
} from "../../domain/policy/named-people.ts";
import { missingParts } from "../../domain/applied-rule.ts";
import type { SavedTask } from "../../domain/policy/saved-task.ts";
import { factsFor } from "../../domain/rule-facts.ts";
import { type Run, runId } from "../../domain/run.ts";
import { oneLine } from "../../domain/text/excerpt.ts";

/** If `well` is false, the lines say what is wrong. */
export type Explained = { readonly well: boolean; readonly lines: readonly string[] };

const failure = (...lines: readonly string[]): Explained => ({ well: false, lines });
const success = (lines: readonly string[]): Explained => ({ well: true, lines });

/** `what` is a file, or else the service's id of a run. Without a policy file the built-in policy applies. */
export async function explain(what: string, file: string | undefined, env: Environment): Promise<Explained> {
  if (existsSync(what)) return withPolicy(what, (policy) => success(explainPolicy(policy)));
  const explained = await explainUnder(what, file, env);
  const taken = `There is no file "${oneLine(what, ID_CHARS)}", so it was taken for the id of a run.`;
  return explained.well ? explained : failure(taken, ...explained.lines);
}

async function explainUnder(id: string, file: string | undefined, env: Environment): Promise<Explained> {
  const given = file === undefined ? readGiven(env, "POLICY_FILE") : { value: file };
  if ("wrong" in given)
    return failure(`${given.variable} ${given.wrong}. Correct it, or name the policy file after the run.`);
  if (given.value === null) return explainRunById(id, BUILT_IN, env);
  return withPolicy(given.value, (policy) => explainRunById(id, policy, env));
}

async function withPolicy(
  file: string,
  then: (policy: Policy) => Explained | Promise<Explained>,
): Promise<Explained> {
  const loaded = await loadPolicy(file);
  return loaded.ok ? then(loaded.value) : failure(...loaded.error.map((fault) => findingLine(file, fault)));
}

async function explainRunById(id: string, policy: Policy, env: Environment): Promise<Explained> {
  const config = readAuditConfig(env);
  if (!config.ok) return failure(explainFaults(config.error));
  try {
    const run = await readRun(config.value.database, id);
    return run === null
      ? failure("The database has no run with this id. Check the name and DATABASE_URL.")
      : success(explainRun(run, policy, Date.now()));
  } catch (error) {
    return failure(`The database can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

// Prints a policy in sentences, so that its author can check that it says what they mean.

/** Returns one paragraph for each rule, then one for the whole policy. */
function explainPolicy(policy: Policy): string[] {
  const rules = policy.rules.map((rule, index) =>
    [`${index + 1}. ${rule.name}`, ...ruleSentences(rule)].join("\n   "),
  );
  return [...rules, "A request that matches no rule can't be decided.", ...policySentences(policy)];
}

const ruleSentences = (rule: Rule): string[] => sentencesOf(rule, RULE_SENTENCES);

const policySentences = (policy: Policy): string[] => sentencesOf(policy, POLICY_SENTENCES);

function sentencesOf<Described>(of: Described, sentences: Sentences<Described>): string[] {
  return Object.values<Sentence<Described>>(sentences).flatMap((sentence) => sentence(of));
}

/** Returns what there is to say about one field, in any number of sentences. */
type Sentence<Described> = (of: Described) => readonly string[];

/** Holds every field, optional ones included, so that the compiler names a field that is missing. The order is that of the output. */
type Sentences<Described> = { readonly [Field in keyof Described]-?: Sentence<Described> };

/** For a field that needs no sentence of its own. A comment says why. */
const none = (): readonly string[] => [];

const RULE_SENTENCES: Sentences<Rule> = {
  // The heading of the paragraph.
  name: none,
  when: ({ when }) => [`Applies ${conditionsInWords(when)}.`],
  approvers: (rule) => [
    `May be decided by ${deciders(rule)}, ${rule.selfApproval ? "including the requester" : "never by the requester"}.`,
  ],
  // Both are in the sentence of `approvers`.
  except: none,
  selfApproval: none,
  needs: ({ needs }) => [
    needs === 1
      ? "One person must approve; one denial ends it."
      : `${needs} different people must approve; one denial ends it.`,
  ],
  parts: ({ parts }) =>
    parts.length === 0
      ? []
      : [`One approval must come from each of these: ${parts.map(partInWords).join("; ")}.`],
  reason: ({ reason }) => [
    `Reason to approve: ${minChars(reason.approve)}; to deny: ${minChars(reason.deny)}.`,
  ],
  denyReasons: ({ denyReasons }) =>
    denyReasons.length === 0
      ? []
      : [`The form for a denial offers: ${denyReasons.map((text) => `"${text}"`).join(", ")}.`],
  friction: ({ friction }) => [
    ...(friction.readFirst ? ["The approver must read the request first. Pressing Approve opens it."] : []),
    ...(friction.word === null ? [] : [`The approver must type "${friction.word}".`]),
  ],
  holdMs: ({ holdMs }) =>
    holdMs === 0 ? [] : [`An approval is held for ${time(holdMs)} and can be undone until then.`],
  expiry: ({ expiry }) => [
    expiry === null
      ? "It waits as long as the service lists it."
      : `After ${time(expiry.afterMs)} ${expiry.outcome === "deny" ? "it is denied" : "it closes"}.`,
  ],
  followUp: (rule) => followUpSentences(rule, { time, people }),
  receiptAtOnce: ({ receiptAtOnce }) =>
    receiptAtOnce ? ["Each person who decides gets a receipt at once, as a separate message."] : [],
  mention: ({ mention }) => {
    const mentioned = [...mention.users, ...mention.groups];
    return [
      mentioned.length === 0 ? "The card mentions no one." : `The card mentions ${mentioned.join(", ")}.`,
    ];
  },
  // No rule in a policy has this field. The stages are in the sentences of `followUp`.
  escalated: none,
};

/** Whom "anyone" means where there is no card yet. `refusalToUse` refuses all others. */
const FULL_MEMBERS = "every full member who sees the channel";

const POLICY_SENTENCES: Sentences<Policy> = {
  // Identifies the file that the reader named.
  version: none,
  // Each rule has its own paragraph.
  rules: none,
  starters: ({ starters }) => {
    const everyone = [{ channels: null, who: "anyone" as const }];
    const starts = (starters ?? everyone).map(
      ({ channels, who }) => `in ${placesOf(channels)} by ${people(who, FULL_MEMBERS)}`,
    );
    return [`Runs may be started and watched ${starts.join("; ")}.`];
  },
  tasks: ({ tasks }) => tasks.map(taskInWords),
  volatile: ({ volatile }) =>
    volatile.length === 0 ? [] : [`These fields may change without notice: ${volatile.join(", ")}.`],
  fallback: ({ fallback }) =>
    fallback === null ? [] : [`${fallback} is also notified if a request has no one who can approve it.`],
  // Affects only the layout of the card.
  card: none,
  auditors: ({ auditors }) =>
    auditors === null
      ? []
      : [`The audit of a run may be read by ADMINS and ${people(auditors, FULL_MEMBERS)}.`],
  freezers: ({ freezers }) =>
    freezers === null
      ? []
      : [
          `A freeze may be set and lifted by ADMINS and ${people(freezers, FULL_MEMBERS)}, but no one may lift their own.`,
        ],
  lookBack: ({ lookBack }) => [
    lookBack === null
      ? "The audit channel gets no weekly look back."
      : `The audit channel gets a look back at the week on ${lookBack.day} at ${lookBack.at} (${lookBack.tz}).`,
  ],
};

function taskInWords({ name, text, fields, channels, who }: SavedTask): string {
  const questions = fields.map(({ label, choices, required }) => {
    const limits = [
      ...(required ? [] : ["may be empty"]),
      ...(choices === null ? [] : [choices.join(" or ")]),
    ];
    return limits.length === 0 ? label : `${label} (${limits.join("; ")})`;
  });
  const users = people(who ?? "anyone", "everyone who may start runs");
  const asking = questions.length === 0 ? "" : ` Asks for ${questions.join(", ")}.`;
  return `Saved task ${name}: "${text}", for ${users}, in ${placesOf(channels)}.${asking}`;
}

const placesOf = (channels: readonly string[] | null): string => channels?.join(", ") ?? "every channel";

function deciders({ approvers, except }: Rule): string {
  return `${people(approvers)}${except === null ? "" : `, but not by ${people(except)}`}`;
}

function partInWords(part: Part): string {
  return part.name === undefined ? people(part) : `${part.name} (${people(part)})`;
}

/** `anyone`: whom that word means here. */
function people(principals: Principals, anyone = "every full member who sees the card"): string {
  const lists = listsOf(principals).map(listInWords);
  if (lists.length > 1)
    return `people who are in every one of these lists: ${lists.map((list) => `(${list})`).join(" and ")}`;
  return lists[0] ?? anyone;
}

function listInWords({ users, groups, channels }: NamedPeople): string {
  const sets = [
    ...groups.map((group) => `members of ${group}`),
    ...channels.map((channel) => `members of ${channel}`),
  ];
  return [...users, ...sets].join(", ") || "no one";
}

const minChars = (chars: number): string =>
  chars === 0 ? "optional" : `at least ${chars} ${chars === 1 ? "character" : "characters"}`;

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
] as const;

function time(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms % size === 0) ?? [1_000, "s"];
  return `${ms / size} ${unit}`;
}

// Says which rule applies to each approval of a run, and why the rules before it do not match.

/** The most characters of an id of the service, which may be almost any text. */
const ID_CHARS = 120;

function explainRun(run: Run, policy: Policy, now: number): string[] {
  const head = `${oneLine(runId(run) ?? run.key, ID_CHARS)}, requested by ${run.requester} in ${run.channel}`;
  if (run.approvals.length === 0) return [`${head}, has not asked for an approval yet.`];
  return [head, ...run.approvals.flatMap((approval) => explainApproval(run, approval, policy, now))];
}

function explainApproval(run: Run, approval: Approval, policy: Policy, now: number): string[] {
  const { action } = approval.request;
  const facts = factsFor(run, approval.request, { now });
  const chosen = withEscalation(ruleFor(policy, facts), approval);
  const match = matcher(facts);
  const first = policy.rules.findIndex(({ when }) => match(when) === "every");
  const before = first < 0 ? policy.rules : policy.rules.slice(0, first);
  const missing = approval.state.type === "pending" ? missingParts(approval, chosen) : [];
  const decided = approval.state.type === "decided" ? (approval.state.decision.policy ?? null) : null;
  return [
    `${oneLine(approval.id, ID_CHARS)} (${approval.state.type}): ${oneLine(action ?? "(no action)", 120)}`,
    ...before.map((rule) =>
      match(rule.when) === "none"
        ? `   not ${rule.name}: ${conditionsOfKind(rule, facts, "none")} does not match`
        : `   perhaps ${rule.name}: ${whyUncertain(conditionsOfKind(rule, facts, "some"))}`,
    ),
    `   ${chosen.name} applies: ${deciders(chosen)} may decide`,
    ...stageRights(chosen.escalated ?? NO_ONE, chosen, people).map((says) => `   it is escalated: ${says}`),
    ...(missing.length === 0
      ? []
      : [
          `   still missing: ${missing.length === 1 ? "an approval" : "one approval each"} from ${missing.map(partName).join("; ")}`,
        ]),
    ...(decided === null
      ? []
      : [`   was decided under ${decided.rule} in policy version ${decided.version}`]),
  ];
}

const whyUncertain = (names: string): string =>
  names === "requester"
    ? "the database does not say which groups the requester is in"
    : `${names} can be read in several ways, and not all of them match`;
