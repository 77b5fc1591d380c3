// Someone who can write to the database, but has no key, can neither stop a denial nor lift a freeze through the rows of the audit.

import { describe, expect, test } from "vitest";
import { auditEntry } from "#src/audit/entry.ts";
import { UserId } from "#src/domain/ids.ts";
import { ADMIN, type Bench, createBench, failure } from "../make/bot.ts";
import { BY as DECIDER, decided } from "../make/receipts.ts";
import { aPolicy } from "../make/policy.ts";
import { CHANNEL, TEAM } from "../make/run.ts";
import { rowThatIsNoEntry, withFile } from "../make/spoilt-database.ts";

const MIN = 60_000;
const BY = { team: TEAM, user: ADMIN, channel: CHANNEL };
const SECOND_ADMIN = UserId("U0SECONDADMIN");

/** What the service receives after this person decides. */
async function sentAfter(bench: Bench, verdict: "approve" | "deny") {
  const before = bench.agents.resolved.length;
  await decided(bench, verdict);
  await bench.clock.pass(5 * MIN);
  return bench.agents.resolved.slice(before).map((each) => each.verdict);
}

const acknowledged = async (bench: Bench): Promise<void> => {
  const { code } = (await bench.flow.queries.health(ADMIN)).audit;
  if (code === null) throw new Error("nothing was found");
  expect(await bench.flow.acknowledge(BY, code, "seen")).toMatchObject({ ok: true });
};

async function withDecision() {
  const { bench, spoil } = await withFile();
  await decided(bench);
  await bench.clock.pass(3_000);
  bench.policy = { ...bench.policy, freezers: { users: [SECOND_ADMIN], groups: [], channels: [] } };
  return { bench, spoil };
}

describe.each(["frozen", "freeze-lifted", "tampering-found", "tampering-acknowledged"] as const)(
  "a row of the audit that calls itself %s and is no entry",
  (what) => {
    test("is reported, and keeps no denial from leaving, nor the bot from starting again", async () => {
      const { bench, spoil } = await withDecision();
      spoil(...rowThatIsNoEntry(what));
      await bench.clock.pass(MIN);
      expect(await sentAfter(bench, "deny")).toEqual(["deny"]);
      await bench.restart();
      expect((await bench.flow.queries.health(ADMIN)).audit.open).toHaveLength(1);
      expect(await sentAfter(bench, "deny")).toEqual(["deny"]);
    });
  },
);

test("a forged row is one finding for whoever finds it, and another once its content changes", async () => {
  const { bench, spoil } = await withDecision();
  spoil(...rowThatIsNoEntry("freeze-lifted"));
  await bench.flow.freeze.look(BY);
  await acknowledged(bench);
  await bench.restart();
  expect((await bench.flow.queries.health(ADMIN)).audit.open).toEqual([]);
  spoil("update audit set entry = '{\"a\":1}' where entry = '{}'");
  await bench.flow.freeze.look(BY);
  expect((await bench.flow.queries.health(ADMIN)).audit.open).toHaveLength(1);
});

test.for([
  ["a missing entry", "delete from audit where seq = 2"],
  ["a row with an impossible number", "update audit set seq = -1 where seq = 2"],
] as const)("%s that is acknowledged stays so after a restart", async ([, sql]) => {
  const { bench, spoil } = await withDecision();
  spoil(sql);
  await bench.restart();
  await acknowledged(bench);
  await bench.restart();
  expect((await bench.flow.queries.health(ADMIN)).audit).toMatchObject({ code: null, open: [] });
  expect(await sentAfter(bench, "approve")).toEqual(["approve"]);
});

describe("a freeze", () => {
  const frozen = { ok: false, error: { refusal: { type: "frozen" } } };

  async function mayApprove(bench: Bench) {
    const { click } = await bench.withCard();
    return bench.flow.openForm.open(click, "approve");
  }

  test("counts everywhere if so many rows are forged that a later one may be unread, and denials still leave", async () => {
    const { bench, spoil } = await withDecision();
    spoil(
      ...Array.from({ length: 300 }, () => rowThatIsNoEntry("freeze-lifted")).flatMap((row) => [
        ...row,
        "drop table one",
      ]),
    );
    await bench.flow.freeze.look(BY);
    expect(await mayApprove(bench)).toMatchObject(frozen);
    expect(await sentAfter(bench, "deny")).toEqual(["deny"]);
  });

  test("whose entry is spoilt holds after a restart, until a person lifts it", async () => {
    const { bench, spoil } = await withDecision();
    expect(await bench.flow.freeze.freeze(BY, CHANNEL, "it loops")).toMatchObject({ ok: true });
    spoil("update audit set entry = '{}' where what = 'frozen'");
    await bench.restart();
    await acknowledged(bench);
    expect(await mayApprove(bench)).toMatchObject(frozen);
    const lifted = await bench.flow.freeze.lift({ ...BY, user: SECOND_ADMIN }, null, "fixed");
    expect(lifted).toMatchObject({ ok: true, value: { still: null } });
    expect(await sentAfter(bench, "approve")).toEqual(["approve"]);
    await bench.restart();
    expect(await sentAfter(bench, "approve")).toEqual(["approve"]);
  });

  test("counts everywhere if its entry was changed to name another channel", async () => {
    const { bench, spoil } = await withDecision();
    expect(await bench.flow.freeze.freeze(BY, CHANNEL, "")).toMatchObject({ ok: true });
    spoil(`update audit set entry = replace(entry, '${CHANNEL}', 'C0OTHER') where what = 'frozen'`);
    await bench.restart();
    await acknowledged(bench);
    expect(await mayApprove(bench)).toMatchObject(frozen);
  });

  test("counts even if a row with a great number was put into the audit and removed again", async () => {
    const { bench, spoil } = await withDecision();
    spoil(...rowThatIsNoEntry("freeze-lifted"), "update audit set seq = 1000000 where entry = '{}'");
    await bench.flow.freeze.look(BY);
    spoil("delete from audit where seq = 1000000");
    expect(await bench.flow.freeze.freeze(BY, CHANNEL, "")).toMatchObject({ ok: true });
    await acknowledged(bench);
    expect(await mayApprove(bench)).toMatchObject(frozen);
  });

  test("that a newer release wrote in a form of its own counts everywhere, and denials leave", async () => {
    const bench = await createBench();
    const facts = {
      at: bench.clock.now(),
      what: "frozen",
      outcome: "x",
      step: "a new word" as never,
    } as const;
    await bench.store.audit([auditEntry(null, facts)]);
    await bench.flow.freeze.look(BY);
    expect(await mayApprove(bench)).toMatchObject(frozen);
    expect(await sentAfter(bench, "deny")).toEqual(["deny"]);
    expect((await bench.flow.queries.health(ADMIN)).audit.open).toEqual([]);
  });
});

/** What is sent of a decision while the audit cannot be read in full. */
const ONLY_DENIALS = [
  ["approve", []],
  ["deny", ["deny"]],
] as const;

test.for(ONLY_DENIALS)(
  "while the rows of other replicas cannot be read, a decision to %s sends %j",
  async ([verdict, leaves]) => {
    const bench = await createBench();
    const store = { ...bench.store };
    // Watching the run reads the starts without an answer.
    bench.store.numbersAfter = (seq, what, limit) =>
      what.includes("start-unconfirmed")
        ? store.numbersAfter(seq, what, limit)
        : Promise.reject(failure("store_slow"));
    expect(await sentAfter(bench, verdict)).toEqual(leaves);
  },
);

const FORGED = `'{"what":"settled","refers":' || (select max(seq) from audit where what = 'decided') || ',"outcome":"confirmed"}'`;

test.for(
  ONLY_DENIALS.flatMap(([verdict, leaves]) =>
    ["'{}'", FORGED].map((text) => [verdict, leaves, text] as const),
  ),
)(
  "while a row about the end of a decision to %s cannot be read or is forged, the decision sends %j",
  async ([verdict, leaves, text]) => {
    const { bench, spoil } = await withDecision();
    const before = bench.agents.resolved.length;
    const { id, click } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, verdict);
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
    await bench.flow.submitDecision(DECIDER, opened.value.ticket.nonce, "go");
    await bench.clock.pass(3_000);
    const about = `run = '${(await bench.store.byRunId(id)) ?? ""}', approval = 'apr_1'`;
    spoil(...rowThatIsNoEntry("settled"), `update audit set ${about}, entry = ${text} where entry = '{}'`);
    bench.agents.beforeLook = () => Promise.resolve();
    await bench.clock.pass(5 * MIN);
    expect(bench.agents.resolved.slice(before).map((each) => each.verdict)).toEqual(leaves);
  },
);

describe("an approval that was taken back and whose run was put back", () => {
  async function putBack(spoilt: string, isFollowed = true) {
    const { bench, spoil } = await withFile();
    bench.policy = aPolicy({ holdMs: MIN });
    const { click, id } = await decided(bench);
    await bench.clock.pass(3_000);
    spoil("create table kept as select * from runs");
    expect(await bench.flow.undoDecision.onCard(click)).toMatchObject({ ok: true });
    if (isFollowed) await bench.withCard();
    const back = ["delete from runs", "insert into runs select * from kept", "drop table kept"];
    spoil(...back, spoilt);
    bench.agents.pending.set(id, ["apr_1", "apr_2"]);
    await bench.clock.pass(5 * MIN);
    return bench;
  }

  async function expectFound(bench: Bench, words: string) {
    expect(bench.agents.resolved).toEqual([]);
    const [finding] = await bench.store.auditAfter(0, ["tampering-found"], 9);
    expect(finding?.entry.outcome).toContain(words);
  }

  test.for<[string, string, string]>([
    ["says so", "select 1", "it is over: void"],
    ["calls itself another kind", "update audit set what = 'refused' where what = 'settled'", "its columns"],
    ["names another approval", "update audit set approval = 'apr_9' where what = 'settled'", "its columns"],
    ["names another run", "update audit set run = 'x' where what = 'settled'", "its columns"],
    [
      "says something else",
      "update audit set entry = '{}' where what = 'settled'",
      "does not match its link",
    ],
    ["is missing", "delete from audit where what = 'settled'", "the number before it is missing"],
  ])("is not sent if the entry about it %s", async ([, spoilt, found]) => {
    await expectFound(await putBack(spoilt), found);
  });

  test("is not sent by the process that wrote the entry about it if that entry was cut off the end", async () => {
    const cut = "delete from audit where seq >= (select seq from audit where what = 'settled')";
    await expectFound(await putBack(cut, false), "it is over: void");
  });
});

test("an approval that waits while a later entry is damaged is sent, once that is acknowledged, without another approval", async () => {
  const { bench, spoil } = await withFile();
  bench.policy = aPolicy({ holdMs: MIN });
  await decided(bench);
  await bench.withCard();
  await bench.withCard();
  spoil("delete from audit where seq = (select max(seq) - 1 from audit)");
  await bench.clock.pass(5 * MIN);
  expect(bench.agents.resolved).toEqual([]);
  expect((await bench.flow.queries.health(ADMIN)).audit.open).toHaveLength(1);
  await acknowledged(bench);
  await bench.clock.pass(MIN);
  expect(bench.agents.resolved.map(({ verdict }) => verdict)).toEqual(["approve"]);
  expect((await bench.flow.queries.health(ADMIN)).audit.open).toEqual([]);
});
