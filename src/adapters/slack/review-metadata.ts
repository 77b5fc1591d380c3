// What the form with several requests and the window with its results carry from one form to the next. Slack hands it back, so each part is
// checked where it is used. The place only says which requests come first.

import { Nonce, parsed } from "../../domain/ids.ts";
import type { OpenedReview } from "../../usecases/review.ts";

type Carried = Pick<OpenedReview, "kind" | "value" | "last"> & {
  readonly bundle: Nonce | null;
  /** How many requests did not fit in the form. */
  readonly later: number;
};

/** An approval's id has at most 512 characters of two code units, so this stays below Slack's 3,000 characters. */
export function reviewMetadata({ bundle, kind, value, later, last }: OpenedReview): string {
  return [bundle, kind, value, later.length, ...(last ?? [])].join(" ");
}

// Of all parts, only the approval's id may contain spaces. What an earlier version opened has no place, and its windows with results have only
// the kind and the value.
const PARTS = /^(?:(\S*) )?(run|rule) (\S*)(?: (\d{1,6})(?: (\d+) (-?[\d.]+) ([^]+) (\S+))?)?$/;

export function carriedBy({ private_metadata }: { readonly private_metadata: string }): Carried {
  const [, bundle, kind, value = "", later, rank, waitsSince, approval, run] =
    PARTS.exec(private_metadata) ?? [];
  return {
    bundle: parsed<Nonce>(Nonce, bundle),
    kind: kind === "run" ? "run" : "rule",
    value,
    later: Number(later ?? 0),
    last:
      approval === undefined || run === undefined ? null : [Number(rank), Number(waitsSince), approval, run],
  };
}
