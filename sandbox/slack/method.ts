// The description of a Web API method: its scopes, its arguments and its handler.

import type { SlackContext } from "./slack-context.ts";
import { Refused, refusedWith, type Source } from "./errors.ts";
import type { Tier } from "./limits.ts";
import { isJson, type Json } from "./json-object.ts";
import type { Uploads } from "./uploads.ts";

type Kinds = { string: string; boolean: boolean; integer: number; array: unknown[]; object: Json };
type Kind = keyof Kinds;

/**
 * The kind of each argument. "!" marks a required argument. Slack accepts some arguments without effect for bots ("ignored"). Arguments
 * whose effect the sandbox cannot show ("not imitated") are refused, so that they do not seem to work.
 */
export type Schema = Record<string, Kind | `${Kind}!` | "ignored" | "not imitated">;

export type Args<S extends Schema> = {
  readonly [Name in keyof S]: S[Name] extends `${infer K extends Kind}!`
    ? Kinds[K]
    : S[Name] extends Kind
      ? Kinds[S[Name]] | undefined
      : never;
};

/** What handlers can use: the context, sockets and uploads. */
export type Call = SlackContext & { readonly openSocket: () => string; readonly uploads: Uploads };

type Described = {
  /** The scopes, one of which is enough. Empty if none is needed. */
  readonly scopes: readonly string[];
  readonly tier: Tier;
  readonly token: "bot" | "app" | "either";
  /** Where scopes, tier and arguments are documented. */
  readonly source: Source;
};

export type Method = Described & {
  readonly schema: Schema;
  readonly run: (raw: Json, call: Call, token: "bot" | "app") => Json;
};

export const method = <S extends Schema>(
  described: Described,
  schema: S,
  run: (args: Args<S>, call: Call, token: "bot" | "app") => Json,
): Method => ({ ...described, schema, run: (raw, call, token) => run(readArgs(schema, raw), call, token) });

/** Arguments that Slack accepts with every method. */
const everywhere: ReadonlySet<string> = new Set(["token", "team_id"]);

/** Returns the arguments. Throws `Refused`, which names every invalid argument. Arguments in `besides` are accepted and ignored. */
export function readArgs<S extends Schema>(schema: S, raw: Json, besides = everywhere): Args<S> {
  const args: Json = {};
  const wrong = Object.keys(raw).flatMap((name) =>
    besides.has(name) ? [] : strange(Object.hasOwn(schema, name) ? schema[name] : undefined, name),
  );
  for (const [name, kind] of Object.entries(schema)) {
    const value = raw[name];
    if (value === undefined || value === null) {
      if (kind.endsWith("!")) wrong.push(`missing required field: ${name}`);
      continue;
    }
    if (kind === "ignored" || kind === "not imitated") continue;
    const read = readOne(kind.replace("!", "") as Kind, value);
    if (read === undefined) complain(name, kind, wrong);
    else args[name] = read;
  }
  if (wrong.length > 0) throw refusedWith("invalid_arguments", wrong);
  return args as Args<S>;
}

function strange(kind: Schema[string] | undefined, name: string): string[] {
  if (kind === "not imitated") return [`the sandbox does not imitate the argument: ${name}`];
  return kind === undefined ? [`unknown argument: ${name}`] : [];
}

function complain(name: string, kind: string, wrong: string[]): void {
  if (name === "blocks" || name === "metadata") throw new Refused(`invalid_${name}_format`);
  wrong.push(`must be of type ${kind.replace("!", "")} [json-pointer:/${name}]`);
}

/** Reads one argument. In a form, everything is text. Returns undefined if the argument is not of this kind. */
function readOne(kind: Kind, raw: unknown): unknown {
  if (kind === "string") return typeof raw === "string" ? raw : undefined;
  const value = typeof raw === "string" ? parsed(raw) : raw;
  if (kind === "boolean") return value === 1 ? true : value === 0 ? false : only("boolean", value);
  if (kind === "integer") return Number.isInteger(value) ? value : undefined;
  if (kind === "array") return Array.isArray(value) ? value : undefined;
  return isJson(value) ? value : undefined;
}

const only = (type: "boolean", value: unknown): unknown => (typeof value === type ? value : undefined);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

// Listings are paged. Each page has a cursor for the next one.

export const paging = { cursor: "string", limit: "integer" } satisfies Schema;

type Bounds = { readonly usual: number; readonly most: number; readonly code?: "invalid_limit" };

export type Page<T> = { readonly page: T[]; readonly next: string };

/** Returns one page. docs.slack.dev, pagination: a cursor is opaque and belongs to its listing. */
export function pageOf<T>(all: readonly T[], args: Args<typeof paging>, bounds: Bounds): Page<T> {
  const { limit = bounds.usual } = args;
  if (limit < 1 || limit > bounds.most) throw outOfRange(bounds);
  const start = args.cursor ? offsetOf(args.cursor) : 0;
  const end = start + limit;
  const next = end < all.length ? Buffer.from(`next:${end}`).toString("base64") : "";
  return { page: all.slice(start, end), next };
}

const outOfRange = ({ most, code }: Bounds): Refused =>
  code === undefined
    ? refusedWith("invalid_arguments", [`must be between 1 and ${most} [json-pointer:/limit]`])
    : new Refused(code);

function offsetOf(cursor: string): number {
  const found = /^next:(\d+)$/.exec(Buffer.from(cursor, "base64").toString());
  if (!found) throw new Refused("invalid_cursor");
  return Number(found[1]);
}

export const cursorJson = (next: string): Json => ({ response_metadata: { next_cursor: next } });
