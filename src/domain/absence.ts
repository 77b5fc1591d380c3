// How an approval, or a whole run, comes to be taken for gone. One answer without it proves little: a replica may lag behind,
// a service may be starting anew. So absence is judged over several looks and over time.

import type { Context } from "./context.ts";

/** Looks in a row that did not find it, by one process. Another process starts to count again. */
export type Absence = {
  readonly process: string;
  /** When the first of them was answered (monotonic). */
  readonly since: number;
  /** How many there were; not counted further than needed. */
  readonly looks: number;
};

const ENOUGH_LOOKS = 3;
/** Between the answer to the first look and the begin of the one that settles it (ms): DESIGN.md, «Time limits». */
export const ABSENT_AFTER_MS = 10_000;

/** After one more look. The same object when nothing changes. */
export function missedOnceMore(
  before: Absence | "in-doubt" | null,
  { process, monotonic }: Context,
): Absence {
  if (before === null || before === "in-doubt" || before.process !== process)
    return { process, since: monotonic, looks: 1 };
  return before.looks >= ENOUGH_LOOKS ? before : { ...before, looks: before.looks + 1 };
}

/** As a look tells that began at `askedAt` and missed it too. */
export function isGone({ since, looks }: Absence, askedAt: number): boolean {
  return looks >= ENOUGH_LOOKS && askedAt >= since + ABSENT_AFTER_MS;
}

/** When the next look is of use (monotonic): one half-way, and one that settles it. */
export function nextLookAt({ since, looks }: Absence): number {
  return since + (looks === 1 ? ABSENT_AFTER_MS / 2 : ABSENT_AFTER_MS);
}
