// The building blocks of the Block Kit rules. Every complaint names its place by JSON pointer.

import type { Source } from "./errors.ts";

export type Json = Record<string, unknown>;
type Report = (complaint: string, at: string) => void;
export type Rule = (value: unknown, at: string, report: Report) => void;
export type Fields = Record<string, Rule>;

/** A rule of the table of blocks or elements, and where it is documented. */
export type Row = { readonly source: Source; readonly rule: Rule };
export type Rows = Record<string, Row>;

export const row = (source: Source, rule: Rule): Row => ({ source, rule });

export const rulesOf = (rows: Rows): Fields =>
  Object.fromEntries(Object.entries(rows).map(([type, { rule }]) => [type, rule]));

export const both =
  (...rules: readonly Rule[]): Rule =>
  (value, at, report) => {
    for (const rule of rules) rule(value, at, report);
  };

export const matching =
  (pattern: RegExp, what: string): Rule =>
  (value, at, report) => {
    if (typeof value !== "string" || !pattern.test(value)) report(`must be ${what}`, at);
  };

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Counts UTF-16 units. For a character outside the basic plane that is stricter than Slack, never laxer. */
export const string =
  (min: number, max: number, among?: readonly string[]): Rule =>
  (value, at, report) => {
    if (typeof value !== "string") return report("must provide a string", at);
    if (value.length < min) return report(`must be more than ${min - 1} characters`, at);
    if (value.length > max) return report(`must be less than ${max + 1} characters`, at);
    if (among && !among.includes(value)) report(`must be one of: ${among.join(", ")}`, at);
  };

export const flag: Rule = (value, at, report) => {
  if (typeof value !== "boolean") report("must provide a boolean", at);
};

export const integer =
  (min: number, max: number): Rule =>
  (value, at, report) => {
    if (!Number.isInteger(value)) return report("must provide an integer", at);
    if (Number(value) < min || Number(value) > max) report(`must be between ${min} and ${max}`, at);
  };

export const anything: Rule = () => {};

export const list =
  (of: Rule, min: number, max: number): Rule =>
  (value, at, report) => {
    if (!Array.isArray(value)) return report("must provide an array", at);
    if (value.length < min) report(`no fewer than ${min} items allowed`, at);
    if (value.length > max) report(`no more than ${max} items allowed`, at);
    for (const [index, item] of value.entries()) of(item, `${at}/${index}`, report);
  };

/** An object with these fields, optionally `type`, and no others. `also` checks the whole. */
export const shape =
  (required: Fields, optional: Fields = {}, also: Rule = anything): Rule =>
  (value, at, report) => {
    if (!isJson(value)) return report("must provide an object", at);
    for (const field of Object.keys(required))
      if (value[field] === undefined) report(`missing required field: ${field}`, at);
    for (const [field, held] of Object.entries(value)) {
      const rule = required[field] ?? optional[field];
      if (rule) rule(held, `${at}/${field}`, report);
      else if (field !== "type") report(`invalid additional property: ${field}`, at);
    }
    also(value, at, report);
  };

/** The object's `type` chooses the row of the table. */
export const oneOf =
  (rows: Fields): Rule =>
  (value, at, report) => {
    if (!isJson(value)) return report("must provide an object", at);
    const rule = typeof value["type"] === "string" ? rows[value["type"]] : undefined;
    if (rule) rule(value, at, report);
    else report(`unsupported type: ${String(value["type"])}`, `${at}/type`);
  };

export const pick = (rows: Fields, types: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(rows).filter(([type]) => types.includes(type)));

/** The complaints about a value, in Slack's form. */
export const complaints = (value: unknown, rule: Rule, at: string): string[] => {
  const found: string[] = [];
  rule(value, at, (complaint, where) => found.push(`${complaint} [json-pointer:${where}]`));
  return found;
};
