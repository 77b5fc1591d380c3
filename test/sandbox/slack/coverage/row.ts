// How a row of the coverage table is written.

import type { Source } from "#sandbox/slack/errors.ts";

/** exact: as its source says; close: with lesser details left out; simplified: the idea, not the detail. */
export type Faith = "exact" | "close" | "simplified" | "not imitated";

export type Row = {
  readonly subject: string;
  readonly what: string;
  readonly how: Faith;
  readonly source: Source;
  /** The test that shows it: its file in test/sandbox/slack, and its title. None for what is not there. */
  readonly proof: Proof | null;
  /** What else the row says, where one test does not show all of it. */
  readonly also?: readonly Proof[];
};

export type Proof = readonly [file: string, title: string];

/** The tests that prove many rows. */
export const proofs = {
  answers: ["judge-methods.test.ts", "the SDK understands the answer of %s"],
  refusals: ["naive.test.ts", "a naive bot trips over %s"],
  elements: ["rules-rows.test.ts", "the rules of the element %s hold"],
  blocks: ["rules-rows.test.ts", "the rules of the block %s hold"],
} as const satisfies Record<string, Proof>;
