// What the figures of a period say about an approval, in whatever order its entries were written.

import { describe, expect, test } from "vitest";
import { readForReport } from "#src/audit/control-report.ts";
import { lookBackAt } from "#src/audit/look-back.ts";
import { MAX_ENTRIES_PER_APPROVAL, MAX_ENTRIES_PER_RUN } from "#src/audit/run-diff.ts";
import { ApprovalId, type RunId, UserId } from "#src/domain/ids.ts";
import { auditEntry, type KeptEntry } from "#src/audit/entry.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { BY, decided } from "../make/receipts.ts";
import { aNonce, CHANNEL, TEAM } from "../make/run.ts";

const MONDAY = Date.UTC(2026, 10, 23);
const LATE = { team: TEAM, user: UserId("U0LATE") };

/** Returns the rows of the report about everything, by measure. */
async function report({ store }: Bench): Promise<ReadonlyMap<string, string>> {
  const reader = readForReport({ from: 0, to: Number.MAX_SAFE_INTEGER });
  const head = (await store.auditHead())?.seq ?? 0;
  for (let seq = 1; seq <= head; seq += 1) reader.add((await store.auditEntry(seq)) as KeptEntry);
  const sections = reader.report([], { unread: 0, archived: 0 });
  return new Map(sections.flatMap(({ rows }) => rows.map(({ measure, value }) => [measure, value])));
}

test.each([
  [
    "for one request",
    ({ flow }: Bench, click: Click) => flow.openForm.open({ ...click, ...LATE }, "approve"),
  ],
  [
    "for several requests",
    ({ flow: { review } }: Bench, { nonce }: Click) =>
      review.openSeveral(LATE, "run", review.valueFor("run", LATE, nonce ?? aNonce())),
  ],
])(
  "a form %s whose look-ups took longer than another person's decision does not reopen the request",
  async (_which, open) => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    const lookUp = bench.people.lookUp.bind(bench.people);
    const { promise: slow, resolve: answer } = Promise.withResolvers<void>();
    bench.people.lookUp = async (team, user, ...more) => {
      if (user === LATE.user) await slow;
      return lookUp(team, user, ...more);
    };
    const late = open(bench, click);
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go");
    await bench.clock.pass(5_000);
    answer();
    expect((await late).ok).toBe(true);
    const rows = await report(bench);
    expect([rows.get("Approved"), rows.get("Open at the end of the period")]).toEqual(["1", "0"]);
  },
);

test("a decision that is sent twice because its first answer was lost counts as one approval", async () => {
  const bench = await createBench();
  const answered = bench.agents.answer;
  bench.agents.answer = () => Promise.reject(failure("http_503", { applied: "no" }));
  await decided(bench);
  await bench.clock.pass(2_000);
  bench.agents.answer = answered;
  await bench.clock.pass(60_000);
  expect(bench.agents.resolved.length).toBeGreaterThan(1);
  const rows = await report(bench);
  expect([rows.get("Approvals sent"), rows.get("Approved")]).toEqual(["1", "1"]);
});

test("a start without a task is an attempt that failed, which the report does not call a lack of permission", async () => {
  const bench = await createBench();
  const asker = { ...BY, channel: CHANNEL };
  await bench.flow.startRun.start(asker, { input: " ", intention: "1", answerUrl: null });
  const reader = readForReport({ from: 0, to: Number.MAX_SAFE_INTEGER });
  for (const kept of await bench.store.auditAfter(0, ["refused"], 10)) reader.add(kept);
  const found = reader.report([], { unread: 0, archived: 0 });
  const attempts = found.find(({ title }) => title === "Refused or failed attempts");
  expect(attempts?.rows).toMatchObject([{ value: "1" }, { measure: "empty-task (start)", value: "1" }]);
  expect(attempts?.rows[0]?.counted).toContain("a mistake in the input");
});

test("a decision that the service refused is counted as refused, and not as one that changed before it left", async () => {
  const bench = await createBench();
  bench.agents.answer = () => Promise.reject(failure("http_409", { retry: "never" }));
  await decided(bench);
  await bench.clock.pass(60_000);
  const rows = await report(bench);
  expect([
    rows.get("Decisions that the service refused"),
    rows.get("Decisions and votes that no longer counted"),
  ]).toEqual(["1", "0"]);
});

test("decisions and votes that no longer counted are counted by their cause", () => {
  const reader = readForReport({ from: 0, to: Number.MAX_SAFE_INTEGER });
  const outcomes = [
    "void: undone",
    "void: frozen",
    "void: undone",
    "void: refused",
    "void: of a later version",
  ];
  for (const [at, outcome] of outcomes.entries())
    reader.add({ seq: at + 1, link: "", entry: auditEntry(null, { at: MONDAY, what: "settled", outcome }) });
  const rows = reader.report([], { unread: 0, archived: 0 }).flatMap((section) => section.rows);
  const first = rows.findIndex(({ measure }) => measure === "Decisions and votes that no longer counted");
  expect(rows.slice(first, first + 5)).toMatchObject([
    { value: "4", entries: [1, 2, 3, 5] },
    { measure: "of these undone", value: "2", counted: "a person took it back", entries: [1, 3] },
    { measure: "of these frozen", value: "1", counted: "a freeze began before it left", entries: [2] },
    { measure: "of these of a later version", value: "1", counted: "settled as void: of a later version" },
    { measure: "Decisions that the service refused", value: "0" },
  ]);
});

test("the row of the reminders says that only so many have an entry, and that the others are not counted", () => {
  const reader = readForReport({ from: 0, to: Number.MAX_SAFE_INTEGER });
  const rows = reader.report([], { unread: 0, archived: 0 }).flatMap((section) => section.rows);
  expect(rows.find(({ measure }) => measure === "Reminders")?.counted).toBe(
    `reminded: a message called people to a request that waited; further ones than ${MAX_ENTRIES_PER_APPROVAL} an hour for an approval, or ${MAX_ENTRIES_PER_RUN} for a run, have no entry and are not counted`,
  );
});

const UNREADABLE = {
  ids: [ApprovalId("apr_1")],
  code: "action",
  why: "has no action",
  source: "{}",
  hidden: 0,
};

/** An approval that is decided and held, and that the service then settles in this way. */
async function held(change: (bench: Bench, id: RunId) => void): Promise<ReadonlyMap<string, string>> {
  const bench = await createBench();
  bench.policy = aPolicy({ holdMs: 60_000 });
  const { id } = await decided(bench);
  bench.agents.pending.set(id, []);
  change(bench, id);
  await bench.clock.pass(30_000);
  return report(bench);
}

const ENDS = ["Closed undecided", "Open at the end of the period"];

test.each([
  ["is withdrawn", () => undefined],
  ["cannot be read any more", ({ agents }, id) => agents.unreadable.set(id, [UNREADABLE])],
  ["belongs to a run that is over", ({ agents }, id) => agents.statuses.set(id, "succeeded")],
] satisfies [string, (bench: Bench, id: RunId) => void][])(
  "a request that %s while its approval is held is closed, and not open",
  async (_way, change) => {
    const rows = await held(change);
    expect(ENDS.map((measure) => rows.get(measure))).toEqual(["1", "0"]);
  },
);

test("a request that changes while its approval is held is open again", async () => {
  const changed = [{ id: "apr_1", content: { action: "delete everything" } }];
  const rows = await held(({ agents }, id) => agents.pending.set(id, changed));
  expect(ENDS.map((measure) => rows.get(measure))).toEqual(["0", "1"]);
});

test.each([
  ["that was withdrawn", null, "apr_1"],
  ["that expired and gave way to another", 20_000, { id: "apr_1", content: { action: "delete everything" } }],
])("a request %s is open again as soon as the service lists it", async (_how, expiresMs, listed) => {
  const bench = await createBench();
  if (expiresMs !== null) bench.policy = aPolicy({ expiry: { afterMs: expiresMs, outcome: "nothing" } });
  const { id } = await bench.withCard();
  if (expiresMs === null) bench.agents.pending.set(id, []);
  await bench.clock.pass(40_000);
  const closed = await report(bench);
  expect(ENDS.map((measure) => closed.get(measure))).toEqual(["1", "0"]);
  bench.agents.pending.set(id, [listed]);
  await bench.clock.pass(15_000);
  const rows = await report(bench);
  expect(["Approvals", ...ENDS].map((measure) => rows.get(measure))).toEqual(["1", "0", "1"]);
});

test.each([
  ["Restores from a back-up", "restored"],
  ["Archives made", "archived"],
] as const)("the exceptions name each gap of the audit: %s", async (measure, what) => {
  const bench = await createBench();
  expect((await report(bench)).get(measure)).toBe("0");
  await bench.store.audit([auditEntry(null, { at: bench.clock.now(), what, outcome: "x", since: 0 })]);
  expect((await report(bench)).get(measure)).toBe("1");
});

test.each([
  ["is archived", 4, [], true],
  ["has its entry", 4, [MONDAY - 1], false],
  ["does not exist", 0, [], false],
  ["was loaded in the period only, and an older one is archived", 4, [MONDAY + 1], true],
] as const)(
  "the report says whether the rules at the beginning are missing: the policy %s",
  (_how, archived, loaded, isMissing) => {
    const reader = readForReport({ from: MONDAY, to: Number.MAX_SAFE_INTEGER });
    for (const [at, moment] of loaded.entries()) {
      const entry = auditEntry(null, { at: moment, what: "policy-loaded", outcome: "", digest: "d" });
      reader.add({ seq: archived + 1 + at, link: "", entry });
    }
    const rows = reader.report([], { unread: 0, archived }).flatMap((section) => section.rows);
    const row = rows.find(({ measure }) => measure === "Policy in force at the beginning");
    expect(row?.value).toBe(isMissing ? "archived" : undefined);
    expect(row?.counted.endsWith("give --archive FILE") ?? false).toBe(isMissing);
  },
);

describe("rules whose names contain 'and'", () => {
  const RULES = ["payments", "payments and refunds", "rest"];
  const version = "v1";
  const using = (rule: string): KeptEntry => ({
    seq: 1,
    link: "",
    entry: auditEntry(null, { at: MONDAY, what: "decided", outcome: "", policy: { version, rule } }),
  });

  test.each([
    ["payments and refunds", ["payments", "rest"]],
    ["payments and rest", ["payments and refunds"]],
    ["payments", ["payments and refunds", "rest"]],
  ])('after a decision under "%s", these are never used: %j', (applied, never) => {
    const reader = readForReport({ from: 0, to: Number.MAX_SAFE_INTEGER });
    reader.add(using(applied));
    const sections = reader.report(
      RULES.map((name) => ({ name, version })),
      { unread: 0, archived: 0 },
    );
    const measures = sections.flatMap(({ rows }) => rows.map(({ measure }) => measure));
    expect(measures.filter((each) => each.startsWith("Never used"))).toEqual(
      never.map((name) => `Never used: ${name} (policy ${version})`),
    );
    const week = { from: MONDAY, to: MONDAY + 7 * 86_400_000 };
    const facts = { week, rules: RULES, tz: "UTC", incomplete: false };
    expect(lookBackAt([using(applied)], facts).unused).toEqual(never);
  });
});
