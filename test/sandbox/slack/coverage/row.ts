// The format of a row of the coverage table.

import type { Source } from "#sandbox/slack/errors.ts";

/** exact: as the source says. close: minor details are missing. simplified: the idea, but not the details. */
export type Faith = "exact" | "close" | "simplified" | "not imitated";

export type Row = {
  readonly subject: string;
  readonly what: string;
  readonly how: Faith;
  readonly source: Source;
  /** The test that proves the row. Null for what is not imitated. */
  readonly proof: Proof | null;
  /** More tests, if one does not prove everything in the row. */
  readonly also?: readonly Proof[];
};

/** A file in test/sandbox/slack, and the title of a test in it. */
export type Proof = readonly [file: string, title: string];

/** The tests that prove many rows. */
export const proofs = {
  answers: ["judge-methods.test.ts", "the SDK understands the answer of %s"],
  refusals: ["naive.test.ts", "a naive bot trips over %s"],
  elements: ["rules-rows.test.ts", "the rules of the element %s hold"],
  blocks: ["rules-rows.test.ts", "the rules of the block %s hold"],
} as const satisfies Record<string, Proof>;
