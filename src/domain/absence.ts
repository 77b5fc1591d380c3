// When an approval, or a whole run, counts as gone. One answer without it proves little: a replica may lag behind, or the service
// may be restarting. So absence needs several fetches over some time.

import type { Context } from "./context.ts";

/** Consecutive fetches by one process that did not find it. Another process counts anew. */
export type Absence = {
  readonly process: string;
  /** When the first of them got its answer (monotonic). */
  readonly since: number;
  /** How many there were, counted only as far as needed. */
  readonly looks: number;
};

const ENOUGH_LOOKS = 3;
/** From the answer to the first fetch to the start of the one that settles it (ms). */
export const ABSENT_AFTER_MS = 10_000;

/** The absence after one more fetch. The same object when nothing changes. */
export function missedOnceMore(
  before: Absence | "in-doubt" | null,
  { process, monotonic }: Context,
): Absence {
  if (before === null || before === "in-doubt" || before.process !== process)
    return { process, since: monotonic, looks: 1 };
  return before.looks >= ENOUGH_LOOKS ? before : { ...before, looks: before.looks + 1 };
}

/** The absence after a fetch that began at `askedAt` and missed it too. */
export function isGone({ since, looks }: Absence, askedAt: number): boolean {
  return looks >= ENOUGH_LOOKS && askedAt >= since + ABSENT_AFTER_MS;
}

/** When the next fetch is useful (monotonic): one half-way, and one that settles the absence. */
export function nextLookAt({ since, looks }: Absence): number {
  return since + (looks === 1 ? ABSENT_AFTER_MS / 2 : ABSENT_AFTER_MS);
}
