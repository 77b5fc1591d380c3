// Authority at the moment of sending: a decision that waited is sent only if its approver may still give it under the
// current policy.

import { describe, expect, test } from "vitest";
import type { Verdict } from "#src/domain/approval.ts";
import { type UserId, UserId as toUserId } from "#src/domain/ids.ts";
import type { Policy } from "#src/domain/policy/policy.ts";
import type { DecisionAnswer } from "#src/ports.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, TEAM } from "../make/run.ts";

const SECOND = toUserId("U0SECOND");
const HOLD_MS = 10_000;
const HELD = { holdMs: HOLD_MS };
/** After this time, Slack's answers at the submit are too old for the sending. */
const OLD_MS = 6_000;

type Asked = {
  readonly policy?: Policy;
  readonly by?: readonly UserId[];
  readonly verdict?: Verdict;
  readonly reason?: string;
};

/** Has each person decide in turn, under a rule that holds the decision. */
async function decided({
  policy = aPolicy(HELD),
  by = [APPROVER],
  verdict = "approve",
  reason = "go",
}: Asked) {
  const bench = await createBench();
  bench.policy = policy;
  const card = await bench.withCard();
  for (const user of by) await decide(bench, card, { user, verdict, reason });
  return { bench, ...card };
}

type Card = Awaited<ReturnType<Bench["withCard"]>>;

async function decide(
  { flow }: Bench,
  { click }: Card,
  {
    user,
    verdict = "approve",
    reason = "go",
    word,
  }: { user: UserId; verdict?: Verdict; reason?: string; word?: string },
): Promise<void> {
  const opened = await flow.openForm.open({ ...click, user }, verdict);
  if (!opened.ok) throw new Error(`no modal: ${opened.error.refusal.type}`);
  const { nonce } = opened.value.ticket;
  const result = await flow.submitDecision(
    { team: TEAM, user },
    nonce,
    reason,
    word === undefined ? {} : { word },
  );
  if (!result.ok) throw new Error(`refused: ${result.error.refusal.type}`);
}

const approvalOf = async (bench: Bench, { id }: Card) => (await bench.run(id)).approvals[0];
const newer = (policy: Policy): Policy => ({ ...policy, version: "ba9876543210" });
const noticesSent = ({ chat }: Bench) =>
  chat.told
    .filter(({ says }) => says.type !== "nobody-can-approve")
    .map(({ to, says }) => [to, says.type, "cause" in says ? says.cause : null]);

async function outcomes(bench: Bench): Promise<string[]> {
  const entries = await bench.store.auditAfter(0, ["voted", "decided", "sent", "settled"], 99);
  return entries.map(({ entry }) => `${entry.what} ${entry.by?.user} ${entry.outcome}`);
}

describe("an approval that is held", () => {
  test("is void when its giver is deactivated: the card reopens, they are notified, and the audit says why", async () => {
    const { bench, ...card } = await decided({});
    bench.people.facts = { kind: "deactivated" };
    await bench.clock.pass(HOLD_MS + 5_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(await approvalOf(bench, card)).toMatchObject({
      version: 2,
      state: { type: "pending" },
      votes: [],
      past: [{ cause: "voter-may-not", decision: { by: { user: APPROVER }, reason: "go" } }],
    });
    expect(noticesSent(bench)).toEqual([[APPROVER, "decision-void", "voter-may-not"]]);
    expect(await outcomes(bench)).toEqual([
      `decided ${APPROVER} recorded`,
      `settled ${APPROVER} void: voter-may-not`,
    ]);
  });

  test.for<[string, Policy]>([
    ["does not name its approver", aPolicy({ ...HELD, approvers: these([SECOND]) })],
    ["names no one at all", aPolicy({ approvers: { users: [], groups: [], channels: [] } })],
  ])("is void when the current policy %s", async ([, policy]) => {
    const { bench, ...card } = await decided({});
    bench.policy = newer(policy);
    await bench.clock.pass(HOLD_MS + 5_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(await approvalOf(bench, card)).toMatchObject({
      state: { type: "pending" },
      past: [{ cause: "voter-may-not" }],
    });
  });

  test("is void when its approver can no longer see the channel", async () => {
    const { bench, ...card } = await decided({});
    bench.people.facts = { seesChannel: false };
    await bench.clock.pass(HOLD_MS + 5_000);
    expect((await approvalOf(bench, card))?.state.type).toBe("pending");
  });

  test.for<[string, object]>([
    ["a longer reason", { reason: { approve: 20, deny: 1 } }],
    ["a typed word", { friction: { readFirst: false, word: "production" } }],
    ["the request read in full", { friction: { readFirst: true, word: null } }],
  ])("is void when the current rule requires %s", async ([, more]) => {
    const { bench, ...card } = await decided({});
    bench.policy = newer(aPolicy({ ...HELD, ...more }));
    await bench.clock.pass(HOLD_MS + 5_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(await approvalOf(bench, card)).toMatchObject({
      state: { type: "pending" },
      past: [{ cause: "rule-changed" }],
    });
    expect(noticesSent(bench)).toEqual([[APPROVER, "decision-void", "rule-changed"]]);
  });

  test("counts as one of two when the current rule requires two", async () => {
    const { bench, ...card } = await decided({});
    bench.policy = newer(aPolicy({ needs: 2 }));
    await bench.clock.pass(HOLD_MS + 5_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(await approvalOf(bench, card)).toMatchObject({
      state: { type: "pending" },
      votes: [{ by: { user: APPROVER } }],
      past: [],
    });
    expect(noticesSent(bench)).toEqual([[APPROVER, "decision-void", "others-needed"]]);
    expect((await outcomes(bench)).at(-1)).toBe(`settled ${APPROVER} waits: others must approve`);
  });

  test("is sent if nothing has changed, however old Slack's earlier answers are", async () => {
    const { bench } = await decided({});
    await bench.clock.pass(HOLD_MS + 5_000);
    expect(bench.agents.resolved).toEqual([{ approval: "apr_1", verdict: "approve", reason: "go" }]);
    expect(noticesSent(bench)).toEqual([]);
  });

  test("waits while Slack does not answer, says so, and is sent when Slack does", async () => {
    const { bench, ...card } = await decided({});
    bench.people.before = () => Promise.reject(failure("timeout"));
    await bench.clock.pass(HOLD_MS + 20_000);
    expect(bench.agents.resolved).toEqual([]);
    expect((await approvalOf(bench, card))?.state).toMatchObject({
      delivery: { type: "retry", lost: false, why: expect.stringContaining("could not verify") as string },
    });
    bench.people.before = () => Promise.resolve();
    await bench.clock.pass(20_000);
    expect(bench.agents.resolved).toHaveLength(1);
    expect((await outcomes(bench)).filter((each) => each.includes("void"))).toEqual([]);
  });

  test("is checked with answers no older than those of a submit", async () => {
    const { bench } = await decided({});
    const ages: number[] = [];
    bench.people.before = (maxAgeMs) => Promise.resolve(void ages.push(maxAgeMs));
    await bench.clock.pass(HOLD_MS + 1_000);
    expect(ages.length).toBeGreaterThan(0);
    expect(Math.max(...ages)).toBeLessThanOrEqual(5_000);
  });
});

describe("an approval of two", () => {
  const policy = aPolicy({ needs: 2, holdMs: HOLD_MS });
  const both = [APPROVER, SECOND];

  test("waits for another when one approver may no longer approve: the other approval stays", async () => {
    const { bench, ...card } = await decided({ policy, by: both });
    const lookUp = bench.people.lookUp.bind(bench.people);
    bench.people.lookUp = async (team, user, ...more) => ({
      ...(await lookUp(team, user, ...more)),
      kind: user === APPROVER ? "deactivated" : "member",
    });
    await bench.clock.pass(HOLD_MS + 5_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(await approvalOf(bench, card)).toMatchObject({
      state: { type: "pending" },
      votes: [{ by: { user: SECOND } }],
      past: [{ cause: "voter-may-not", decision: { by: { user: APPROVER } } }],
    });
    expect(noticesSent(bench)).toEqual([
      [APPROVER, "decision-void", "voter-may-not"],
      [SECOND, "decision-void", "others-needed"],
    ]);
  });

  test("is sent whole when both may", async () => {
    const { bench } = await decided({ policy, by: both });
    await bench.clock.pass(HOLD_MS + 5_000);
    expect(bench.agents.resolved).toMatchObject([{ reason: "go\n\ngo" }]);
  });
});

/** A decision whose first answer was lost. */
async function withLostAnswer() {
  const bench = await createBench();
  const answers: DecisionAnswer[] = [{ type: "unsure", why: "timeout" }];
  bench.agents.answer = () => Promise.resolve(answers.shift() ?? { type: "confirmed" });
  const card = await bench.withCard();
  await decide(bench, card, { user: APPROVER });
  await bench.clock.pass(1_000);
  return { bench, card };
}

describe("a decision that waits for the service", () => {
  const awayUntil = (bench: Bench, ms: number): void => {
    const back = bench.clock.now() + ms;
    bench.agents.beforeLook = () =>
      bench.clock.now() < back ? Promise.reject(failure("http_503")) : Promise.resolve();
  };

  test("is void when its approver lost the right meanwhile", async () => {
    const bench = await createBench();
    const card = await bench.withCard();
    awayUntil(bench, 30_000);
    await decide(bench, card, { user: APPROVER });
    await bench.clock.pass(OLD_MS);
    bench.people.facts = { kind: "guest" };
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toEqual([]);
    expect((await approvalOf(bench, card))?.past).toMatchObject([{ cause: "voter-may-not" }]);
  });

  test("is sent if it is a denial, whoever gave it", async () => {
    const bench = await createBench();
    const card = await bench.withCard();
    awayUntil(bench, 30_000);
    await decide(bench, card, { user: APPROVER, verdict: "deny", reason: "no" });
    bench.people.facts = { kind: "deactivated" };
    bench.policy = newer(aPolicy({ approvers: these([SECOND]), reason: { approve: 20, deny: 20 } }));
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toEqual([{ approval: "apr_1", verdict: "deny", reason: "no" }]);
  });

  test("is not sent again after a lost answer if its approver lost the right, as it may already hold", async () => {
    const { bench, card } = await withLostAnswer();
    bench.people.facts = { kind: "deactivated" };
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toHaveLength(1);
    expect((await approvalOf(bench, card))?.state).toMatchObject({
      type: "decided",
      delivery: { type: "unconfirmed", cause: "no-longer-authorised" },
    });
    expect(noticesSent(bench)).toEqual([[APPROVER, "decision-stopped", null]]);
  });

  test("waits after a lost answer while Slack does not answer, and says so", async () => {
    const { bench, card } = await withLostAnswer();
    bench.people.before = () => Promise.reject(failure("timeout"));
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toHaveLength(1);
    const why = expect.stringContaining("could not verify") as string;
    expect((await approvalOf(bench, card))?.state).toMatchObject({
      delivery: { type: "retry", lost: true, notSent: true, why },
    });
    bench.people.before = () => Promise.resolve();
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toHaveLength(2);
  });

  test("is void after a restart as well", async () => {
    const bench = await createBench();
    bench.policy = aPolicy(HELD);
    const card = await bench.withCard();
    await decide(bench, card, { user: APPROVER });
    bench.people.facts = { kind: "deactivated" };
    await bench.restart();
    await bench.clock.pass(HOLD_MS + 5_000);
    expect(bench.agents.resolved).toEqual([]);
    expect((await approvalOf(bench, card))?.state.type).toBe("pending");
  });
});
