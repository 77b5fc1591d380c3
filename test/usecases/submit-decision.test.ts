// From a click on a card to a stored decision: every refusal, and what is stored.

import { describe, expect, test } from "vitest";
import type { Person } from "#src/domain/authorization.ts";
import { ChannelId, MessageTs, TeamId, UserId } from "#src/domain/ids.ts";
import { SUBMIT_AGE_MS } from "#src/engine/fresh-facts.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { SUBMIT_LOOK_MS } from "#src/usecases/record-decisions.ts";
import { type Bench, clickOn, createBench, failure } from "../make/bot.ts";
import { aNonce, APPROVER, REQUESTER, TEAM } from "../make/run.ts";

const shown = (): Promise<boolean> => Promise.resolve(true);
const BY = { team: TEAM, user: APPROVER };
const SECOND = UserId("U0SECOND");

async function opened(bench: Bench, user = APPROVER) {
  const card = await bench.withCard();
  return { ...card, nonce: await modal(bench, { ...card.click, user }) };
}

async function modal({ flow }: Bench, click: Click, verdict: "approve" | "deny" = "approve") {
  const result = await flow.openForm.open(click, verdict);
  if (!result.ok) throw new Error(`no modal: ${result.error.refusal.type}`);
  return result.value.ticket.nonce;
}

describe("a click on a card", () => {
  test.for<[string, Partial<Person>, string]>([
    ["a guest", { kind: "guest" }, "guest"],
    ["a person of another organization", { kind: "outsider" }, "outsider"],
    ["a bot", { kind: "bot" }, "bot"],
    ["a deactivated person", { kind: "deactivated" }, "deactivated"],
    ["someone who cannot see the channel", { seesChannel: false }, "not-in-channel"],
  ])("by %s opens nothing", async ([, facts, because]) => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    bench.people.facts = facts;
    expect(await bench.flow.openForm.open(click, "approve")).toMatchObject({
      error: { refusal: { type: because } },
    });
    expect(bench.refusals).toEqual([because]);
  });

  test("by the requester opens nothing", async () => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    const result = await bench.flow.openForm.open({ ...click, user: REQUESTER }, "approve");
    expect(result).toMatchObject({ ok: false, error: { refusal: { type: "requester" } } });
  });

  test("opens nothing if Slack does not say who clicks", async () => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    bench.people.before = () => Promise.reject(failure("timeout"));
    const result = await bench.flow.openForm.open(click, "approve");
    expect(result).toMatchObject({ ok: false, error: { refusal: { type: "unverified" } } });
  });

  test.for<[string, Partial<Click>]>([
    ["with a nonce that nobody made", { nonce: aNonce() }],
    ["under another message", { ts: MessageTs("1699999999.000001") }],
    ["in another channel", { channel: ChannelId("C0OTHER") }],
    ["in another team", { team: TeamId("T0OTHER") }],
  ])("%s opens nothing, neither to decide nor to read", async ([, facts]) => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    const unknown = { ok: false, error: { refusal: { type: "unknown" }, run: null } };
    expect(await bench.flow.openForm.open({ ...click, ...facts }, "approve")).toMatchObject(unknown);
    expect(await bench.flow.openForm.read({ ...click, ...facts }, shown)).toMatchObject(unknown);
  });

  test("on a replaced version says that the request changed", async () => {
    const bench = await createBench();
    const { id, click } = await bench.withCard();
    bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "delete everything" } }]);
    await bench.clock.pass(20_000);
    const result = await bench.flow.openForm.open(click, "approve");
    expect(result).toMatchObject({ ok: false, error: { refusal: { type: "changed" } } });
  });

  test("twice opens two modals, and both may be submitted: the first decides", async () => {
    const bench = await createBench();
    const { click, nonce } = await opened(bench);
    const again = await modal(bench, click, "deny");
    expect(await bench.flow.submitDecision(BY, nonce, "first")).toMatchObject({ ok: true });
    expect(await bench.flow.submitDecision(BY, again, "second")).toMatchObject({
      error: { refusal: { type: "already-decided", decision: { reason: "first" } } },
    });
  });
});

describe("a submitted modal", () => {
  test("is stored before it is answered, and reaches the service byte for byte", async () => {
    const bench = await createBench();
    const { id, nonce } = await opened(bench);
    const reason = " because\n‮ \u{1F600} ";
    const result = await bench.flow.submitDecision(BY, nonce, reason);
    expect(result.ok).toBe(true);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ decision: { reason, by: BY } });
    await bench.clock.pass(1_000);
    expect(bench.agents.resolved).toEqual([{ approval: "apr_1", verdict: "approve", reason }]);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "confirmed" } });
  });

  test("survives a restart between the click and the submit, and another between the submit and the send", async () => {
    const bench = await createBench();
    const { id, nonce } = await opened(bench);
    await bench.restart();
    let release = (): void => undefined;
    bench.agents.beforeLook = async (_id, timeoutMs) => {
      if (timeoutMs === undefined) await new Promise<void>((resolve) => (release = resolve));
    };
    expect(await bench.flow.submitDecision(BY, nonce, "")).toMatchObject({ ok: true });
    await bench.clock.rest();
    expect(bench.agents.resolved).toEqual([]);
    bench.agents.beforeLook = () => Promise.resolve();
    await bench.restart();
    release();
    await bench.clock.pass(1_000);
    expect(bench.agents.resolved).toHaveLength(1);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "confirmed" } });
  });

  test.for<[string, { team?: TeamId; user?: UserId }]>([
    ["another person", { user: SECOND }],
    ["the same id of another team", { team: TeamId("T0OTHER") }],
  ])("submitted by %s is refused as unknown", async ([, facts]) => {
    const bench = await createBench();
    const { id, nonce } = await opened(bench);
    const result = await bench.flow.submitDecision({ ...BY, ...facts }, nonce, "");
    expect(result).toMatchObject({ ok: false, error: { refusal: { type: "unknown" } } });
    expect((await bench.run(id)).approvals[0]?.state.type).toBe("pending");
  });

  test("from a person who lost the right since the click is refused, on facts at most 5 s old", async () => {
    const bench = await createBench();
    const { nonce } = await opened(bench);
    const ages: number[] = [];
    bench.people.before = (maxAgeMs) => Promise.resolve(void ages.push(maxAgeMs));
    bench.people.facts = { kind: "deactivated" };
    const result = await bench.flow.submitDecision(BY, nonce, "");
    expect(result).toMatchObject({ ok: false, error: { refusal: { type: "deactivated" } } });
    expect(ages).toEqual([SUBMIT_AGE_MS]);
    expect(SUBMIT_AGE_MS).toBeLessThanOrEqual(5_000);
  });

  test("is not taken when Slack does not say who submits, and may be submitted again", async () => {
    const bench = await createBench();
    const { nonce } = await opened(bench);
    bench.people.before = () => Promise.reject(failure("timeout"));
    const refused = await bench.flow.submitDecision(BY, nonce, "");
    expect(refused).toMatchObject({ ok: false, error: { refusal: { type: "unverified" } } });
    bench.people.before = () => Promise.resolve();
    expect(await bench.flow.submitDecision(BY, nonce, "")).toMatchObject({ ok: true });
  });

  test("that repeats a recorded decision succeeds while Slack does not say who submits", async () => {
    const bench = await createBench();
    const { nonce } = await opened(bench);
    expect(await bench.flow.submitDecision(BY, nonce, "fine")).toMatchObject({ ok: true });
    await bench.clock.pass(SUBMIT_AGE_MS * 2);
    bench.people.before = () => Promise.reject(failure("timeout"));
    expect(await bench.flow.submitDecision(BY, nonce, "fine")).toMatchObject({ ok: true });
    const other = await bench.flow.submitDecision(BY, nonce, "another reason");
    expect(other).toMatchObject({ ok: false, error: { refusal: { type: "unverified" } } });
    expect(bench.agents.resolved).toHaveLength(1);
  });

  test("shows what changed while it was open, and sends nothing", async () => {
    const bench = await createBench();
    const { id, nonce } = await opened(bench);
    bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "delete everything" } }]);
    expect(await bench.flow.submitDecision(BY, nonce, "")).toMatchObject({
      error: {
        refusal: {
          type: "changed",
          was: { content: { action: "delete it" } },
          now: { content: { action: "delete everything" } },
        },
      },
    });
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(clickOn(await bench.run(id)).click.nonce).not.toBe(nonce);
  });

  test("for an approval that is gone is refused", async () => {
    const bench = await createBench();
    const { id, nonce } = await opened(bench);
    bench.agents.pending.set(id, []);
    await bench.clock.pass(15_000);
    const result = await bench.flow.submitDecision(BY, nonce, "");
    expect(result).toMatchObject({ ok: false, error: { refusal: { type: "closed" } } });
  });

  test("for an approval that is briefly not listed waits, and is sent when it is listed again", async () => {
    const bench = await createBench();
    const { id, nonce } = await opened(bench);
    bench.agents.pending.set(id, []);
    expect(await bench.flow.submitDecision(BY, nonce, "")).toMatchObject({ ok: true });
    await bench.clock.pass(4_000);
    expect(bench.agents.resolved).toEqual([]);
    bench.agents.pending.set(id, ["apr_1"]);
    await bench.clock.pass(4_000);
    expect(bench.agents.resolved).toHaveLength(1);
    expect(bench.chat.told).toEqual([]);
  });

  test("for an approval that was resolved elsewhere meanwhile is void, and its approver is notified", async () => {
    const bench = await createBench();
    const { id, nonce } = await opened(bench);
    bench.agents.pending.set(id, []);
    expect(await bench.flow.submitDecision(BY, nonce, "")).toMatchObject({ ok: true });
    await bench.clock.pass(20_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(bench.chat.told).toMatchObject([{ says: { type: "decision-void", cause: "no-longer-listed" } }]);
  });

  test.for(["rejects", "says 404", "does not list what is pending"])(
    "is stored even if the service %s: the look is best effort, with a limit of 1.5 s",
    async (way) => {
      const bench = await createBench();
      const { id, nonce } = await opened(bench);
      if (way === "rejects") bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
      if (way === "says 404") bench.agents.statuses.set(id, "missing");
      if (way === "does not list what is pending") bench.agents.untold.add(id);
      bench.agents.looks.length = 0;
      expect(await bench.flow.submitDecision(BY, nonce, "")).toMatchObject({ ok: true });
      expect(bench.agents.looks[0]?.timeoutMs).toBe(SUBMIT_LOOK_MS);
    },
  );

  test("does not wait for a look beyond its limit", async () => {
    const bench = await createBench();
    const { nonce } = await opened(bench);
    bench.agents.beforeLook = (_id, timeoutMs) =>
      new Promise(
        (_, reject) => void bench.clock.after(timeoutMs ?? 10_000, () => reject(failure("timeout"))),
      );
    const result = bench.flow.submitDecision(BY, nonce, "");
    await bench.clock.pass(SUBMIT_LOOK_MS);
    expect(await result).toMatchObject({ ok: true });
  });

  test("that denies without a reason is refused, and may be submitted again", async () => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    const nonce = await modal(bench, click, "deny");
    const refused = await bench.flow.submitDecision(BY, nonce, "\u200B \n");
    expect(refused).toMatchObject({ ok: false, error: { refusal: { type: "reason-needed" } } });
    expect(await bench.flow.submitDecision(BY, nonce, "too risky")).toMatchObject({ ok: true });
  });

  test("twice at once records one decision; the other answer says whose it is", async () => {
    const bench = await createBench();
    const { nonce } = await opened(bench);
    const answers = await Promise.all(
      ["a", "b", "c"].map((reason) => bench.flow.submitDecision(BY, nonce, reason)),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    await bench.clock.pass(1_000);
    expect(bench.agents.resolved).toHaveLength(1);
  });

  test("from two people at once: the first wins, and the other is told so", async () => {
    const bench = await createBench();
    const { id, click, nonce } = await opened(bench);
    const other = await modal(bench, { ...click, user: SECOND }, "deny");
    const [first, second] = await Promise.all([
      bench.flow.submitDecision(BY, nonce, "go"),
      bench.flow.submitDecision({ ...BY, user: SECOND }, other, "no"),
    ]);
    expect([first.ok, second.ok]).toEqual([true, false]);
    expect(second).toMatchObject({
      error: { refusal: { type: "already-decided", decision: { by: BY } } },
    });
    await bench.clock.pass(5_000);
    expect(bench.agents.resolved).toEqual([{ approval: "apr_1", verdict: "approve", reason: "go" }]);
    expect((await bench.run(id)).approvals[0]?.past).toEqual([]);
  });
});
