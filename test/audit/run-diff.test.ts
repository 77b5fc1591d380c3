// One entry for each attempt, allowed or refused: who, what, when, why, and the outcome.

import { describe, expect, test } from "vitest";
import { UserId } from "#src/domain/ids.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import type { AuditEntry, KeptEntry } from "#src/audit/entry.ts";
import { auditOfChange } from "#src/audit/run-diff.ts";
import { stopRun } from "#src/domain/brake.ts";
import { type Bench, clickOn, createBench, failure } from "../make/bot.ts";
import { contextAt, listedRun } from "../make/history.ts";
import { aPolicy } from "../make/policy.ts";
import { anApproval, aNonce, aRunId, APPROVER, CHANNEL, NOON, REQUESTER, TEAM } from "../make/run.ts";

const shown = (): Promise<boolean> => Promise.resolve(true);
const BY = { team: TEAM, user: APPROVER };
const SECOND = UserId("U0SECOND");
const ALL: readonly AuditEntry["what"][] = [
  ...(["opened", "decided", "refused", "sent", "settled", "closed"] as const),
  ...(["started", "watched", "unwatched"] as const),
];

const entries = async ({ store }: Bench): Promise<KeptEntry["entry"][]> =>
  (await store.auditAfter(0, ALL, 1_000)).map(({ entry }) => entry);

async function decided(bench: Bench, reason = "go") {
  const card = await bench.withCard();
  const opened = await bench.flow.openForm.open(card.click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.clock.pass(2_000);
  await bench.flow.submitDecision(BY, opened.value.ticket.nonce, reason);
  await bench.clock.pass(1_000);
  return { ...card, nonce: opened.value.ticket.nonce };
}

test("a decision is recorded from the click to the confirmation, with every known time", async () => {
  const bench = await createBench();
  const { id, approval, click } = await decided(bench);
  const related = (await entries(bench)).filter(({ approval: about }) => about === approval);
  expect(related.map(({ what, outcome }) => `${what} ${outcome}`)).toEqual([
    "opened opened",
    "decided recorded",
    "sent sending",
    "settled confirmed",
  ]);
  for (const each of related)
    expect(each).toMatchObject({ runId: id, by: BY, verdict: "approve", policy: null });
  const [opened, recorded, sent, settled] = related.map(({ moments }) => moments);
  const asked = (await bench.run(id)).approvals[0]?.seenAt ?? 0;
  const shown = 1_700_000_000_000;
  expect(click.ts).toMatch(/^1700000000\./);
  expect(opened).toEqual({ asked, shown, clicked: NOON + 1_000 });
  expect(recorded).toEqual({ ...opened, submitted: NOON + 3_000 });
  expect(sent).toMatchObject({ asked, shown, submitted: NOON + 3_000 });
  expect(settled).toMatchObject({ submitted: NOON + 3_000, sent: sent?.sent, confirmed: sent?.sent });
  expect(related[1]).toMatchObject({ reason: "go" });
});

test("a changed request is asked anew, and a decision on the earlier one keeps its own time", async () => {
  const bench = await createBench();
  bench.policy = aPolicy({ holdMs: 60_000 });
  const { id } = await decided(bench);
  const changed = { id: "apr_1", content: { action: "delete everything" } };
  bench.agents.pending.set(id, [changed]);
  await bench.clock.pass(30_000);
  const opened = await bench.flow.openForm.open(clickOn(await bench.run(id)).click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go");
  const related = (await entries(bench)).filter(({ approval }) => approval === "apr_1");
  const first = (await bench.run(id)).approvals[0]?.seenAt ?? 0;
  const second = (await bench.run(id)).approvals[0]?.since ?? 0;
  expect(second).toBeGreaterThan(first + 3_000);
  expect(related.map(({ what, outcome, moments }) => [`${what} ${outcome}`, moments?.asked])).toEqual([
    ["opened opened", first],
    ["decided recorded", first],
    ["settled void: request-changed", first],
    ["opened opened", second],
    ["decided recorded", second],
  ]);
});

test("a card that was posted before its request changed does not say when it showed the changed one", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "delete everything" } }]);
  await bench.clock.pass(30_000);
  const run = await bench.run(id);
  const { since, seenAt } = run.approvals[0] ?? anApproval();
  expect(Number(clickOn(run).click.ts) * 1_000).toBeLessThan(since);
  expect(since).toBeGreaterThan(seenAt);
  await bench.flow.openForm.open(clickOn(run).click, "approve");
  const opened = (await entries(bench)).find(({ what }) => what === "opened");
  expect(opened?.moments).toEqual({ asked: since, clicked: opened?.at });
});

test.each([
  ["changed", ["delete everything"]],
  ["changed and changed back", ["delete everything", "delete it"]],
])(
  "a submit about a request that has since %s does not say when the newest one was asked",
  async (_, actions) => {
    const bench = await createBench();
    const { id, click } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    for (const action of actions) {
      bench.agents.pending.set(id, [{ id: "apr_1", content: { action } }]);
      await bench.clock.pass(30_000);
    }
    await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go");
    const [seen, refused] = (await entries(bench)).filter(({ approval }) => approval === "apr_1");
    expect(refused).toMatchObject({ what: "refused", digest: seen?.digest });
    expect(refused?.moments).toMatchObject({ clicked: seen?.at });
    expect(refused?.moments).not.toHaveProperty("asked");
  },
);

test("the full text of the decided request is stored under its digest", async () => {
  const bench = await createBench();
  const { id } = await decided(bench);
  const recorded = (await entries(bench)).find(({ what }) => what === "decided");
  const text = await bench.store.auditText(recorded?.digest ?? "");
  expect(JSON.parse(text ?? "null")).toEqual([id, "apr_1", { action: "delete it" }, recorded?.context]);
  expect(await bench.store.auditText(recorded?.context ?? "")).toBe('["run",{"input":"task"}]');
  expect(text).toBe((await bench.run(id)).approvals[0]?.request.digest);
});

test("each refused click and submit is an entry, with what was tried and why it was refused", async () => {
  const bench = await createBench();
  const { approval, click, nonce } = await decided(bench);
  const before = (await entries(bench)).length;
  await bench.flow.openForm.open({ ...click, user: REQUESTER }, "approve");
  await bench.flow.openForm.open({ ...click, nonce: aNonce() }, "deny");
  await bench.flow.openForm.read({ ...click, nonce: aNonce() }, shown);
  await bench.flow.submitDecision(BY, null, "");
  await bench.flow.submitDecision({ ...BY, user: SECOND }, nonce, "not mine");
  await bench.flow.submitDecision(BY, nonce, "another reason");
  bench.people.before = () => Promise.reject(failure("timeout"));
  await bench.flow.submitDecision(BY, nonce, "go on");
  const refused = (await entries(bench)).slice(before);
  const attempts = refused.map(({ by, step, refusal, verdict, reason }) =>
    [by?.user, step, refusal, verdict, reason].join(" | "),
  );
  expect(attempts).toEqual([
    `${REQUESTER} | click | requester | approve | `,
    `${APPROVER} | click | unknown | deny | `,
    `${APPROVER} | read | unknown |  | `,
    `${APPROVER} | submit | unknown |  | `,
    `${SECOND} | submit | unknown |  | `,
    `${APPROVER} | submit | already-decided | approve | another reason`,
    `${APPROVER} | submit | unverified | approve | go on`,
  ]);
  for (const each of refused) expect(each.what).toBe("refused");
  const about = refused.map((each) => each.approval);
  expect(about).toEqual([approval, null, null, null, null, approval, approval]);
});

test("a reading that the rule requires is one entry for each person, and any other leaves none", async () => {
  const bench = await createBench();
  const { id, click } = await bench.withCard();
  await bench.flow.openForm.read(click, shown);
  bench.policy = aPolicy({ friction: { readFirst: true, word: null } });
  await bench.flow.openForm.read(click, () => Promise.resolve(false));
  await bench.flow.openForm.read(click, shown);
  await bench.flow.openForm.read(click, shown);
  const window = await bench.flow.openForm.open({ ...click, user: SECOND }, "approve");
  if (!window.ok) throw new Error(window.error.refusal.type);
  await bench.flow.openForm.continueReading({ team: TEAM, user: SECOND }, window.value.ticket.nonce);
  const { readers, request } = (await bench.run(id)).approvals[0] ?? anApproval();
  expect(readers).toEqual([APPROVER, SECOND]);
  const read = { what: "opened", outcome: "read in full", verdict: null, digest: request.digest };
  expect((await entries(bench)).filter(({ what }) => what === "opened")).toMatchObject([
    { ...read, by: BY, moments: { clicked: NOON + 1_000 }, policy: { rule: "a rule" } },
    { ...read, by: { ...BY, user: SECOND } },
    { what: "opened", outcome: "opened", verdict: "approve", by: { ...BY, user: SECOND } },
  ]);
});

test("the same decision submitted twice is one entry: it was one attempt, whose answer was lost", async () => {
  const bench = await createBench();
  const { nonce } = await decided(bench);
  const before = await entries(bench);
  expect(await bench.flow.submitDecision(BY, nonce, "go")).toMatchObject({ ok: true });
  expect(await entries(bench)).toEqual(before);
});

test("an approval that nobody decided here leaves an entry with its full text", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  bench.agents.pending.set(id, []);
  await bench.clock.pass(20_000);
  const closed = (await entries(bench)).find(({ what }) => what === "closed");
  expect(closed).toMatchObject({ outcome: "no-longer-listed", by: null, approval: "apr_1" });
  expect(await bench.store.auditText(closed?.digest ?? "")).toContain("delete it");
});

test("a person who may not start, watch or unwatch a run leaves an entry", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  const before = (await entries(bench)).length;
  const asker = { ...BY, channel: CHANNEL };
  bench.people.facts = { kind: "guest" };
  const input = "do it";
  await bench.flow.startRun.start(asker, { input, intention: "1", answerUrl: null });
  await bench.flow.adoptRun.adopt(asker, aRunId());
  await bench.flow.adoptRun.unwatch(asker, id);
  bench.people.facts = {};
  bench.people.channels = new Set();
  await bench.flow.adoptRun.adopt(asker, id);
  const refused = (await entries(bench)).slice(before);
  expect(refused.map(({ step, refusal, runId }) => [step, refusal, runId ?? null])).toEqual([
    ["start", "guest", null],
    ["watch", "guest", expect.any(String)],
    ["unwatch", "guest", id],
    ["watch", "unknown-run", id],
  ]);
});

describe("the head on a card", () => {
  test("names the entry about the end of the approval, and is gone when the approval opens again", async () => {
    const bench = await createBench();
    const { id } = await decided(bench);
    const ended = (await bench.run(id)).approvals[0];
    const recorded = await bench.store.auditEntry(ended?.audited?.seq ?? 0);
    expect(recorded?.entry).toMatchObject({ what: "settled", outcome: "confirmed", approval: "apr_1" });
    expect(ended?.audited?.link).toBe(recorded?.link);
    const { blocks } = approvalCard(await bench.run(id), ended ?? anApproval());
    expect(blocks.map(({ block_id }) => block_id)).toContain(
      `audit:${recorded?.seq ?? 0}:${recorded?.link.slice(0, 16) ?? ""}`,
    );
  });

  test("is on a card that nobody decided, until the approval is listed again", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    bench.agents.pending.set(id, []);
    await bench.clock.pass(20_000);
    const closed = (await bench.run(id)).approvals[0];
    expect((await bench.store.auditEntry(closed?.audited?.seq ?? 0))?.entry.what).toBe("closed");
    bench.agents.pending.set(id, ["apr_1"]);
    await bench.clock.pass(40_000);
    const open = (await bench.run(id)).approvals[0];
    expect(open).toMatchObject({ version: 2, state: { type: "pending" } });
    expect(open).not.toHaveProperty("audited");
  });

  test("is missing while nothing has ended", async () => {
    const bench = await createBench();
    bench.agents.answer = () => Promise.resolve({ type: "later", afterMs: null, why: "busy" });
    const { id } = await decided(bench);
    expect((await bench.run(id)).approvals[0]).not.toHaveProperty("audited");
  });
});

test("the entries of a stop take time proportional to the number of its requests", () => {
  const run = listedRun(...Array.from({ length: 1_000 }, (_, at) => `apr_${at}`));
  let reads = 0;
  const stopped = stopRun(run, REQUESTER, contextAt());
  const approvals = stopped.approvals.map((approval) => ({
    ...approval,
    get past() {
      reads += 1;
      return approval.past;
    },
  }));
  expect(auditOfChange(run, { ...stopped, approvals }, contextAt())).toHaveLength(1_000);
  expect(reads).toBeLessThan(200 * approvals.length);
});
