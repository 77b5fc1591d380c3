// Every field that an entry can have is in each export, or is left out for a reason. A new field must be added to
// `EVERY`, so that it is checked.

import { describe, expect, test } from "vitest";
import type { KeptEntry } from "#src/audit/entry.ts";
import { type Mapping, mappingOf, ocsfEvent } from "#src/audit/ocsf.ts";
import type { AuditFile } from "#src/adapters/store/audit-file.ts";
import { exportEntries } from "#src/cli/audit/inspect.ts";
import type { ChainedEntry } from "#src/domain/audit/hash-chain.ts";
import { columnsOf } from "#src/domain/audit/verify-chain.ts";
import { ApprovalId, ChannelId, RunId, RunKey, TeamId, UserId } from "#src/domain/ids.ts";
import { canonicalJson, type Json } from "#src/domain/json.ts";

const person = (name: string) => ({ team: TeamId(`T0${name}`), user: UserId(`U0${name}`) });
const moment = (minute: number): number => Date.UTC(2026, 10, 20, 9, minute);

/** Each value contains a piece of text that no other value contains. */
const EVERY: Required<KeptEntry["entry"]> = {
  at: moment(1),
  what: "decided",
  run: RunKey("00112233445566778899"),
  runId: RunId("run-id-1"),
  channel: ChannelId("C0CHANNEL"),
  requester: person("REQUESTER"),
  approval: ApprovalId("approval-1"),
  by: person("BY"),
  other: person("OTHER"),
  verdict: "approve",
  reason: "the reason",
  digest: "digest-1",
  context: "context-1",
  textKept: true,
  policy: { version: "version-1", rule: "rule-1" },
  moments: {
    asked: moment(2),
    shown: moment(3),
    clicked: moment(4),
    submitted: moment(5),
    sent: moment(6),
    confirmed: moment(7),
  },
  outcome: "the outcome",
  step: "submit",
  refusal: "the-refusal",
  votes: [{ by: person("VOTER"), reason: "the voter's words", at: moment(8), entry: 8_001 }],
  sentReason: "the joined reasons",
  savedTask: "saved-task-1",
  refers: 8_002,
  asked: "asked-1",
  times: 8_003,
  since: moment(9),
  stageMs: 8_004,
  mentioned: ["U0MENTIONED", "S0MENTIONED"],
  until: moment(10),
  keys: { from: { id: "key-1", publicKey: "public-1" }, to: { id: "key-2", publicKey: "public-2" } },
  archive: { seq: 8_005, link: "archive-link-1", file: "archive-file-1" },
  findings: ["finding-1", "finding-2"],
};

const { moments, votes } = EVERY;
const everyText = (value: object): string[] => Object.values(value).flatMap((each) => leaves(each as Json));
const leaves = (value: Json): string[] =>
  value !== null && typeof value === "object" ? everyText(value) : [String(value)];

/** Times are numbers in one export and text in the other. */
const clock = (at: number): string => new Date(at).toISOString().slice(11, 16);

const rowOf = (entry: object): ChainedEntry => {
  const text = canonicalJson(entry as Json);
  return {
    seq: 7,
    link: "link-1",
    key: "key-0",
    signature: "signature-1",
    text,
    columns: columnsOf(entry as never),
  };
};

const csv = async (entry: object): Promise<string> => {
  const audit = {
    rows: async function* () {
      yield rowOf(entry);
    },
    textOf: () => Promise.resolve(null),
  } as unknown as AuditFile;
  const wanted = { from: 0, to: Infinity, format: "csv" } as Parameters<typeof exportEntries>[1];
  const pieces: string[] = [];
  for await (const piece of exportEntries(audit, wanted, () => Promise.resolve(null))) pieces.push(piece);
  return pieces.join("");
};

describe("the CSV", () => {
  /** Has a test of its own. */
  const LEFT_OUT = new Set<string>(["textKept"]);
  const TIMES = new Set<string>(["at", "since", "until"]);

  test.each(Object.keys(EVERY).filter((field) => !LEFT_OUT.has(field)))("has %s", async (field) => {
    const text = (await csv(EVERY)).replaceAll('""', '"');
    const value = EVERY[field as keyof typeof EVERY] as Json;
    const times = field === "moments" ? Object.values(moments) : TIMES.has(field) ? [Number(value)] : null;
    const wanted = times?.map(clock) ?? leaves(value);
    for (const each of wanted) expect(text).toContain(each);
  });

  test("says in its last column whether a text was stored, so that an erased one differs from none", async () => {
    const { textKept: _left, ...bare } = EVERY;
    const [stored, none] = [await csv(EVERY), await csv(bare)].map((text) => text.trimEnd().split("\r\n"));
    expect(stored?.[0]).toMatch(/,"text was stored"$/);
    expect(stored?.at(-1)).toMatch(/,"yes"$/);
    expect(none?.at(-1)).toMatch(/,$/);
  });
});

test("the CSV shows control characters by their code points, except tabs and line breaks", async () => {
  const entry = { ...EVERY, approval: "a\u001B[2J\u0000\u009B\u007F\rb", reason: "one\ttwo\nthree\r\nfour" };
  const text = await csv(entry);
  expect(text).toContain('"a⟨U+001B⟩[2J⟨U+0000⟩⟨U+009B⟩⟨U+007F⟩⟨U+000D⟩b"');
  expect(text).toContain('"one\ttwo\nthree\r\nfour"');
});

test.each([
  ["ok;=1+1;", "ok;'=1+1;"],
  ["a\n=1+1\nb", "a\n'=1+1\nb"],
  ["a\r\n+1", "a\r\n'+1"],
  ["a\t@b", "a\t'@b"],
  ["a; \u00A0-1", "a;' \u00A0-1"],
  ["a;\t＝1", "a;\t'＝1"],
  ['a; "=1+1"', `a;' "=1+1"`],
  ["a; b = c\n d-e", "a; b = c\n d-e"],
  ["a, =1", "a, =1"],
])("no part of %j is a formula where the separator is another than the comma", async (reason, inert) => {
  expect(await csv({ ...EVERY, reason })).toContain(`,"${inert.replaceAll('"', '""')}",`);
});

describe("the event for AUDIT_SINK", () => {
  /** Words of people. The `outcome` of a refused attempt may contain some, so it is shown only for other attempts. */
  const WORDS = new Set<string>(["reason", "sentReason", "refusal", "outcome"]);
  const event = (entry: object = EVERY, mapping?: Mapping) => ocsfEvent(rowOf(entry), "before", mapping);

  test.each(Object.keys(EVERY).filter((field) => !WORDS.has(field)))("has %s", (field) => {
    const text = JSON.stringify(event());
    const value = EVERY[field as keyof typeof EVERY] as Json;
    const voters = votes.map(({ by: voter, at, entry }) => [voter?.user, at, entry]);
    for (const each of field === "votes" ? voters.flat().map(String) : leaves(value))
      expect(text).toContain(each);
  });

  const ELSEWHERE = new Set<string>([...WORDS, "at", "what", "by", "approval", "votes"]);
  test.each(Object.keys(EVERY).filter((field) => !ELSEWHERE.has(field)))(
    "has %s under its own name",
    (field) => {
      expect(event()["unmapped"]).toHaveProperty(field);
    },
  );

  test("contains no words of people", () => {
    const text = JSON.stringify(event());
    for (const each of ["the reason", "the voter's words", "the joined reasons"])
      expect(text).not.toContain(each);
    expect(event()["status_detail"]).toBe("the outcome");
    expect(event({ ...EVERY, what: "refused" })["status_detail"]).toBe("the-refusal");
  });

  test.each([
    ["refused", "the outcome", 2],
    ["settled", "refused", 2],
    ["settled", "unconfirmed", 2],
    ["settled", "void: undone", 2],
    ["settled", "unsure", 0],
    ["settled", "elsewhere", 0],
    ["settled", "confirmed", 1],
    ["closed", "refused", 1],
  ])("gives %s with the outcome %j the status %i", (what, outcome, status) => {
    expect(event({ ...EVERY, what, outcome })["status_id"]).toBe(status);
    const before = event({ ...EVERY, what, outcome }, "2")["status_id"];
    expect(before).toBe(what === "refused" ? 2 : 1);
  });

  test("keeps the first mapping for a sink that already has a copy in it", () => {
    const old = event(EVERY, "1");
    expect(mappingOf(old)).toBe("1");
    expect(mappingOf(event(EVERY, "2"))).toBe("2");
    expect(mappingOf(event())).toBe("3");
    expect(Object.keys(old["unmapped"] as object).join(" ")).toBe(
      "seq hash previous key signature run runId channel requester other verdict digest context policy moments step refers times since keys findings earlierApprovals",
    );
  });
});
