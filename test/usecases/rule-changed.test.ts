// A form says what follows an approval: how many people must approve, and whether the approval is held. The rule may change while the form
// is open.

import { describe, expect, test } from "vitest";
import type { Part } from "#src/domain/policy/named-people.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { UserId } from "#src/domain/ids.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { aNonce, APPROVER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER };
const SECOND = UserId("U0SECOND");
const HELD = aPolicy({ holdMs: 30_000 });
const OPERATIONS: Part = { name: "Operations", ...these([APPROVER]) };
const SECURITY: Part = { name: "Security", ...these([UserId("U0SECURITY")]) };
const LEGAL: Part = { name: "Legal", ...these([UserId("U0LEGAL")]) };
const partsOf = (...parts: readonly Part[]) => aPolicy({ needs: parts.length, parts });
const STRICT = aPolicy({ needs: 2, holdMs: 30_000 });

async function waiting(policy: Bench["policy"]) {
  const bench = await createBench();
  bench.policy = policy;
  return { bench, ...(await bench.withCard()) };
}

async function form({ flow }: Bench, click: Click, user = APPROVER): Promise<() => Promise<unknown>> {
  const opened = await flow.openForm.open({ ...click, user }, "approve");
  if (!opened.ok) throw new Error(`no form: ${opened.error.refusal.type}`);
  return () => flow.submitDecision({ team: TEAM, user }, opened.value.ticket.nonce, "");
}

async function openedTogether({ flow }: Bench, { nonce }: Click) {
  const value = flow.review.valueFor("run", BY, nonce ?? aNonce());
  const opened = await flow.review.openSeveral(BY, "run", value);
  if (!opened.ok) throw new Error(`no form: ${opened.error.refusal.type}`);
  return opened.value;
}

async function together(bench: Bench, click: Click) {
  const { forms, bundle } = await openedTogether(bench, click);
  return (verdict: "approve" | "deny") => {
    const choices = forms.map((each) => ({ nonce: each.nonce, verdict }));
    return bench.flow.submitReview(BY, bundle, choices, { approve: "", deny: "no" });
  };
}

const outcomes = async ({ store }: Bench) =>
  (await store.auditAfter(0, ["voted", "decided", "refused"], 100)).map(({ entry }) => entry.what);

const NOW = { needs: 1, holdMs: 0 };
const changed = (was: { needs: number; holdMs: number }, now = NOW) => ({
  refusal: { type: "rule-changed", was, now },
});

describe("an approval in a form that promised more than the rule requires by now", () => {
  test.for([
    ["more people", aPolicy({ needs: 2 }), { needs: 2, holdMs: 0 }],
    ["a hold", HELD, { needs: 1, holdMs: 30_000 }],
    ["more people and a hold", STRICT, { needs: 2, holdMs: 30_000 }],
  ] as const)("is refused if it promised %s, and nothing is sent", async ([, policy, was]) => {
    const { bench, click } = await waiting(policy);
    const submit = await form(bench, click);
    bench.policy = BUILT_IN;
    expect(await submit()).toMatchObject({ ok: false, error: changed(was) });
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(await outcomes(bench)).toEqual(["refused"]);
    expect(bench.refusals).toEqual(["rule-changed"]);
  });

  test("is refused if the hold is only shorter", async () => {
    const { bench, click } = await waiting(HELD);
    const submit = await form(bench, click);
    bench.policy = aPolicy({ holdMs: 10_000 });
    const now = { needs: 1, holdMs: 10_000 };
    expect(await submit()).toMatchObject({ error: changed({ needs: 1, holdMs: 30_000 }, now) });
  });

  test.for([
    ["another part", partsOf(OPERATIONS, LEGAL)],
    ["a part of the same name with other people", partsOf(OPERATIONS, { ...SECURITY, ...these([SECOND]) })],
    ["no parts", aPolicy({ needs: 2 })],
    ["more people, but fewer parts", aPolicy({ needs: 3, parts: [OPERATIONS] })],
  ] as const)("is refused if the rule asks for %s instead, and nothing is recorded", async ([, policy]) => {
    const { bench, click } = await waiting(partsOf(OPERATIONS, SECURITY));
    const submit = await form(bench, click);
    bench.policy = policy;
    const [rule] = policy.rules;
    const was = { needs: 2, holdMs: 0, parts: [OPERATIONS, SECURITY] };
    const now = { needs: rule?.needs, holdMs: 0, parts: rule?.parts };
    expect(await submit()).toMatchObject({ error: { refusal: { type: "rule-changed", was, now } } });
    expect(await outcomes(bench)).toEqual(["refused"]);
  });

  test("is refused in Review together if the rule asks for another part instead", async () => {
    const { bench, click } = await waiting(partsOf(OPERATIONS, SECURITY));
    const submit = await together(bench, click);
    bench.policy = partsOf(OPERATIONS, LEGAL);
    expect(await submit("approve")).toMatchObject({
      value: { refused: [{ refusal: { type: "rule-changed" } }] },
    });
  });

  test("is refused in Review together, where a denial counts", async () => {
    const { bench, click } = await waiting(aPolicy({ needs: 2 }));
    const submit = await together(bench, click);
    bench.policy = BUILT_IN;
    const refused = [changed({ needs: 2, holdMs: 0 })];
    expect(await submit("approve")).toMatchObject({ value: { refused } });
    expect(await outcomes(bench)).toEqual(["refused"]);
    expect(await submit("deny")).toMatchObject({ value: { recorded: { deny: 1 }, refused: [] } });
  });

  test("has the promise of its form, also if Review together is drawn again", async () => {
    const { bench, click } = await waiting(aPolicy({ needs: 2 }));
    const { forms, ...opened } = await openedTogether(bench, click);
    bench.policy = BUILT_IN;
    const shown = forms.map(({ nonce }) => nonce);
    const drawn = await bench.flow.review.severalOfPerson(BY, opened.bundle, shown, opened);
    const [item] = drawn?.forms ?? [];
    expect(item?.item.run.approvals[0]?.appliedRule.rule.needs).toBe(2);
  });

  test("counts in a new form, which says what the rule requires now", async () => {
    const { bench, click } = await waiting(STRICT);
    await form(bench, click);
    bench.policy = BUILT_IN;
    const submit = await form(bench, click);
    expect(await submit()).toMatchObject({ ok: true });
    await bench.clock.pass(1_000);
    expect(bench.agents.resolved).toHaveLength(1);
  });

  test("is stored already if it is submitted again: the answer to the first submit was lost", async () => {
    const { bench, click } = await waiting(STRICT);
    const submit = await form(bench, click);
    expect(await submit()).toMatchObject({ ok: true });
    bench.policy = aPolicy({ needs: 2 });
    expect(await submit()).toMatchObject({ ok: true });
    expect(await outcomes(bench)).toEqual(["voted"]);
  });
});

describe("an approval in a form that promised no more than the rule requires by now", () => {
  test.for([
    [
      "names its parts in another order and by other names",
      partsOf({ ...SECURITY, name: "SecOps" }, OPERATIONS),
    ],
    ["asks for one part more", partsOf(OPERATIONS, SECURITY, LEGAL)],
  ] as const)("counts if the rule %s", async ([, policy]) => {
    const { bench, click } = await waiting(partsOf(OPERATIONS, SECURITY));
    const submit = await form(bench, click);
    bench.policy = policy;
    expect(await submit()).toMatchObject({ ok: true });
    expect(await outcomes(bench)).toEqual(["voted"]);
  });

  test("counts if the rule has become stricter", async () => {
    const { bench, click } = await waiting(BUILT_IN);
    const submit = await form(bench, click);
    bench.policy = STRICT;
    expect(await submit()).toMatchObject({ ok: true });
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toEqual([]);
  });

  test("counts as the last one if another person has approved since", async () => {
    const { bench, click } = await waiting(aPolicy({ needs: 2 }));
    const submits = [await form(bench, click), await form(bench, click, SECOND)];
    for (const submit of submits) expect(await submit()).toMatchObject({ ok: true });
    await bench.clock.pass(1_000);
    expect(bench.agents.resolved).toHaveLength(1);
  });
});
