// Listings come in pages, each with a cursor to the next.

import type { Args, Schema } from "./method.ts";
import { Refused, refusedWith } from "./refused.ts";
import type { Json } from "./rules-check.ts";

export const paging = { cursor: "string", limit: "integer" } satisfies Schema;

type Bounds = { readonly usual: number; readonly most: number; readonly code?: "invalid_limit" };

export type Page<T> = { readonly page: T[]; readonly next: string };

/** docs.slack.dev, pagination: a cursor is opaque and belongs to its listing. */
export const pageOf = <T>(all: readonly T[], args: Args<typeof paging>, bounds: Bounds): Page<T> => {
  const { limit = bounds.usual } = args;
  if (limit < 1 || limit > bounds.most) throw outOfRange(bounds);
  const start = args.cursor ? offsetOf(args.cursor) : 0;
  const end = start + limit;
  const next = end < all.length ? Buffer.from(`next:${end}`).toString("base64") : "";
  return { page: all.slice(start, end), next };
};

const outOfRange = ({ most, code }: Bounds): Refused =>
  code === undefined
    ? refusedWith("invalid_arguments", [`must be between 1 and ${most} [json-pointer:/limit]`])
    : new Refused(code);

const offsetOf = (cursor: string): number => {
  const found = /^next:(\d+)$/.exec(Buffer.from(cursor, "base64").toString());
  if (!found) throw new Refused("invalid_cursor");
  return Number(found[1]);
};

export const cursorJson = (next: string): Json => ({ response_metadata: { next_cursor: next } });
