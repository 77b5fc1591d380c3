// How a Web API method is described: what it needs, what it takes, what it does.

import type { Ground } from "./ground.ts";
import type { Tier } from "./limits.ts";
import { Refused, refusedWith } from "./refused.ts";
import { isJson } from "./rules-check.ts";
import type { Json } from "./rules-check.ts";
import type { Uploads } from "./uploads.ts";

type Kinds = { string: string; boolean: boolean; integer: number; array: unknown[]; object: Json };
type Kind = keyof Kinds;

/** An argument's kind; «!» when it must be given. */
export type Schema = Record<string, Kind | `${Kind}!`>;

export type Args<S extends Schema> = {
  readonly [Name in keyof S]: S[Name] extends `${infer K extends Kind}!`
    ? Kinds[K]
    : S[Name] extends Kind
      ? Kinds[S[Name]] | undefined
      : never;
};

/** What the handlers may use: the ground and the addresses of things that other parts hand out. */
export type Call = Ground & { readonly openSocket: () => string; readonly uploads: Uploads };

type Described = {
  /** Any one of these is enough; none needed when empty. */
  readonly scopes: readonly string[];
  readonly tier: Tier;
  readonly token: "bot" | "app" | "either";
};

export type Method = Described & { readonly run: (raw: Json, call: Call, token: "bot" | "app") => Json };

export const method = <S extends Schema>(
  described: Described,
  schema: S,
  run: (args: Args<S>, call: Call, token: "bot" | "app") => Json,
): Method => ({ ...described, run: (raw, call, token) => run(readArgs(schema, raw), call, token) });

/** Slack takes these with every method. */
const everywhere = new Set(["token", "team_id"]);

const readArgs = <S extends Schema>(schema: S, raw: Json): Args<S> => {
  const args: Json = {};
  const wrong: string[] = [];
  for (const name of Object.keys(raw))
    if (!(name in schema) && !everywhere.has(name)) wrong.push(`unknown argument: ${name}`);
  for (const [name, kind] of Object.entries(schema)) {
    const given = raw[name];
    if (given === undefined || given === null) {
      if (kind.endsWith("!")) wrong.push(`missing required field: ${name}`);
      continue;
    }
    const read = readOne(kind.replace("!", "") as Kind, given);
    if (read === undefined) complain(name, kind, wrong);
    else args[name] = read;
  }
  if (wrong.length > 0) throw refusedWith("invalid_arguments", wrong);
  return args as Args<S>;
};

const complain = (name: string, kind: string, wrong: string[]): void => {
  if (name === "blocks" || name === "metadata") throw new Refused(`invalid_${name}_format`);
  wrong.push(`must be of type ${kind.replace("!", "")} [json-pointer:/${name}]`);
};

/** Over a form everything arrives as text. Undefined: not of this kind. */
const readOne = (kind: Kind, given: unknown): unknown => {
  if (kind === "string") return typeof given === "string" ? given : undefined;
  const value = typeof given === "string" ? parsed(given) : given;
  if (kind === "boolean") return value === 1 ? true : value === 0 ? false : only("boolean", value);
  if (kind === "integer") return Number.isInteger(value) ? value : undefined;
  if (kind === "array") return Array.isArray(value) ? value : undefined;
  return isJson(value) ? value : undefined;
};

const only = (type: "boolean", value: unknown): unknown => (typeof value === type ? value : undefined);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
