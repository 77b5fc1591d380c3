// Every decision that was sent must have been decided by the same people: the verifier's check, entry by entry.

import { expect, test } from "vitest";
import { createPairs } from "#src/domain/audit/hash-chain.ts";
import type { Json } from "#src/domain/json.ts";

type Entry = { readonly [field: string]: Json };

const ben = { team: "T", user: "U0BEN" };
const cat = { team: "T", user: "U0CAT" };
const about = (facts: Entry): Entry => ({
  run: "k",
  runId: "run_1",
  approval: "apr_1",
  digest: "d",
  verdict: "approve",
  reason: "go",
  by: ben,
  ...facts,
});
const decided = (facts: Entry = {}): Entry => about({ what: "decided", ...facts });
const voted = (facts: Entry = {}): Entry => about({ what: "voted", by: cat, reason: "checked", ...facts });
const sent = (refers: number, facts: Entry = {}): Entry => about({ what: "sent", refers, ...facts });
const settled = (refers: number, outcome: string): Entry => about({ what: "settled", refers, outcome });
const VOTE = { entry: 1, by: cat, reason: "checked", at: 5 };

/** Returns the numbers of the entries that record a decision that no earlier entry decided. */
function unpaired(...entries: readonly Entry[]): number[] {
  const pairs = createPairs();
  return entries.flatMap((entry, at) => (pairs.next(at + 1, entry) ? [] : [at + 1]));
}

test.for<[string, Entry[]]>([
  ["a decision", [decided(), sent(1)]],
  ["a decision that is sent twice, after a lost answer", [decided(), sent(1), settled(1, "unsure"), sent(1)]],
  ["a decision that rests on earlier approvals", [voted(), decided(), sent(2, { votes: [VOTE] })]],
  [
    "a decision that is made again after an undo",
    [decided(), settled(1, "void: undone"), decided(), sent(3)],
  ],
  [
    "a decision by the policy",
    [decided({ by: null, verdict: "deny" }), sent(1, { by: null, verdict: "deny" })],
  ],
])("is in order: %s", ([, entries]) => expect(unpaired(...entries)).toEqual([]));

test.for<[string, Entry[]]>([
  ["a decision that nobody made", [sent(1)]],
  ["another verdict", [decided({ verdict: "deny" }), sent(1)]],
  ["another reason", [decided(), sent(1, { reason: "go on" })]],
  ["another person", [decided(), sent(1, { by: cat })]],
  ["another request", [decided(), sent(1, { digest: "e" })]],
  ["another approval", [decided(), sent(1, { approval: "apr_2" })]],
  ["another run", [decided(), sent(1, { run: "l" })]],
  ["a decision without an entry", [decided(), about({ what: "sent" })]],
  ["a decision with only one of several approvals", [voted({ by: ben, reason: "go" }), sent(1)]],
  ["an undone decision", [decided(), settled(1, "void: undone"), sent(1)]],
  ["a decision that was confirmed before", [decided(), sent(1), settled(1, "confirmed"), sent(1)]],
  ["an earlier approval that nobody gave", [decided(), sent(1, { votes: [{ ...VOTE, entry: 9 }] })]],
  [
    "an earlier approval with other words",
    [voted(), decided(), sent(2, { votes: [{ ...VOTE, reason: "x" }] })],
  ],
  ["an earlier approval of another person", [voted(), decided(), sent(2, { votes: [{ ...VOTE, by: ben }] })]],
  [
    "an earlier approval that was undone",
    [voted(), decided(), settled(1, "void: undone"), sent(2, { votes: [VOTE] })],
  ],
])("is found: %s", ([, entries]) => expect(unpaired(...entries)).toEqual([entries.length]));
