// A question to the requester, from the click to the answer, and its effect on the clocks.

import { describe, expect, test } from "vitest";
import type { Approval } from "#src/domain/approval.ts";
import { endsAt } from "#src/domain/applied-rule.ts";
import { MessageTs, type Nonce, UserId } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { MAX_QUESTIONS, questionSlot, questionsOf } from "#src/domain/question.ts";
import { OPENING } from "#src/domain/slot.ts";
import type { ThreadMessage } from "#src/usecases/ask-requester.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, aRun, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const MINUTE = 60_000;
const CLEO = UserId("U0CLEO");
const RULE = { expiry: { afterMs: 30 * MINUTE, outcome: "nothing" }, followUp: NO_FOLLOW_UP } as const;
const who = (user: UserId) => ({ team: TEAM, user });

type Card = Awaited<ReturnType<Bench["withCard"]>>;

async function ready(): Promise<{ bench: Bench; card: Card }> {
  const bench = await createBench();
  bench.policy = aPolicy(RULE);
  return { bench, card: await bench.withCard() };
}

async function asked(bench: Bench, card: Card, text = "Is there a back-up?"): Promise<Nonce> {
  const button = (await first(bench, card)).nonce;
  const opened = await bench.flow.askRequester.open({ ...card.click, nonce: button });
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  const { nonce } = opened.value.ticket;
  const done = await bench.flow.askRequester.ask(who(APPROVER), nonce, text);
  if (!done.ok) throw new Error(done.error.refusal.type);
  await bench.clock.pass(1_000);
  return nonce;
}

const first = async (bench: Bench, { id }: Card): Promise<Approval> => {
  const [approval] = (await bench.run(id)).approvals;
  if (approval === undefined) throw new Error("no approval");
  return approval;
};

/** A click on Answer, below this question. */
async function answerClick(bench: Bench, card: Card, question: Nonce, user = REQUESTER): Promise<Click> {
  const post = (await bench.run(card.id)).posts[questionSlot(question)];
  if (post?.type !== "up") throw new Error("the question is not posted");
  return { ...card.click, user, ts: post.ts };
}

async function threadOf(bench: Bench, { id }: Card) {
  const post = (await bench.run(id)).posts[OPENING];
  if (post?.type !== "up") throw new Error("no thread");
  return { team: TEAM, user: REQUESTER, channel: CHANNEL, thread: post.ts, ts: MessageTs("5.000100") };
}

async function changeRequest(bench: Bench, { id }: Card, action: string): Promise<void> {
  bench.agents.pending.set(id, [{ id: "apr_1", content: { action } }]);
  await bench.clock.pass(60_000);
}

const entries = async ({ store }: Bench): Promise<readonly string[]> =>
  (await store.auditAfter(0, ["asked", "answered", "refused"], 100)).map(
    ({ entry: { what, step, refusal, by } }) =>
      what === "refused" ? `refused ${step}: ${refusal}` : `${what} ${by?.user}`,
  );

describe("a question", () => {
  test("is asked by a form, which then refuses another one", async () => {
    const { bench, card } = await ready();
    const nonce = await asked(bench, card, "Why?");
    expect(await bench.flow.askRequester.ask(who(APPROVER), nonce, "Is it safe?")).toMatchObject({
      error: { refusal: { type: "form-used", did: "asked" } },
    });
    expect(questionsOf(await first(bench, card))).toMatchObject([{ text: "Why?" }]);
  });

  test("is posted once, and its text is in the audit by digest and can be erased", async () => {
    const { bench, card } = await ready();
    const nonce = await asked(bench, card);
    await bench.flow.askRequester.ask(who(APPROVER), nonce, "Is there a back-up?");
    await bench.clock.pass(1_000);
    expect(bench.chat.posts.filter(({ slot }) => slot === questionSlot(nonce))).toHaveLength(1);
    expect(questionsOf(await first(bench, card))).toMatchObject([{ by: APPROVER }]);
    const [kept] = await bench.store.auditAfter(0, ["asked"], 10);
    expect(kept?.entry.reason).toBeNull();
    expect(await bench.store.auditText(kept?.entry.digest ?? "")).toBe("Is there a back-up?");
    expect(await entries(bench)).toEqual([`asked ${APPROVER}`]);
  });

  test("stops the clock until the answer, or for as long as the rule says", async () => {
    const { bench, card } = await ready();
    const before = endsAt(await first(bench, card)) ?? 0;
    await bench.clock.pass(10 * MINUTE);
    const question = await asked(bench, card);
    expect(endsAt(await first(bench, card))).toBe(before + NO_FOLLOW_UP.questionMs);
    await bench.clock.pass(5 * MINUTE);
    const opened = await bench.flow.askRequester.openAnswer(await answerClick(bench, card, question));
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.askRequester.answer(who(REQUESTER), opened.value.ticket.nonce, "Yes");
    expect((endsAt(await first(bench, card)) ?? 0) - before).toBeCloseTo(5 * MINUTE, -4);
    await bench.clock.pass(40 * MINUTE);
    expect((await first(bench, card)).state).toMatchObject({ type: "closed", cause: "expired" });
    expect(bench.agents.resolved).toEqual([]);
  });

  test("changes neither the request nor who may decide it", async () => {
    const { bench, card } = await ready();
    const { request, version, nonce } = await first(bench, card);
    await asked(bench, card);
    expect(await first(bench, card)).toMatchObject({ request, version, nonce });
    const opened = await bench.flow.openForm.open(card.click, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.submitDecision(who(APPROVER), opened.value.ticket.nonce, "fine");
    await bench.clock.pass(1_000);
    expect(bench.agents.resolved).toEqual([{ approval: card.approval, verdict: "approve", reason: "fine" }]);
  });

  test("may be asked at most ten times, by people who may approve, and needs a text", async () => {
    const { bench, card } = await ready();
    expect(await bench.flow.askRequester.open({ ...card.click, user: REQUESTER })).toMatchObject({
      error: { refusal: { type: "requester" } },
    });
    const opened = await bench.flow.askRequester.open(card.click);
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    expect(
      await bench.flow.askRequester.ask(who(APPROVER), opened.value.ticket.nonce, " \u200b "),
    ).toMatchObject({ error: { refusal: { type: "text-needed" } } });
    for (let at = 0; at < MAX_QUESTIONS; at += 1) await asked(bench, card, `question ${at}`);
    expect(await bench.flow.askRequester.open(card.click)).toMatchObject({
      error: { refusal: { type: "too-many-questions" } },
    });
  });

  test("has a form that decides nothing, and a form to decide asks nothing", async () => {
    const { bench, card } = await ready();
    const opened = await bench.flow.askRequester.open(card.click);
    const decides = await bench.flow.openForm.open(card.click, "approve");
    if (!opened.ok || !decides.ok) throw new Error("not opened");
    const unknown = { error: { refusal: { type: "unknown" } } };
    const by = who(APPROVER);
    expect(await bench.flow.submitDecision(by, opened.value.ticket.nonce, "ok")).toMatchObject(unknown);
    expect(await bench.flow.askRequester.ask(by, decides.value.ticket.nonce, "why?")).toMatchObject(unknown);
    expect(await bench.flow.askRequester.ask(who(CLEO), opened.value.ticket.nonce, "why?")).toMatchObject(
      unknown,
    );
    expect(await bench.flow.claimRequest.handOver(by, opened.value.ticket.nonce, CLEO)).toMatchObject(
      unknown,
    );
    expect(questionsOf(await first(bench, card))).toEqual([]);
  });
});

describe("an answer", () => {
  test("is accepted only from the requester, below the question, once", async () => {
    const { bench, card } = await ready();
    const question = await asked(bench, card);
    const { askRequester } = bench.flow;
    expect(await askRequester.openAnswer(await answerClick(bench, card, question, CLEO))).toMatchObject({
      error: { refusal: { type: "not-asked" } },
    });
    expect(await askRequester.openAnswer({ ...card.click, user: REQUESTER })).toMatchObject({
      error: { refusal: { type: "unknown" } },
    });
    const opened = await askRequester.openAnswer(await answerClick(bench, card, question));
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    const { nonce } = opened.value.ticket;
    await askRequester.answer(who(REQUESTER), nonce, "Yes");
    expect(await askRequester.answer(who(REQUESTER), nonce, "Yes")).toMatchObject({ ok: true });
    expect(await askRequester.answer(who(REQUESTER), nonce, "No")).toMatchObject({
      error: { refusal: { type: "answered-before" } },
    });
    expect(questionsOf(await first(bench, card))).toMatchObject([{ answer: { by: REQUESTER, text: "Yes" } }]);
    expect(await entries(bench)).toEqual([
      `asked ${APPROVER}`,
      "refused answer: not-asked",
      "refused answer: unknown",
      `answered ${REQUESTER}`,
      "refused answer: answered-before",
    ]);
  });

  test("may be a message in the thread that mentions Countersign, also when Slack delivers it twice", async () => {
    const { bench, card } = await ready();
    await asked(bench, card);
    const thread = await threadOf(bench, card);
    const answerInThread = (message: ThreadMessage) => bench.flow.askRequester.answerInThread(message);
    expect(await answerInThread({ ...thread, text: "Yes", user: CLEO })).toBeNull();
    expect(await answerInThread({ ...thread, text: "Yes", thread: MessageTs("1.0") })).toBeNull();
    expect(await answerInThread({ ...thread, text: " " })).toMatchObject({
      error: { refusal: { type: "text-needed" } },
    });
    expect(await answerInThread({ ...thread, text: "Yes" })).toMatchObject({ ok: true });
    expect(await answerInThread({ ...thread, text: "Yes" })).toMatchObject({ ok: true });
    expect(questionsOf(await first(bench, card))).toMatchObject([{ answer: { text: "Yes" } }]);
    expect(await answerInThread({ ...thread, text: "deploy it again" })).toBeNull();
  });

  test("is recognized in the thread of a run that has many newer ones", async () => {
    const { bench, card } = await ready();
    await asked(bench, card);
    const thread = await threadOf(bench, card);
    const askedAt = bench.clock.now() + 1_000;
    for (let at = 0; at <= 100; at += 1)
      await bench.store.insert(aRun({ askedAt: askedAt + at }), { audit: [] });
    expect(await bench.flow.askRequester.answerInThread({ ...thread, text: "Yes" })).toMatchObject({
      ok: true,
    });
    expect(questionsOf(await first(bench, card))).toMatchObject([{ answer: { text: "Yes" } }]);
  });

  test("with the same words as an earlier one answers the next question, but a redelivery of the earlier one does not", async () => {
    const { bench, card } = await ready();
    await asked(bench, card);
    const message = { ...(await threadOf(bench, card)), text: "Yes" };
    const answerInThread = (of: ThreadMessage) => bench.flow.askRequester.answerInThread(of);
    expect(await answerInThread(message)).toMatchObject({ ok: true });
    await asked(bench, card, "Is someone on call?");
    expect(await answerInThread(message)).toMatchObject({ ok: true });
    expect(questionsOf(await first(bench, card))[1]?.answer).toBeUndefined();
    const next = { ...message, ts: MessageTs("6.000100") };
    for (const _twice of [1, 2]) expect(await answerInThread(next)).toMatchObject({ ok: true });
    expect(questionsOf(await first(bench, card))[1]?.answer).toMatchObject({ text: "Yes" });
    expect(await answerInThread({ ...message, ts: MessageTs("7.000100") })).toMatchObject({ ok: true });
    expect((await entries(bench)).filter((each) => each.startsWith("answered"))).toHaveLength(2);
  });

  test("in the thread after the decision is refused, and does not start a run", async () => {
    const { bench, card } = await ready();
    await asked(bench, card);
    const opened = await bench.flow.openForm.open(card.click, "deny");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.submitDecision(who(APPROVER), opened.value.ticket.nonce, "too late");
    await bench.clock.pass(1_000);
    const message = { ...(await threadOf(bench, card)), text: "Yes, there is one" };
    expect(await bench.flow.askRequester.answerInThread(message)).toMatchObject({
      error: { refusal: { type: "already-decided" } },
    });
    expect(await entries(bench)).toContain("refused answer: already-decided");
  });

  test("in the thread after the request changed is refused in the audit, and does not start a run", async () => {
    const { bench, card } = await ready();
    const message = { ...(await threadOf(bench, card)), text: "I changed it to 4" };
    expect(await bench.flow.askRequester.answerInThread(message)).toBeNull();
    await asked(bench, card);
    await changeRequest(bench, card, "scale to 4");
    const { askRequester } = bench.flow;
    expect(await askRequester.answerInThread(message)).toMatchObject({
      error: { refusal: { type: "unknown" } },
    });
    expect(await askRequester.answerInThread({ ...message, user: CLEO })).toBeNull();
    expect(await entries(bench)).toEqual([`asked ${APPROVER}`, "refused answer: unknown"]);
  });

  test("that is recorded leaves no question open when the request changes, so a later message in the thread is no answer", async () => {
    const { bench, card } = await ready();
    await asked(bench, card);
    const answerInThread = (of: ThreadMessage) => bench.flow.askRequester.answerInThread(of);
    const message = await threadOf(bench, card);
    expect(await answerInThread({ ...message, text: "I change it to 4" })).toMatchObject({ ok: true });
    await changeRequest(bench, card, "scale to 4");
    await changeRequest(bench, card, "scale to 5");
    const next = { ...message, ts: MessageTs("6.000100"), text: "deploy to eu" };
    expect(await answerInThread(next)).toBeNull();
    await asked(bench, card);
    await changeRequest(bench, card, "scale to 6");
    expect(await answerInThread(next)).toMatchObject({ error: { refusal: { type: "unknown" } } });
  });

  test("that is sent again as another message after the request changed is the same answer, and does not start a run", async () => {
    const { bench, card } = await ready();
    await asked(bench, card);
    const first = { ...(await threadOf(bench, card)), text: "Scale it to 4" };
    const again = { ...first, ts: MessageTs("6.000100") };
    const answerInThread = (of: ThreadMessage) => bench.flow.askRequester.answerInThread(of);
    expect(await answerInThread(first)).toMatchObject({ ok: true });
    await changeRequest(bench, card, "scale to 4");
    expect(await answerInThread(again)).toBe("answered-before-change");
    expect(await answerInThread({ ...again, text: "Scale it to 5" })).toBeNull();
    await asked(bench, card, "Are you sure?");
    await changeRequest(bench, card, "scale to 5");
    expect(await answerInThread(again)).toMatchObject({ error: { refusal: { type: "unknown" } } });
  });

  test("that Slack delivers again after the request changed is still recorded, and answers no question about the new request", async () => {
    const { bench, card } = await ready();
    await asked(bench, card);
    const message = { ...(await threadOf(bench, card)), text: "Yes" };
    await bench.flow.askRequester.answerInThread(message);
    await changeRequest(bench, card, "scale to 4");
    expect(await bench.flow.askRequester.answerInThread(message)).toBe("answered-before-change");
    await asked(bench, card, "Are you sure?");
    expect(await bench.flow.askRequester.answerInThread(message)).toBe("answered-before-change");
    expect(questionsOf(await first(bench, card))[0]?.answer).toBeUndefined();
  });

  test("in the thread counts for one open question only, so with two it is refused", async () => {
    const { bench, card } = await ready();
    await asked(bench, card);
    await asked(bench, card, "And who is on call?");
    const thread = await threadOf(bench, card);
    expect(await bench.flow.askRequester.answerInThread({ ...thread, text: "Yes" })).toBe("several");
    expect(questionsOf(await first(bench, card)).every(({ answer }) => answer === undefined)).toBe(true);
  });
});
