// What the agent repeats to fill the disk, although no person does anything.

import { expect } from "vitest";
import type { AuditEntry } from "#src/audit/entry.ts";
import { MAX_ENTRIES_PER_APPROVAL, MAX_ENTRIES_PER_RUN } from "#src/audit/run-diff.ts";
import { flicker, type Step } from "../make/flicker.ts";
import { type Attack, attacks } from "./classes.ts";

const MEGABYTE = 1024 * 1024;
const charsOf = (entries: readonly AuditEntry[]): number =>
  entries.reduce((sum, { text = "" }) => sum + text.length, 0);

export const growthCases: readonly Attack[] = attacks<
  void,
  readonly [string, (at: number) => Step, number, number]
>(
  35,
  4,
  [
    [
      "an approval that comes and goes with another long text each time",
      () => ({ after: 1, id: "apr_1", chars: 100_000 }),
      MAX_ENTRIES_PER_APPROVAL,
      150 + 149 - 2 * MAX_ENTRIES_PER_APPROVAL,
    ],
    [
      "approvals with ever new names that come and go with long texts",
      (at) => ({ after: 1, id: `apr_${at}`, chars: 100_000 }),
      MAX_ENTRIES_PER_RUN,
      150 - MAX_ENTRIES_PER_RUN,
    ],
  ],
  (_, [, step, most, counted]) => {
    const entries = flicker(Array.from({ length: 150 }, (_each, at) => step(at)));
    expect(entries.filter(({ what }) => what === "closed")).toHaveLength(most);
    expect(entries.at(-1)).toMatchObject({ what: "coalesced", times: counted });
    expect(charsOf(entries)).toBeLessThan(2 * MEGABYTE);
  },
);
