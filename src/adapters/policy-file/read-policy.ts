// Reads the text of a policy file into the domain's policy, or returns everything that is wrong with it and on which line.

import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { ChannelId, GroupId, UserId } from "../../domain/ids.ts";
import type { Hours } from "../../domain/policy/hours.ts";
import { CARD_FIELDS, type CardFields, type Policy, type Rule } from "../../domain/policy/policy.ts";
import { withoutNamed } from "../../domain/policy/named-people.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { approversOf, BY_SHAPE, EMPTY_LIST, principalsOf } from "./policy-values.ts";
import { followUpOf, whenOf } from "./rule-shape.ts";
import { lookBackOf } from "./hours-shape.ts";
import { PolicyShape, type PolicyText } from "./policy-shape.ts";
import { tasksOf } from "./tasks-shape.ts";

/** `version` identifies the text. */
export function readPolicy(text: string, version: string): Result<Policy, readonly Finding[]> {
  const document = readLines(text);
  if (document.faults.length > 0) return err(document.faults);
  const parsed = PolicyShape.safeParse(document.value, { error: plainWords });
  if (!parsed.success)
    return err(byLine(parsed.error.issues.flatMap((issue) => findingsOf(issue, document))));
  const policy = policyOf(parsed.data, version);
  const faults = sameNames(policy.rules, document);
  return faults.length > 0 ? err(byLine(faults)) : ok(policy);
}

/** Returns the words for a fault for which the shape has none, because those of zod are for programmers. */
function plainWords({ code, ...fault }: z.core.$ZodRawIssue): string {
  if (fault["expected"] === "object" || fault["expected"] === "record")
    return "is not a set of keys with values";
  if (code === "invalid_key") return "is not the name of a field";
  return fault["origin"] === "array" ? EMPTY_LIST : "is not a value that this key can have";
}

function sameNames(rules: readonly Rule[], document: LinedDocument): Finding[] {
  return rules.flatMap(({ name }, index) => {
    if (rules.findIndex((each) => each.name === name) === index) return [];
    const says = `names a second rule "${name}": the audit could not tell them apart`;
    return [finding(document, ["rules", index, "name"], says)];
  });
}

export function finding({ lineOf }: LinedDocument, path: readonly PropertyKey[], says: string): Finding {
  return { line: lineOf(path), where: written(path), says };
}

function findingsOf(issue: z.core.$ZodIssue, document: LinedDocument): Finding[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) =>
      finding(document, [...issue.path, key], "is not a key that a policy can have"),
    );
  if (issue.code === "invalid_union" && issue.message === BY_SHAPE)
    return shapedFaults(issue).flatMap((each) => findingsOf(each, document));
  if (document.value === null) return [finding(document, [], "the file is empty")];
  if (issue.path.length === 0)
    return [finding(document, [], "the file has no keys with values, such as rules")];
  if (isMissing(document.value, issue.path)) return [finding(document, issue.path, "is missing")];
  return [finding(document, issue.path, issue.message)];
}

/** Returns the faults of the alternative that a list or an object was meant to be. */
function shapedFaults({ errors, path }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] {
  const isOther = ({ code, path: inner }: z.core.$ZodIssue): boolean =>
    code === "invalid_type" && inner.length === 0;
  const meant = errors.find((faults) => !faults.some(isOther)) ?? errors.flat();
  return meant.map((fault) => ({ ...fault, path: [...path, ...fault.path] }));
}

function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  const found = path.reduce<unknown>(
    (inner, step) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, step) : undefined),
    value,
  );
  return found === undefined;
}

/** Two checks of one value may say the same. */
const byLine = (findings: readonly Finding[]): Finding[] => [
  ...new Map(
    findings
      .toSorted((a, b) => a.line - b.line)
      .map((each) => [`${each.line} ${each.where} ${each.says}`, each]),
  ).values(),
];

function policyOf(
  {
    rules,
    hours,
    starters,
    tasks,
    volatile,
    fallback,
    card,
    auditors,
    freezers,
    "look-back": lookBack,
  }: PolicyText,
  version: string,
): Policy {
  return {
    version,
    rules: rules.map((each) => ruleOf(each, hours ?? null)),
    starters:
      starters?.map(({ channels, who }) => ({
        channels: channels?.map(ChannelId) ?? null,
        who: principalsOf(who),
      })) ?? null,
    tasks: tasksOf(tasks),
    volatile: volatile ?? [],
    fallback: fallback === undefined ? null : ChannelId(fallback),
    card: card === undefined ? null : cardFieldsOf(card),
    auditors: auditors === undefined ? null : principalsOf(auditors),
    freezers: freezers === undefined ? null : principalsOf(freezers),
    lookBack: lookBackOf(lookBack),
  };
}

function cardFieldsOf({ risk, where, lead }: NonNullable<PolicyText["card"]>): CardFields {
  return {
    risk: risk ?? CARD_FIELDS.risk,
    where: where ?? CARD_FIELDS.where,
    lead: lead ?? CARD_FIELDS.lead,
  };
}

function ruleOf(rule: PolicyText["rules"][number], hours: Hours | null): Rule {
  const { name, reason, expiry, friction } = rule;
  const people = approversOf(rule.approvers);
  return {
    name,
    when: whenOf(rule.when ?? {}),
    ...people,
    selfApproval: rule["self-approval"],
    reason,
    needs: Math.max(rule.quorum, people.parts.length),
    holdMs: rule.hold ?? 0,
    expiry: expiry === undefined ? null : { afterMs: expiry.after, outcome: expiry.outcome },
    friction: { readFirst: friction?.["read-first"] ?? false, word: friction?.type ?? null },
    denyReasons: [...new Set(rule["deny-reasons"])],
    mention: mentionOf(rule.mention, people),
    receiptAtOnce: rule.receipt === "at-once",
    followUp: followUpOf(rule, hours),
  };
}

/** By default the people and groups that may decide. Members of a channel are not mentioned. */
function mentionOf(
  mention: PolicyText["rules"][number]["mention"],
  { approvers, except }: Pick<Rule, "approvers" | "except">,
): Rule["mention"] {
  if (mention === undefined && approvers !== "anyone") {
    const { users, groups } = withoutNamed(approvers, except);
    return { users, groups };
  }
  if (mention === undefined || mention === "nobody") return { users: [], groups: [] };
  return { users: mention.users?.map(UserId) ?? [], groups: mention.groups?.map(GroupId) ?? [] };
}

// Finds the line of a path in a YAML document, so that a message can name it.

/** A fault of the file, or a probable mistake in it. */
export type Finding = { readonly line: number; readonly where: string; readonly says: string };

type Path = readonly PropertyKey[];
type LinedDocument = {
  readonly value: unknown;
  readonly faults: readonly Finding[];
  readonly lineOf: (path: Path) => number;
};

export function readLines(text: string): LinedDocument {
  const lines = new LineCounter();
  const doc = parseDocument(text, {
    lineCounter: lines,
    strict: true,
    uniqueKeys: true,
    // Otherwise `404` and "404" are two keys, of which only the last would count.
    stringKeys: true,
    prettyErrors: false,
  });
  const lineAt = (offset: number): number => lines.linePos(offset).line || 1;
  const faults: Finding[] = [...doc.errors, ...doc.warnings].map(({ pos, message }) => ({
    line: lineAt(pos[0]),
    where: "",
    says: message,
  }));
  // zod drops this key from a record without a word, and a rule would lose its condition.
  visit(doc, {
    Pair: (_, { key }) => {
      if (!isScalar(key) || key.value !== "__proto__") return;
      faults.push({
        line: lineAt(startOf(key) ?? 0),
        where: "",
        says: "__proto__ is not a key that a policy can have",
      });
    },
  });
  const lineOf = (path: Path): number => lineAt(offsetOf(doc, path));
  return { value: faults.length > 0 ? null : valueOf(doc, faults), faults, lineOf };
}

function valueOf(doc: Document, faults: Finding[]): unknown {
  try {
    return doc.toJS({ maxAliasCount: 50 });
  } catch (error) {
    faults.push({ line: 1, where: "", says: error instanceof Error ? error.message : String(error) });
    return null;
  }
}

/** Follows the path as far as it exists in the document. */
function offsetOf(doc: Document, path: Path): number {
  let node: unknown = doc.contents;
  let offset = startOf(doc.contents) ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
      if (pair === undefined) return offset;
      offset = isScalar(pair.key) ? (startOf(pair.key) ?? offset) : offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = startOf(node) ?? offset;
    } else return offset;
  }
  return offset;
}

function startOf(node: unknown): number | null {
  return (node as Node | null | undefined)?.range?.[0] ?? null;
}

/** rules[2].when.channel */
function written(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}
