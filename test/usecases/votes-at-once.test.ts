// Approvals of several people that are submitted at the same moment, if the rule needs more than one.

import { describe, expect, test } from "vitest";
import { UserId } from "#src/domain/ids.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { SUBMIT_LOOK_MS } from "#src/usecases/record-decisions.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { aNonce, APPROVER, TEAM } from "../make/run.ts";

const SECOND = UserId("U0SECOND");
const THIRD = UserId("U0THIRD");
const never = (): Promise<void> => new Promise(() => undefined);

async function waiting(needs: number) {
  const bench = await createBench();
  bench.policy = aPolicy({ needs });
  return { bench, ...(await bench.withCard()) };
}

async function form({ flow }: Bench, click: Click, user: UserId) {
  const result = await flow.openForm.open({ ...click, user }, "approve");
  if (!result.ok) throw new Error(`no form: ${result.error.refusal.type}`);
  return () => flow.submitDecision({ team: TEAM, user }, result.value.ticket.nonce, "");
}

async function review({ flow }: Bench, { nonce }: Click, user: UserId) {
  const by = { team: TEAM, user };
  const value = flow.review.valueFor("run", by, nonce ?? aNonce());
  const opened = await flow.review.openSeveral(by, "run", value);
  if (!opened.ok) throw new Error(`no form: ${opened.error.refusal.type}`);
  const { forms, bundle } = opened.value;
  const choices = forms.map((each) => ({ nonce: each.nonce, verdict: "approve" as const }));
  return () => flow.submitReview(by, bundle, choices, { approve: "", deny: "" });
}

const entries = async ({ store }: Bench) =>
  (await store.auditAfter(0, ["voted", "decided", "refused"], 100)).map(({ entry }) => entry.what);

describe("approvals that several people submit at once", () => {
  test.each([2, 3])("all count (%i)", async (needs) => {
    const { bench, click } = await waiting(needs);
    const people = [APPROVER, SECOND, THIRD].slice(0, needs);
    const submits = await Promise.all(people.map((user) => form(bench, click, user)));
    const answers = await Promise.all(submits.map((submit) => submit()));
    expect(answers.map(({ ok }) => ok)).toEqual(people.map(() => true));
    expect(await entries(bench)).toEqual([...people.slice(1).map(() => "voted"), "decided"]);
    expect(bench.refusals).toEqual([]);
    await bench.clock.pass(5_000);
    expect(bench.agents.resolved).toHaveLength(1);
  });

  test("all count in forms with several requests", async () => {
    const { bench, id, click } = await waiting(2);
    bench.agents.pending.set(id, ["apr_1", "apr_2"]);
    await bench.clock.pass(20_000);
    const submits = [await review(bench, click, APPROVER), await review(bench, click, SECOND)];
    const answers = await Promise.all(submits.map((submit) => submit()));
    const both = { ok: true, value: { recorded: { approve: 2, deny: 0 }, refused: [] } };
    expect(answers).toEqual([both, both]);
    expect((await entries(bench)).toSorted()).toEqual(["decided", "decided", "voted", "voted"]);
    expect(bench.refusals).toEqual([]);
  });
});

describe("an approval that another one overtakes during its look at the service", () => {
  /** `second` begins first, and its look ends when the approval of the other person is stored. */
  async function overtaken() {
    const { bench, click } = await waiting(2);
    const [first, second] = [await form(bench, click, APPROVER), await form(bench, click, SECOND)];
    const look = Promise.withResolvers<void>();
    bench.agents.beforeLook = () => look.promise;
    const answer = second();
    await bench.clock.rest();
    bench.agents.beforeLook = () => Promise.resolve();
    expect(await first()).toMatchObject({ ok: true });
    await bench.clock.pass(SUBMIT_LOOK_MS);
    return { bench, answer, goOn: look.resolve };
  }
  const unverified = { ok: false, error: { refusal: { type: "unverified", of: [APPROVER] } } };

  test("is refused if Slack does not answer about the other person, with one entry", async () => {
    const { bench, answer, goOn } = await overtaken();
    bench.people.before = () => Promise.reject(failure("timeout"));
    goOn();
    expect(await answer).toMatchObject(unverified);
    expect(await entries(bench)).toEqual(["voted", "refused"]);
    expect(bench.refusals).toEqual(["unverified"]);
  });

  test("is answered 2 s after the submit, even if Slack does not answer at all", async () => {
    const { bench, answer, goOn } = await overtaken();
    bench.people.before = never;
    goOn();
    await bench.clock.pass(2_000 - SUBMIT_LOOK_MS);
    expect(await Promise.race([answer, Promise.resolve("waits")])).toMatchObject(unverified);
  });

  test("voids the vote of the other person if they may not decide any more", async () => {
    const { bench, answer, goOn } = await overtaken();
    bench.people.facts = { kind: "guest" };
    goOn();
    const result = await answer;
    expect(result.ok && result.value.run.approvals[0]).toMatchObject({
      state: { type: "pending" },
      votes: [{ by: { user: SECOND } }],
      past: [{ cause: "voter-may-not", decision: { by: { user: APPROVER } } }],
    });
  });
});
