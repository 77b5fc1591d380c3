// What a card says about a request, and where: the risk, the place, the short fields side by side, and the long ones below. The policy
// names the fields for risk and place. They are claims of the service like all others, so none is believed and none is hidden.

import type { Approval, Request, RunContext } from "../approval.ts";
import { isList, isRawNumber, isRecord, type Json, numberText, plainName } from "../json.ts";
import { CARD_FIELDS, type CardFields } from "../policy/policy.ts";
import { contextBehind } from "../run-context.ts";
import { lineExcerpt } from "./excerpt.ts";
import { withoutSymbols } from "./headline.ts";
import type { Marks, Risk, RiskLevel } from "./marks.ts";
import { type Field, fieldText, nameText, fieldsOf, writtenValue } from "./request-text.ts";
import { isSecretField } from "./secrets.ts";

/** `at`: the value as a time (ms since 1970). Null if it is not a time. */
export type ShortField = { readonly label: string; readonly value: string; readonly at: number | null };

/** What the second line of a card says, and the fields of the run that it leaves to the sections below. */
export type CardMarks = Marks & {
  /** The paths of the fields that these marks show in full. */
  readonly said: ReadonlySet<string>;
  /** The fields of the run that state a risk or a place, but that these marks do not show in full. `secrets`: how many are masked in it. */
  readonly runFields: readonly (ShortField & { readonly secrets: number })[];
};

/** The level of each word that services use, in lower case. */
const LEVELS: { readonly [word: string]: RiskLevel } = {
  critical: "critical",
  severe: "critical",
  extreme: "critical",
  high: "high",
  medium: "medium",
  moderate: "medium",
  low: "low",
  minimal: "low",
};
/** A word that we do not know may mean anything, so "other" comes before "medium". */
const WORST_FIRST: readonly RiskLevel[] = ["critical", "high", "other", "medium", "low"];

/** Returns the rank for sorting, the riskiest first. An unstated risk comes last. The risk is only a claim, so it is used only to sort. */
export function riskRank({ risk }: Pick<Marks, "risk">): number {
  return risk === null ? WORST_FIRST.length : WORST_FIRST.indexOf(risk.level);
}

/** The longest value of a short field (characters). A longer value, or one of several lines, is shown in a box below. */
const SHORT_CHARS = 60;
/** The longest mark, and the longest label of a field (characters). */
const MARK_CHARS = 30;
const LABEL_CHARS = 40;
/** The most short fields. Slack allows ten texts in a section. */
const MAX_SHORT = 20;
/** The most fields of the run on a card. */
const MAX_RUN_FIELDS = 5;
/** The most places in the second line. */
const MAX_WHERE = 2;
/** A record with more members than this, or with nested records, is shown in a box as JSON. */
const MAX_MEMBERS = 8;

/** Returns the marks of an approval's own card. */
export function approvalMarks(
  run: { readonly context: RunContext | null },
  { request, appliedRule }: Approval,
): CardMarks {
  return cardMarks(request, contextBehind(run.context, request), appliedRule.card);
}

export function cardMarks(
  request: Request,
  context: RunContext | null,
  names: CardFields = CARD_FIELDS,
): CardMarks {
  const find = valuesOf(flattened(fieldsOf(request)), context);
  const risks = find(names.risk).flatMap(riskOf);
  const risk = WORST_FIRST.flatMap((level) => risks.filter((found) => found.level === level))[0] ?? null;
  const places = find(names.where).flatMap((found) => {
    const drawn = mark(found);
    return drawn === null || !PLACE.test(drawn.text) ? [] : [{ path: found.path, ...drawn }];
  });
  const where = places.slice(0, MAX_WHERE);
  const inFull = [...(risk === null ? [] : [risk]), ...where].filter(({ whole }) => whole);
  const said = new Set(inFull.map(({ path }) => path));
  const ofRun = [...names.risk, ...names.where].map((name) =>
    find([name]).filter(({ path }) => path.startsWith(OF_RUN) && !said.has(path)),
  );
  return {
    risk: risk === null ? null : { level: risk.level, words: risk.words },
    where: [...new Set(where.map(({ text }) => text))],
    said,
    runFields: shownOfRun(ofRun),
  };
}

/**
 * Returns all fields of a request that fits the card, except those that its second line shows: the fields in `said`, and the time of the
 * request if it is within a minute of `seenAt`.
 */
export function cardFields(
  request: Request,
  { said }: CardMarks,
  { lead }: CardFields = CARD_FIELDS,
  seenAt = Number.NaN,
): { readonly short: readonly ShortField[]; readonly long: readonly Field[] } {
  const rest = flattened(fieldsOf(request)).filter(
    (field) => !said.has(field.path) && !isRequestTime(field, seenAt),
  );
  const short = rest.flatMap(shortOf).toSorted(byLead(lead)).slice(0, MAX_SHORT);
  const shown = new Set(short.map(({ path }) => path));
  return { short, long: rest.filter(({ path }) => !shown.has(path)).map(drawnPart) };
}

const MINUTE_MS = 60_000;

function isRequestTime({ names, value }: Part, seenAt: number): boolean {
  if (names.length !== 1 || plainName(names[0] ?? "") !== "requestedat") return false;
  return Math.abs((momentOf(value) ?? Number.NaN) - seenAt) < MINUTE_MS;
}

/** A field of the request, or a member of one. */
type Part = {
  /** The names as JSON. Unique in the request. */
  readonly path: string;
  readonly names: readonly string[];
  readonly value: Json;
};

/** Returns the fields. A small record is replaced by its members. */
export function flattened(content: { readonly [name: string]: Json }): Part[] {
  return Object.entries(content).flatMap(([name, value]) => {
    const members = isRecord(value) ? Object.entries(value) : [];
    const isSmallRecord =
      members.length > 0 &&
      members.length <= MAX_MEMBERS &&
      isLabel(name) &&
      members.every(([key, member]) => isLabel(key) && isScalar(member));
    return isSmallRecord ? members.map(([key, member]) => part([name, key], member)) : [part([name], value)];
  });
}

const part = (names: readonly string[], value: Json): Part => ({ path: JSON.stringify(names), names, value });

function isScalar(value: Json): boolean {
  return value === null || typeof value !== "object" || isRawNumber(value);
}

function drawnPart({ names, value }: Part): Field {
  const name = names.map((part) => nameText(part, "masked")).join(".");
  return { name, text: fieldText(names.at(-1) ?? "", writtenValue(value), "masked") };
}

/** Only names like `dry_run`, `targetEnv` and `plan.id` become labels, because a name that is a sentence could pass for our own words. */
function isLabel(name: string): boolean {
  return name.length <= LABEL_CHARS && /^[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)*$/.test(name);
}

type Short = ShortField & { readonly path: string; readonly names: readonly string[] };

function shortOf({ path, names, value }: Part): Short[] {
  const label = labelOf(names);
  if (!names.every(isLabel) || label.length > LABEL_CHARS) return [];
  const at = momentOf(value);
  if (at !== null) return [{ path, names, label, value: writtenValue(value), at }];
  const shown = shortValue(names.at(-1) ?? "", value);
  return shown === null ? [] : [{ path, names, label, value: shown, at: null }];
}

function shortValue(name: string, value: Json): string | null {
  if (!isScalar(value) && !(isList(value) && value.every(isScalar))) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === "") return "(empty)";
  if (text.length > SHORT_CHARS || /[\n\r\t]/.test(text)) return null;
  const drawn = fieldText(name, text, "masked");
  return drawn.length <= SHORT_CHARS && !drawn.includes("\n") && drawn.trim() !== "" ? drawn : null;
}

/**
 * `found`: the fields for each name in the policy. Names match in any case, so a run could have hundreds. The first field for each name comes
 * first, so that other spellings of one name push out no other name.
 */
function shownOfRun(found: readonly (readonly Part[])[]): CardMarks["runFields"] {
  const inOrder = [...found.flatMap((fields) => fields.slice(0, 1)), ...found.flat()];
  const fields = [...new Map(inOrder.map((field) => [field.path, field])).values()].flatMap(runField);
  const more = fields.length - MAX_RUN_FIELDS;
  if (more <= 0) return fields;
  return [
    ...fields.slice(0, MAX_RUN_FIELDS),
    { label: "More of the run", value: `${more} more, in the form`, at: null, secrets: 0 },
  ];
}

/** Cuts a long text, because the form shows all of it. Drops what is neither a text nor a number, like the marks. */
function runField({ names, value }: Part): CardMarks["runFields"] {
  const text = typeof value === "string" ? value : numberText(value);
  if (text === null || text.trim() === "") return [];
  const name = names.at(-1) ?? "";
  const { text: long, secrets } = isSecretField(name, text)
    ? { text: fieldText(name, text, "masked"), secrets: 1 }
    : lineExcerpt(text, SHORT_CHARS, "masked");
  const label = labelOf(["run", ...names.filter(isLabel)]);
  return [{ label, value: shortValue(name, value) ?? long, at: momentOf(value), secrets }];
}

/** Names of records that only group other fields, so `arguments.env` is shown as "Env". */
const WRAPPERS = new Set(
  "arguments args parameters params input inputs details options payload data".split(" "),
);

/** Writes `target_env` and `targetEnv` as "Target env". */
function labelOf([first = "", ...rest]: readonly string[]): string {
  const names = rest.length > 0 && WRAPPERS.has(first.toLowerCase()) ? rest : [first, ...rest];
  const words = names
    .join(" ")
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, " ")
    .replace(/[_.\s-]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A time must have a time zone, because without one it is ambiguous. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

function momentOf(value: Json): number | null {
  if (typeof value !== "string" || !MOMENT.test(value)) return null;
  const at = Date.parse(value);
  return Number.isFinite(at) && at > 0 ? at : null;
}

function byLead(lead: readonly string[]): (a: Short, b: Short) => number {
  const names = lead.map(plainName);
  const rank = ({ names: [first = "", ...rest] }: Short): number => {
    const at = names.findIndex(
      (each) => each === plainName(first) || each === plainName([first, ...rest].join(".")),
    );
    return at < 0 ? names.length : at;
  };
  return (a, b) => rank(a) - rank(b);
}

/** Begins the path of a field of the run. */
const OF_RUN = "run ";

/** Finds fields by name or path, in the order of the names. `run.NAME` is a field of the run. Case, `_` and `-` are ignored. */
function valuesOf(fields: readonly Part[], context: RunContext | null): (names: readonly string[]) => Part[] {
  const runFields =
    context === null
      ? []
      : flattened(context.fields).map((field) => ({ ...field, path: `${OF_RUN}${field.path}` }));
  return (names) =>
    names.map(plainName).flatMap((name) => {
      const [list, wanted] = name.startsWith("run.") ? [runFields, name.slice(4)] : [fields, name];
      // A field's name may be megabytes long, so its length is compared first.
      const most = 2 * wanted.length + MAX_MEMBERS;
      return list.filter(({ names: [first = "", second = ""] }) =>
        first.length + second.length > most
          ? false
          : plainName(second === "" ? first : `${first}.${second}`) === wanted,
      );
    });
}

type Marked = Part & Risk & Pick<Mark, "whole">;

function riskOf(found: Part): Marked[] {
  const drawn = mark(found);
  if (drawn === null) return [];
  const { text, whole } = drawn;
  const word = text.toLowerCase();
  const level = Object.hasOwn(LEVELS, word) ? (LEVELS[word] ?? "other") : "other";
  if (level !== "other") return [{ ...found, level, words: word, whole }];
  const words = text.replaceAll('"', "'");
  return [{ ...found, level, words, whole: whole && words === text }];
}

/** One word. It has no label on the card, and a sentence could pass for one of ours. */
const PLACE = /^[\p{L}\p{M}\p{N}_./:@+-]+$/u;

/** `whole`: no symbol is left out, so the value need not be shown with the other fields too. */
type Mark = { readonly text: string; readonly whole: boolean };

/** Draws a value for the second line. Returns null if it is too long, so that it stays with the other fields. */
function mark({ names, value }: Part): Mark | null {
  const text = typeof value === "string" ? value : numberText(value);
  if (text === null || text.trim() === "" || text.length > MARK_CHARS) return null;
  const field = fieldText(names.at(-1) ?? "", text, "masked");
  const { text: drawn, hidden } = lineExcerpt(field, MARK_CHARS, "open");
  const shown = withoutSymbols(drawn);
  return hidden > 0 || shown === "" ? null : { text: shown, whole: shown === drawn };
}
