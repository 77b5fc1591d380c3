// A decision is sent only if its signed entry says the same. The store here returns what someone without the key
// could bring about: a row that was put back to an earlier state, or a decision that no entry decides.

import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { healthReport } from "#src/adapters/slack/blocks/health-answer.ts";
import { auditEntry } from "#src/audit/entry.ts";
import type { Decision } from "#src/domain/approval.ts";
import { UserId } from "#src/domain/ids.ts";
import { replaceApproval, type Run } from "#src/domain/run.ts";
import { textOf } from "../adapters/slack/blocks/oracle.ts";
import { ADMIN, AUDIT_CHANNEL, type Bench, createBench, failure } from "../make/bot.ts";
import { anAuditEntry, APPROVER, CHANNEL, NOON, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER };
const CAT = UserId("U0CAT");
const FROZEN = auditEntry(null, { at: NOON, what: "frozen", outcome: "frozen", channel: CHANNEL, by: BY });

/** Returns the run with its first approval decided by `decision`, and not sent. */
function decidedSo(run: Run, decision: Partial<Decision>): Run {
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("no approval");
  const whole: Decision = {
    verdict: "approve",
    reason: "",
    by: BY,
    at: run.askedAt,
    digest: approval.request.digest,
    ...decision,
  };
  return replaceApproval(run, {
    ...approval,
    state: { type: "decided", decision: whole, delivery: { type: "recorded" } },
  });
}

async function forge(
  bench: Bench,
  id: Parameters<Bench["run"]>[0],
  decision: Partial<Decision>,
): Promise<void> {
  const key = await bench.store.byRunId(id);
  const stored = key === null ? null : await bench.store.load(key);
  if (stored === null) throw new Error("no run");
  await bench.store.save(stored, decidedSo(stored.run, decision));
  await bench.restart();
  await bench.clock.pass(5_000);
}

async function decides(bench: Bench, verdict: "approve" | "deny", reason: string) {
  const card = await bench.withCard();
  const opened = await bench.flow.openForm.open(card.click, verdict);
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  const submit = () => bench.flow.submitDecision(BY, opened.value.ticket.nonce, reason);
  return { ...card, submit };
}

const findings = async ({ store }: Bench) =>
  (await store.auditAfter(0, ["tampering-found"], 9)).map(({ entry }) => entry);

describe("a stored decision that no entry decides", () => {
  test.for(["approve", "deny"] as const)("to %s is not sent, and everyone is notified", async (verdict) => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    await forge(bench, id, { verdict, by: { team: TEAM, user: CAT }, reason: "I am Cat" });
    expect(bench.agents.resolved).toEqual([]);
    expect(bench.errors.some((each) => each.startsWith("TAMPERED"))).toBe(true);
    const [entry] = await findings(bench);
    expect(entry?.outcome).toContain("the record names no audit entry for it");
    const health = await bench.flow.queries.health(ADMIN);
    expect(health.audit.open).toHaveLength(1);
    // The approval waits again, under a new card.
    expect((await bench.run(id)).approvals[0]).toMatchObject({ state: { type: "pending" }, version: 2 });
    await bench.clock.pass(60_000);
    const notifications = bench.notificationSender.posted.filter(
      ({ notification }) => notification.kind === "tampering",
    );
    expect(notifications.map(({ notification }) => notification.to)).toEqual([ADMIN, AUDIT_CHANNEL]);
  });

  test("is not sent even if it names an entry of another kind, run or approval", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    const head = await bench.store.auditHead();
    await forge(bench, id, { entry: head?.seq ?? 0 });
    expect(bench.agents.resolved).toEqual([]);
    expect((await findings(bench))[0]?.outcome).toContain("says something else");
  });
});

describe("a decision compared with its entry", () => {
  /** Denied by its approver, and not sent yet because the service does not answer. */
  async function waiting() {
    const bench = await createBench();
    const { id, submit } = await decides(bench, "deny", "far too much");
    bench.agents.beforeLook = () => Promise.reject(failure("http_503", { applied: "maybe" }));
    await submit();
    await bench.clock.pass(3_000);
    bench.agents.beforeLook = () => Promise.resolve();
    const state = (await bench.run(id)).approvals[0]?.state;
    if (state?.type !== "decided") throw new Error("not decided");
    return { bench, id, decision: state.decision };
  }

  test.for<[string, Partial<Decision>]>([
    ["verdict", { verdict: "approve" }],
    ["reason", { reason: "go ahead" }],
    ["person", { by: { team: TEAM, user: CAT } }],
  ])("that differs in its %s is not sent", async ([, change]) => {
    const { bench, id, decision } = await waiting();
    await forge(bench, id, { ...decision, ...change });
    expect(bench.agents.resolved).toEqual([]);
    expect((await findings(bench))[0]?.outcome).toContain("says something else");
  });

  test("that differs in nothing is sent", async () => {
    const { bench, id, decision } = await waiting();
    await forge(bench, id, decision);
    expect(bench.agents.resolved).toHaveLength(1);
    expect(await findings(bench)).toEqual([]);
  });
});

test("a decision that was already sent is not sent again from a row that was put back", async () => {
  const bench = await createBench();
  const { id, submit } = await decides(bench, "approve", "once");
  await submit();
  await bench.clock.pass(2_000);
  const state = (await bench.run(id)).approvals[0]?.state;
  if (state?.type !== "decided") throw new Error("not decided");
  expect(bench.agents.resolved).toHaveLength(1);
  await forge(bench, id, state.decision);
  expect(bench.agents.resolved).toHaveLength(1);
  expect((await findings(bench))[0]?.outcome).toContain("it is over: confirmed");
});

test("a decision that another replica has sent meanwhile is not a finding, and is not sent again", async () => {
  const bench = await createBench();
  const { id, submit } = await decides(bench, "approve", "once");
  let looks = 0;
  bench.agents.beforeLook = async () => {
    looks += 1;
    // The first look belongs to the submit. The second comes right before the decision would be sent.
    if (looks !== 2) return;
    const key = await bench.store.byRunId(id);
    const stored = key === null ? null : await bench.store.load(key);
    const approval = stored?.run.approvals[0];
    if (stored === null || approval?.state.type !== "decided") throw new Error("not decided");
    const { entry: refers = 0 } = approval.state.decision;
    const delivery = { type: "confirmed", at: bench.clock.monotonic(), stillListed: null } as const;
    const state = { ...approval.state, delivery };
    const settled = { what: "settled", approval: approval.id, refers, outcome: "confirmed" } as const;
    await bench.store.save(stored, replaceApproval(stored.run, { ...approval, state }), {
      audit: [anAuditEntry(stored.run, settled)],
    });
  };
  await submit();
  await bench.clock.pass(5_000);
  expect(looks).toBeGreaterThan(1);
  expect(bench.agents.resolved).toEqual([]);
  expect(await findings(bench)).toEqual([]);
  expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "confirmed" } });
});

test.for(["look at the service", "look at the audit", "mark"])(
  "a freeze that another replica writes right before the last %s keeps the decision back",
  async (where) => {
    const bench = await createBench();
    const { store } = bench;
    let looks = 0;
    const freezeAt = async (at: string): Promise<void> => {
      if (looks === 2 && at === where) await store.audit([FROZEN]);
    };
    // As with two processes: entries of the other are read before a decision is sent, and every second.
    bench.store = {
      ...store,
      settledAfter: async (...given) => {
        await freezeAt("look at the audit");
        return store.settledAfter(...given);
      },
      save: async (run, next, facts) => {
        if (facts?.audit?.some(({ what }) => what === "sent") === true) await freezeAt("mark");
        return store.save(run, next, facts);
      },
      renew: async (now, leaseMs, onLapsed) => ({
        ...(await store.renew(now, leaseMs, onLapsed)),
        replicas: 2,
      }),
    };
    await bench.restart();
    const { submit } = await decides(bench, "approve", "go");
    bench.agents.beforeLook = () => {
      looks += 1;
      return freezeAt("look at the service");
    };
    await submit();
    await bench.clock.rest();
    expect(looks).toBe(2);
    await bench.clock.pass(5_000);
    expect(bench.agents.resolved).toEqual([]);
  },
);

test("a denial that the audit does not confirm is a finding at once, even while its card waits for its turn in Slack", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  const provenEntry = bench.store.provenEntry.bind(bench.store);
  let proofs = 0;
  bench.store.provenEntry = async (seq) => {
    const proven = await provenEntry(seq);
    if (!proven.ok || proven.kept.entry.what !== "decided") return proven;
    proofs += 1;
    return { ok: false, finding: { id: "entry", words: "altered", run: null } };
  };
  const turn = Promise.withResolvers<undefined>();
  bench.chat.waitForTurn = () => turn.promise;
  const { key: run } = await bench.run(id);
  await bench.flow.stopRun.stop({ ...BY, channel: CHANNEL, run, shown: null });
  await bench.clock.pass(10);
  expect(proofs).toBe(1);
  expect(bench.errors.some((each) => each.startsWith("TAMPERED"))).toBe(true);
  turn.resolve(undefined);
});

test("a decision that no look lets through is stored as never sent", async () => {
  const bench = await createBench();
  const { id, submit } = await decides(bench, "approve", "go");
  bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
  await submit();
  await bench.clock.pass(5_000);
  expect(bench.agents.resolved).toEqual([]);
  expect((await bench.run(id)).approvals[0]?.state).toMatchObject({
    delivery: { type: "retry", lost: false, notSent: true },
  });
  bench.agents.beforeLook = () => Promise.resolve();
  await bench.clock.pass(30_000);
  expect(bench.agents.resolved).toHaveLength(1);
});

describe("before a finding is acknowledged", () => {
  async function alarmed() {
    const bench = await createBench();
    const first = await bench.withCard();
    await forge(bench, first.id, {});
    const { code } = (await bench.flow.queries.health(ADMIN)).audit;
    if (code === null) throw new Error("nothing was found");
    return { bench, code };
  }

  test("no approval is sent, and its card says so; it is sent once an admin acknowledges", async () => {
    const { bench, code } = await alarmed();
    const { id, submit } = await decides(bench, "approve", "go");
    expect(await submit()).toMatchObject({ ok: true });
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toEqual([]);
    const held = (await bench.run(id)).approvals[0]?.state;
    expect(held).toMatchObject({ delivery: { type: "retry", heldBack: true } });
    const by = { team: TEAM, user: ADMIN, channel: CHANNEL };
    expect(await bench.flow.acknowledge(by, code, "an old backup was put back")).toEqual({
      ok: true,
      value: 1,
    });
    await bench.clock.pass(500);
    expect(bench.agents.resolved).toEqual([{ approval: "apr_1", verdict: "approve", reason: "go" }]);
    expect(await bench.store.auditAfter(0, ["tampering-acknowledged"], 9)).toMatchObject([
      { entry: { by: { user: ADMIN }, reason: "an old backup was put back" } },
    ]);
  });

  test("an approval whose answer was lost is not sent again, and its card does not deny that it was sent", async () => {
    const bench = await createBench();
    const first = await bench.withCard();
    const { id, submit } = await decides(bench, "approve", "go");
    bench.agents.answer = () => Promise.resolve({ type: "unsure", why: "no answer" });
    await submit();
    await bench.clock.pass(500);
    await forge(bench, first.id, {});
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toHaveLength(1);
    const run = await bench.run(id);
    const [approval] = run.approvals;
    expect(approval?.state).toMatchObject({ delivery: { type: "retry", lost: true, heldBack: true } });
    const shown = approval === undefined ? "" : textOf(approvalCard(run, approval).blocks);
    expect(shown).toContain("Approval sent, not confirmed yet");
    expect(shown).not.toMatch(/not sent:|recorded/);
  });

  test("health does not call the database unchanged once it is acknowledged", async () => {
    const { bench, code } = await alarmed();
    await bench.flow.acknowledge({ team: TEAM, user: ADMIN, channel: CHANNEL }, code, "seen");
    const shown = textOf(healthReport(await bench.flow.queries.health(ADMIN), bench.clock.now()).blocks);
    expect(shown).not.toContain("no sign that the database was changed from outside");
    expect(shown).toContain("1 finding of tampering, acknowledged");
  });

  test("a denial is sent", async () => {
    const { bench } = await alarmed();
    const { submit } = await decides(bench, "deny", "no");
    await submit();
    await bench.clock.pass(2_000);
    expect(bench.agents.resolved).toEqual([{ approval: "apr_1", verdict: "deny", reason: "no" }]);
  });

  test("a restart forgets neither the finding nor the acknowledgment", async () => {
    const { bench, code } = await alarmed();
    await bench.restart();
    expect((await bench.flow.queries.health(ADMIN)).audit.code).toBe(code);
    await bench.flow.acknowledge({ team: TEAM, user: ADMIN, channel: CHANNEL }, code, "seen");
    await bench.restart();
    expect((await bench.flow.queries.health(ADMIN)).audit).toEqual({ open: [], code: null, acknowledged: 1 });
  });

  test.for([
    ["someone who is not an admin", APPROVER, "", "I looked", "not-admin"],
    ["the code of other findings", ADMIN, "0000000000", "I looked", "other-findings"],
    ["no words", ADMIN, "", " ", "acknowledge-why"],
  ] as const)("%s acknowledges nothing", async ([, user, other, reason, because]) => {
    const { bench, code } = await alarmed();
    const by = { team: TEAM, user, channel: CHANNEL };
    const done = await bench.flow.acknowledge(by, other === "" ? code : other, reason);
    expect(done).toMatchObject({ ok: false, error: { type: because } });
    expect((await bench.flow.queries.health(ADMIN)).audit.code).toBe(code);
  });

  test("a further finding needs an acknowledgment of its own", async () => {
    const { bench, code } = await alarmed();
    const by = { team: TEAM, user: ADMIN, channel: CHANNEL };
    await bench.flow.acknowledge(by, code, "seen");
    const { id } = await bench.withCard();
    await forge(bench, id, {});
    expect((await bench.flow.queries.health(ADMIN)).audit.code).not.toBeNull();
    expect(await bench.flow.acknowledge(by, code, "seen")).toMatchObject({
      error: { type: "other-findings" },
    });
  });
});

test("a decision does not leave if what the service says now could not be stored, even if the lease is back at once", async () => {
  const bench = await createBench();
  const { store } = bench;
  let isLost = false;
  bench.store = {
    ...store,
    save: (stored, next, facts) => {
      const seesChange = next.approvals[0]?.state.type === "pending";
      if (!isLost || !seesChange) return store.save(stored, next, facts);
      isLost = false;
      return Promise.resolve("not-held");
    },
  };
  await bench.restart();
  const { id, submit } = await decides(bench, "approve", "the numbers are right");
  let looks = 0;
  bench.agents.beforeLook = () => {
    looks += 1;
    // The first look belongs to the submit, the second is the check right before the decision leaves.
    if (looks === 2) {
      bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "delete everything" } }]);
      isLost = true;
    }
    return Promise.resolve();
  };
  expect(await submit()).toMatchObject({ ok: true });
  await bench.clock.pass(20_000);
  expect(looks).toBeGreaterThan(2);
  expect(isLost).toBe(false);
  expect(bench.agents.resolved).toEqual([]);
  expect((await bench.run(id)).approvals[0]).toMatchObject({ state: { type: "pending" }, version: 2 });
});
