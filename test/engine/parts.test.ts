// A rule that requires approvals from two parts, from the click to the sending. Each time, Slack is asked which
// groups people are in.

import { expect, test } from "vitest";
import { GroupId, UserId } from "#src/domain/ids.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { TEAM } from "../make/run.ts";

const [SRE, SEC] = [GroupId("S0SRE"), GroupId("S0SEC")];
const [ANA, BEN, CLEO] = [UserId("U0SREONE"), UserId("U0SRETWO"), UserId("U0SECONE")];
const part = (group: GroupId) => ({ users: [], groups: [group], channels: [] });
const policy = aPolicy({
  name: "both",
  needs: 2,
  parts: [part(SRE), part(SEC)],
  approvers: { users: [], groups: [SRE, SEC], channels: [] },
  holdMs: 10_000,
});

async function withCard() {
  const bench = await createBench();
  bench.policy = policy;
  place(bench, { [ANA]: SRE, [BEN]: SRE, [CLEO]: SEC });
  return { bench, ...(await bench.withCard()) };
}

function place({ people }: Bench, where: { readonly [user: UserId]: GroupId }): void {
  people.ownSets = new Map(Object.entries(where).map(([user, group]) => [UserId(user), new Set([group])]));
}

type Card = Awaited<ReturnType<typeof withCard>>;

async function approve({ bench, click }: Card, user: UserId): Promise<string> {
  const opened = await bench.flow.openForm.open({ ...click, user }, "approve");
  if (!opened.ok) return opened.error.refusal.type;
  const { nonce } = opened.value.ticket;
  const done = await bench.flow.submitDecision({ team: TEAM, user }, nonce, "go");
  return done.ok ? "ok" : done.error.refusal.type;
}

const approvalOf = async ({ bench, id }: Card) => (await bench.run(id)).approvals[0];

test("one person of each part approves, and the decision is sent", async () => {
  const card = await withCard();
  expect([await approve(card, ANA), await approve(card, CLEO)]).toEqual(["ok", "ok"]);
  await card.bench.clock.pass(15_000);
  expect(card.bench.agents.resolved).toMatchObject([{ verdict: "approve", reason: "go\n\ngo" }]);
});

test("a second person of one part is refused at the click, and the audit has the attempt", async () => {
  const card = await withCard();
  expect([await approve(card, ANA), await approve(card, BEN)]).toEqual(["ok", "part-filled"]);
  const [entry] = await card.bench.store.auditAfter(0, ["refused"], 9);
  expect(entry?.entry).toMatchObject({ by: { user: BEN }, refusal: "part-filled", step: "click" });
  expect((await approvalOf(card))?.votes).toHaveLength(1);
});

test("a person of the part that an earlier approver has left completes the approval", async () => {
  const card = await withCard();
  expect(await approve(card, ANA)).toBe("ok");
  place(card.bench, { [ANA]: SEC, [BEN]: SRE, [CLEO]: SEC });
  await card.bench.clock.pass(10 * 60_000);
  expect(await approve(card, BEN)).toBe("ok");
  await card.bench.clock.pass(15_000);
  expect(card.bench.agents.resolved).toHaveLength(1);
});

test("of two forms from one part at once, the second submit is refused", async () => {
  const card = await withCard();
  const { flow } = card.bench;
  const forms = await Promise.all(
    [ANA, BEN].map((user) => flow.openForm.open({ ...card.click, user }, "approve")),
  );
  const answers: string[] = [];
  for (const [at, user] of [ANA, BEN].entries()) {
    const form = forms[at];
    const nonce = form?.ok === true ? form.value.ticket.nonce : null;
    const done = await flow.submitDecision({ team: TEAM, user }, nonce, "go");
    answers.push(done.ok ? "ok" : done.error.refusal.type);
  }
  expect(answers).toEqual(["ok", "part-filled"]);
});

test("a held approval is void if both of its people are in one part by then", async () => {
  const card = await withCard();
  await approve(card, ANA);
  await approve(card, CLEO);
  place(card.bench, { [ANA]: SRE, [CLEO]: SRE });
  await card.bench.clock.pass(20_000);
  expect(card.bench.agents.resolved).toEqual([]);
  expect(await approvalOf(card)).toMatchObject({
    state: { type: "pending" },
    votes: [{ by: { user: ANA } }],
    past: [{ cause: "rule-changed", decision: { by: { user: CLEO } } }],
  });
});
