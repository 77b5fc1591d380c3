// The review of several requests in one form, over a real store: what is recorded, refused and sent, and that nothing happens twice.

import { describe, expect, test } from "vitest";
import { reviewSeveralModal } from "#src/adapters/slack/blocks/review-modal.ts";
import { MAX_REASON_CHARS } from "#src/domain/authorization.ts";
import { MessageTs, Nonce, type RunId, UserId } from "#src/domain/ids.ts";
import type { OpenedReview } from "#src/usecases/review.ts";
import type { Choice } from "#src/usecases/submit-review.ts";
import { ADMIN, type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { aNonce, APPROVER, aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER };
const OTHER = { team: TEAM, user: UserId("U0OTHER") };
const REASONS = { approve: "fine", deny: "not today" };

/** Watches a run with `many` pending approvals. */
async function waiting(bench: Bench, many: number, requester = REQUESTER): Promise<RunId> {
  const id = aRunId();
  bench.agents.pending.set(
    id,
    Array.from({ length: many }, (_, at) => `apr_${at}`),
  );
  await bench.flow.adoptRun.adopt({ team: TEAM, user: requester, channel: CHANNEL }, id);
  await bench.clock.pass(1_000);
  return id;
}

async function valueFor(bench: Bench, id: RunId, by = BY, kind: "run" | "rule" = "run"): Promise<string> {
  const [approval] = (await bench.run(id)).approvals;
  return bench.flow.review.valueFor(kind, by, approval?.nonce ?? aNonce());
}

async function opened(bench: Bench, id: RunId): Promise<OpenedReview> {
  const result = await bench.flow.review.openSeveral(BY, "run", await valueFor(bench, id));
  if (!result.ok) throw new Error(`refused: ${result.error.refusal.type}`);
  return result.value;
}

const all = ({ forms }: OpenedReview, verdict: "approve" | "deny"): Choice[] =>
  forms.map(({ nonce }) => ({ nonce, verdict }));

const audited = async ({ store }: Bench, ...what: ("decided" | "refused" | "opened")[]) =>
  (await store.auditAfter(0, what, 1_000)).map(({ entry }) => entry);

type Handed = { readonly by?: typeof BY; readonly bundle?: Nonce };

async function reviewed(
  bench: Bench,
  form: OpenedReview,
  choices = all(form, "approve"),
  { by = BY, bundle = form.bundle }: Handed = {},
) {
  const result = await bench.flow.submitReview(by, bundle, choices, REASONS);
  await bench.clock.pass(1_000);
  return result;
}

const refusalsOf = (result: Awaited<ReturnType<typeof reviewed>>) =>
  result.ok ? result.value.refused.map(({ refusal }) => refusal.type) : [result.error.refusal.type];

describe("Review of several", () => {
  test("a person clears 100 requests, each seen in full, with one click for each and two for each form", async () => {
    const bench = await createBench();
    const id = await waiting(bench, 100);
    let presses = 1;
    const shown = new Set<string>();
    for (let form: OpenedReview | null = await opened(bench, id); form !== null;) {
      const drawn = JSON.stringify(reviewSeveralModal(form, []));
      for (const { item, nonce } of form.forms) {
        expect(drawn).toContain(nonce);
        shown.add(item.approval.id);
      }
      presses += form.forms.length + 2;
      expect(refusalsOf(await reviewed(bench, form))).toEqual([]);
      form = form.later.length === 0 ? null : await opened(bench, id);
    }
    expect(shown.size).toBe(100);
    expect(presses).toBe(111);
    await bench.clock.pass(60_000);
    expect(new Set(bench.agents.resolved.map(({ approval }) => approval)).size).toBe(100);
    expect(bench.agents.resolved).toHaveLength(100);
    expect(await audited(bench, "decided")).toHaveLength(100);
  });

  test("decides nothing for the requests that are left open, and each of the others by itself", async () => {
    const bench = await createBench();
    const form = await opened(bench, await waiting(bench, 3));
    const [first, second] = form.forms;
    const choices: Choice[] = [
      { nonce: first?.nonce ?? null, verdict: "approve" },
      { nonce: second?.nonce ?? null, verdict: "deny" },
    ];
    expect(refusalsOf(await reviewed(bench, form, choices))).toEqual([]);
    const sent = bench.agents.resolved.map(
      ({ approval, verdict, reason }) => `${approval} ${verdict} ${reason}`,
    );
    expect(sent.toSorted()).toEqual([
      `${first?.item.approval.id} approve fine`,
      `${second?.item.approval.id} deny not today`,
    ]);
    expect((await audited(bench, "decided")).map(({ verdict }) => verdict)).toEqual(["approve", "deny"]);
  });

  test("is safe to submit again, also while Slack is silent: nothing is recorded or sent twice", async () => {
    const bench = await createBench();
    const form = await opened(bench, await waiting(bench, 3));
    await reviewed(bench, form);
    expect(refusalsOf(await reviewed(bench, form))).toEqual([]);
    expect(await audited(bench, "decided")).toHaveLength(3);
    expect(refusalsOf(await reviewed(bench, form, all(form, "deny")))).toEqual(
      Array(3).fill("already-decided"),
    );
    bench.people.before = async () => Promise.reject(failure("timeout"));
    expect(refusalsOf(await reviewed(bench, form))).toEqual([]);
    expect(bench.agents.resolved).toHaveLength(3);
  });

  test("that was recorded before the process died is sent once, and submitting again adds nothing", async () => {
    const bench = await createBench();
    const form = await opened(bench, await waiting(bench, 3));
    bench.agents.answer = () => new Promise(() => undefined);
    await bench.flow.submitReview(BY, form.bundle, all(form, "deny"), REASONS);
    bench.agents.answer = () => Promise.resolve({ type: "confirmed" });
    await bench.restart();
    bench.policy = aPolicy({ reason: { approve: 0, deny: 30 } });
    expect(refusalsOf(await reviewed(bench, form, all(form, "deny")))).toEqual([]);
    await bench.clock.pass(120_000);
    const contents = new Set(
      bench.agents.resolved.map(({ approval, verdict, reason }) => `${approval} ${verdict} ${reason}`),
    );
    expect(contents.size).toBe(3);
    expect(await audited(bench, "decided")).toHaveLength(3);
  });

  test("refuses a request that changed since, and records the others", async () => {
    const bench = await createBench();
    const id = await waiting(bench, 3);
    const form = await opened(bench, id);
    bench.agents.pending.set(id, ["apr_0", { id: "apr_1", content: { action: "drop everything" } }, "apr_2"]);
    const result = await reviewed(bench, form);
    expect(refusalsOf(result)).toEqual(["changed"]);
    expect(bench.agents.resolved.map(({ approval }) => approval).toSorted()).toEqual(["apr_0", "apr_2"]);
    expect((await audited(bench, "refused")).map(({ refusal, approval }) => [refusal, approval])).toEqual([
      ["changed", "apr_1"],
    ]);
  });

  test("judges each request by the current rule", async () => {
    const bench = await createBench();
    const form = await opened(bench, await waiting(bench, 2));
    bench.policy = aPolicy({ friction: { readFirst: false, word: "yes" } });
    expect(refusalsOf(await reviewed(bench, form))).toEqual(["word-needed", "word-needed"]);
    bench.policy = aPolicy({ approvers: { users: [OTHER.user], groups: [], channels: [] } });
    expect(refusalsOf(await reviewed(bench, form))).toEqual(["not-approver", "not-approver"]);
    expect(bench.agents.resolved).toEqual([]);
    expect(await audited(bench, "refused")).toHaveLength(4);
  });

  test("refuses everything while Slack does not say who the person is, with an entry for each request", async () => {
    const bench = await createBench();
    const form = await opened(bench, await waiting(bench, 2));
    await bench.clock.pass(10_000);
    bench.people.before = async () => Promise.reject(failure("timeout"));
    expect(refusalsOf(await reviewed(bench, form))).toEqual(["unverified", "unverified"]);
    expect(await audited(bench, "refused")).toHaveLength(2);
    expect(bench.agents.resolved).toEqual([]);
  });

  test("records nothing while a reason is missing, so that it can be added in the form", async () => {
    const bench = await createBench();
    const form = await opened(bench, await waiting(bench, 2));
    const [first, second] = form.forms;
    const choices: Choice[] = [
      { nonce: first?.nonce ?? null, verdict: "approve" },
      { nonce: second?.nonce ?? null, verdict: "deny" },
    ];
    const result = await bench.flow.submitReview(BY, form.bundle, choices, { approve: "", deny: "\u200b" });
    expect(result).toMatchObject({
      ok: false,
      error: { verdict: "deny", refusal: { type: "reason-needed" } },
    });
    expect(await audited(bench, "decided")).toEqual([]);
    expect((await audited(bench, "refused")).map(({ approval }) => approval)).toEqual([
      second?.item.approval.id,
    ]);
  });

  test("leaves requests with friction, a hold or a file to forms of their own", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ holdMs: 1_000 });
    const form = await opened(bench, await waiting(bench, 2));
    expect([form.forms.length, form.apart.length]).toEqual([0, 2]);
  });

  test("takes fewer requests if people have said much about them", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ needs: 3 });
    const id = await waiting(bench, 20);
    expect((await opened(bench, id)).forms).toHaveLength(20);
    const first = await bench.flow.review.openSeveral(OTHER, "run", await valueFor(bench, id, OTHER));
    if (!first.ok) throw new Error(first.error.refusal.type);
    const reasons = { approve: "漢".repeat(MAX_REASON_CHARS), deny: "" };
    const { bundle } = first.value;
    expect((await bench.flow.submitReview(OTHER, bundle, all(first.value, "approve"), reasons)).ok).toBe(
      true,
    );
    const form = await opened(bench, id);
    expect(form.forms.length).toBeGreaterThan(1);
    expect(form.forms.length + form.later.length).toBe(20);
    expect(form.later.length).toBeGreaterThan(1);
    // docs.slack.dev, views: 250 kB.
    expect(Buffer.byteLength(JSON.stringify(reviewSeveralModal(form, [])))).toBeLessThan(250_000);
  });

  test("leaves a request that would fill the form alone to its own form, and takes those behind it", async () => {
    const bench = await createBench();
    const id = aRunId();
    const long = { id: "apr_0", content: { plan: "x".repeat(45_000) } };
    bench.agents.pending.set(id, [long, "apr_1", "apr_2"]);
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    await bench.clock.pass(1_000);
    const form = await opened(bench, id);
    expect(form.forms.map(({ item }) => item.approval.id)).toEqual(["apr_1", "apr_2"]);
    expect(form.apart.map(({ approval }) => approval.id)).toEqual(["apr_0"]);
    expect(form.later).toEqual([]);
  });

  test("sets frozen requests apart as soon as the freeze is stored, and can only deny them", async () => {
    const bench = await createBench();
    const id = await waiting(bench, 2);
    const frozen = await bench.flow.freeze.freeze({ team: TEAM, user: ADMIN, channel: CHANNEL }, CHANNEL, "");
    expect(frozen).toMatchObject({ ok: true });
    const form = await opened(bench, id);
    expect(form.forms).toEqual([]);
    expect(form.apart.map(({ may, refusal }) => [may, refusal?.type])).toEqual([
      [["deny"], "frozen"],
      [["deny"], "frozen"],
    ]);
  });

  test("that is submitted for a run that is gone is refused, with an entry for each request", async () => {
    const bench = await createBench();
    const form = await opened(bench, await waiting(bench, 2));
    bench.store.load = () => Promise.resolve(null);
    expect(refusalsOf(await reviewed(bench, form))).toEqual(["unknown", "unknown"]);
    expect(await audited(bench, "refused")).toHaveLength(2);
  });

  test("covers the runs of one rule in one channel, with one commit for each run", async () => {
    const bench = await createBench();
    const [id] = [await waiting(bench, 2), await waiting(bench, 1)];
    const value = await valueFor(bench, id, BY, "rule");
    const form = await bench.flow.review.openSeveral(BY, "rule", value);
    if (!form.ok) throw new Error(form.error.refusal.type);
    expect(form.value.forms).toHaveLength(3);
    expect(refusalsOf(await reviewed(bench, form.value))).toEqual([]);
    expect(bench.agents.resolved).toHaveLength(3);
  });
});

describe("a button or form of another person, or a forged one", () => {
  test.for([
    ["of another person", (bench: Bench, id: RunId) => valueFor(bench, id, OTHER)],
    ["of another kind", (bench: Bench, id: RunId) => valueFor(bench, id, BY, "rule")],
    [
      "with a card's nonce alone",
      async (bench: Bench, id: RunId) => (await valueFor(bench, id)).split(".")[0] ?? "",
    ],
    ["with nothing", async () => ""],
    [
      "with a made-up seal",
      async (bench: Bench, id: RunId) => `${(await valueFor(bench, id)).split(".")[0]}.AAAA`,
    ],
  ] as const)("opens nothing: a value %s", async ([, value]) => {
    const bench = await createBench();
    const id = await waiting(bench, 2);
    const result = await bench.flow.review.openSeveral(BY, "run", await value(bench, id));
    expect(result).toMatchObject({ ok: false, error: { refusal: { type: "unknown" } } });
    expect(await audited(bench, "opened")).toEqual([]);
    expect(await audited(bench, "refused")).toHaveLength(1);
  });

  test("decides nothing: the form of another person, of another bundle, or outside its bundle", async () => {
    const bench = await createBench();
    const id = await waiting(bench, 2);
    const [form, second] = [await opened(bench, id), await opened(bench, id)];
    expect(refusalsOf(await reviewed(bench, form, all(form, "approve"), { by: OTHER }))).toEqual([
      "unknown",
      "unknown",
    ]);
    expect(refusalsOf(await reviewed(bench, form, all(second, "approve")))).toEqual(["unknown", "unknown"]);
    expect(refusalsOf(await reviewed(bench, form, [{ nonce: null, verdict: "approve" }]))).toEqual([
      "unknown",
    ]);
    const [first] = form.forms;
    expect(refusalsOf(await reviewed(bench, form, [{ nonce: first?.nonce ?? null, verdict: null }]))).toEqual(
      ["unknown"],
    );
    const alone = await bench.flow.submitDecision(BY, first?.nonce ?? null, "alone", { chosen: "approve" });
    expect(alone).toMatchObject({ ok: false, error: { refusal: { type: "unknown" } } });
    expect(bench.agents.resolved).toEqual([]);
    expect(await audited(bench, "refused")).toHaveLength(7);
  });

  test("decides nothing: the form of one request, submitted as one of several", async () => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    const single = await bench.flow.openForm.open(click, "approve");
    if (!single.ok) throw new Error(single.error.refusal.type);
    const { nonce } = single.value.ticket;
    for (const bundle of [nonce, aNonce()]) {
      const result = await bench.flow.submitReview(
        BY,
        Nonce(bundle),
        [{ nonce, verdict: "approve" }],
        REASONS,
      );
      expect(refusalsOf(result)).toEqual(["unknown"]);
    }
    expect(bench.agents.resolved).toEqual([]);
  });
});

describe("Review of one", () => {
  const review = async (bench: Bench, id: RunId, by = BY) => {
    const [approval] = (await bench.run(id)).approvals;
    return bench.flow.review.open(by, bench.flow.review.valueFor("one", by, approval?.nonce ?? aNonce()));
  };

  test("decides what is chosen, and nothing without a choice", async () => {
    const bench = await createBench();
    const id = await waiting(bench, 1);
    const form = await review(bench, id);
    if (!form.ok) throw new Error(form.error.refusal.type);
    const { nonce } = form.value.ticket;
    const none = await bench.flow.submitDecision(BY, nonce, "why");
    expect(none).toMatchObject({ ok: false, error: { refusal: { type: "verdict-needed" } } });
    expect((await bench.flow.submitDecision(BY, nonce, "why", { chosen: "deny" })).ok).toBe(true);
    await bench.clock.pass(1_000);
    expect(bench.agents.resolved).toMatchObject([{ verdict: "deny", reason: "why" }]);
  });

  test("of several names the reason of their own run, whatever another run with the same ids says", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ needs: 2 });
    await waiting(bench, 1, APPROVER);
    const id = await waiting(bench, 1);
    const form = await review(bench, id);
    if (!form.ok) throw new Error(form.error.refusal.type);
    await bench.flow.submitDecision(BY, form.value.ticket.nonce, "", { chosen: "approve" });
    const value = await valueFor(bench, id);
    const refused = await bench.flow.review.openSeveral(BY, "run", value);
    expect(refused).toMatchObject({ ok: false, error: { refusal: { type: "already-voted" } } });
  });

  test("is refused to the requester, and offers only the denial to someone who has approved", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ needs: 2 });
    const id = await waiting(bench, 1);
    const own = await review(bench, id, { team: TEAM, user: REQUESTER });
    expect(own).toMatchObject({ ok: false, error: { refusal: { type: "requester" } } });
    const form = await review(bench, id);
    if (!form.ok) throw new Error(form.error.refusal.type);
    expect((await bench.flow.submitDecision(BY, form.value.ticket.nonce, "", { chosen: "approve" })).ok).toBe(
      true,
    );
    const again = await review(bench, id);
    expect(again).toMatchObject({ ok: true, value: { ticket: { verdict: "deny" } } });
    expect(again.ok && again.value.ticket.choice).toBeUndefined();
  });

  test("ignores a verdict in the submit of a form that was opened for the other verdict", async () => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    const form = await bench.flow.openForm.open({ ...click, ts: MessageTs(click.ts) }, "deny");
    if (!form.ok) throw new Error(form.error.refusal.type);
    await bench.flow.submitDecision(BY, form.value.ticket.nonce, "no", { chosen: "approve" });
    await bench.clock.pass(1_000);
    expect(bench.agents.resolved).toMatchObject([{ verdict: "deny" }]);
  });

  test("lists requests as waiting for others while Slack does not say who the reader is, or their groups", async () => {
    const bench = await createBench();
    await waiting(bench, 1);
    bench.policy = aPolicy({ approvers: { users: [], groups: ["S0OPS" as never], channels: [] } });
    bench.people.memberOf = async () => Promise.reject(failure("timeout"));
    const without = await bench.flow.queries.pending(BY, CHANNEL);
    expect([without.yours.length, without.others.map(({ refusal }) => refusal?.type)]).toEqual([
      0,
      ["unverified"],
    ]);
    bench.people.lookUp = async () => Promise.reject(failure("timeout"));
    const unknown = await bench.flow.queries.pending(BY, CHANNEL);
    expect([unknown.yours.length, unknown.others.map(({ refusal }) => refusal?.type)]).toEqual([
      0,
      ["unverified"],
    ]);
  });
});
