// How effects are carried out: only if still wanted, after a look and a mark, performed once, and stored whatever it
// takes.

import { describe, expect, test } from "vitest";
import { ALONE, SHARED } from "#src/engine/lease-keeper.ts";
import type { DecisionAnswer } from "#src/ports.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { APPROVER, CHANNEL, aRunId, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER };

/** Decides an approval. It leaves at once unless something holds it back. */
async function decided(bench: Bench, reason = "go") {
  const card = await bench.withCard();
  const opened = await bench.flow.openForm.open(card.click, "approve");
  if (!opened.ok) throw new Error("no modal");
  const result = await bench.flow.submitDecision(BY, opened.value.ticket.nonce, reason);
  if (!result.ok) throw new Error("refused");
  return card;
}
const delivery = async (bench: Bench, id: Parameters<Bench["run"]>[0]) => {
  const state = (await bench.run(id)).approvals[0]?.state;
  return state?.type === "decided" ? state.delivery.type : state?.type;
};

describe("a message", () => {
  test("that is no longer wanted when its turn comes is not posted", async () => {
    const bench = await createBench();
    const id = aRunId();
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    await bench.clock.pass(1_000);
    const turns: (() => void)[] = [];
    bench.chat.waitForTurn = () => new Promise((resolve) => void turns.push(resolve));
    bench.agents.pending.set(id, ["apr_1"]);
    await bench.clock.pass(2_000);
    bench.agents.pending.set(id, []);
    await bench.clock.pass(15_000);
    for (const turn of turns) turn();
    bench.chat.waitForTurn = () => Promise.resolve();
    await bench.clock.pass(5_000);
    expect(bench.chat.posts.map(({ slot }) => slot)).toEqual(["opening"]);
  });

  test("shows the run as it is when its turn comes", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    const turns: (() => void)[] = [];
    const drawn: string[] = [];
    bench.chat.waitForTurn = () => new Promise((resolve) => void turns.push(resolve));
    bench.chat.update = (run, slot) => {
      if (slot === "opening") drawn.push(run.seen?.status ?? "");
      return Promise.resolve("updated");
    };
    for (const status of ["one", "two", "three"]) {
      bench.agents.statuses.set(id, status);
      await bench.clock.pass(2_000);
    }
    bench.chat.waitForTurn = () => Promise.resolve();
    for (const turn of turns) turn();
    await bench.clock.pass(2_000);
    expect(drawn).toEqual(["three"]);
  });

  test("whose answer was lost is looked for, and not posted again if it is there", async () => {
    const bench = await createBench();
    const post = bench.chat.post.bind(bench.chat);
    let lost = 0;
    bench.chat.post = async (run, slot) => {
      const ts = await post(run, slot);
      lost += 1;
      if (lost === 2) throw failure("timeout", { applied: "maybe" });
      return ts;
    };
    const id = aRunId();
    bench.agents.pending.set(id, ["apr_1"]);
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    await bench.clock.pass(60_000);
    expect(bench.chat.posts.map(({ slot }) => slot)).toEqual(["opening", "card apr_1"]);
    expect((await bench.run(id)).posts["card apr_1"]).toMatchObject({
      type: "up",
      ts: bench.chat.posts[1]?.ts,
    });
  });
});

describe("a decision", () => {
  test("is sent right after a look, with the full time limit", async () => {
    const bench = await createBench();
    const order: string[] = [];
    bench.agents.beforeLook = (_id, timeoutMs) =>
      Promise.resolve(void order.push(`look ${timeoutMs ?? "full"}`));
    bench.agents.answer = () => {
      order.push("sent");
      return Promise.resolve({ type: "confirmed" });
    };
    await decided(bench);
    await bench.clock.rest();
    expect(order.slice(0, order.indexOf("sent") + 1).slice(-2)).toEqual(["look full", "sent"]);
  });

  test("is void if that look shows a change: nothing is sent, and the approver is notified once", async () => {
    const bench = await createBench();
    bench.agents.beforeLook = (id, timeoutMs) => {
      const content = { action: "delete everything" };
      if (timeoutMs === undefined && bench.agents.looks.some((fetched) => fetched.timeoutMs !== undefined))
        bench.agents.pending.set(id, [{ id: "apr_1", content }]);
      return Promise.resolve();
    };
    const { id } = await decided(bench);
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(bench.chat.told).toMatchObject([
      { to: APPROVER, says: { type: "decision-void", cause: "request-changed" } },
    ]);
    expect((await bench.run(id)).approvals[0]).toMatchObject({ state: { type: "pending" }, version: 2 });
  });

  test("waits while that look fails, and is sent when it succeeds", async () => {
    const bench = await createBench();
    let down = false;
    bench.agents.beforeLook = (_id, timeoutMs) =>
      down && timeoutMs === undefined
        ? Promise.reject(failure("http_503", { applied: "maybe" }))
        : Promise.resolve();
    const { click, id } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "deny");
    down = true;
    if (opened.ok) await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "no");
    await bench.clock.pass(20_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(await delivery(bench, id)).toBe("retry");
    down = false;
    await bench.clock.pass(30_000);
    expect(bench.agents.resolved).toEqual([{ approval: "apr_1", verdict: "deny", reason: "no" }]);
    expect(await delivery(bench, id)).toBe("confirmed");
  });

  test("waits while the run is unknown for 2.5 s and is sent once; no one is told otherwise", async () => {
    const bench = await createBench();
    const { click, id } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error("no modal");
    bench.agents.statuses.set(id, "missing");
    expect(await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go")).toMatchObject({ ok: true });
    await bench.clock.pass(2_500);
    expect(bench.agents.resolved).toEqual([]);
    bench.agents.statuses.delete(id);
    await bench.clock.pass(6_000);
    expect(bench.agents.resolved).toHaveLength(1);
    expect(await delivery(bench, id)).toBe("confirmed");
    expect(bench.chat.told).toEqual([]);
  });

  test("is not sent while the service says that it awaits approval, but not of what", async () => {
    const bench = await createBench();
    const { click, id } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error("no modal");
    bench.agents.untold.add(id);
    expect(await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go")).toMatchObject({ ok: true });
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toEqual([]);
    bench.agents.untold.delete(id);
    await bench.clock.pass(20_000);
    expect(bench.agents.resolved).toHaveLength(1);
  });

  test("whose answer was lost is sent again unchanged, only if it is still listed well after that", async () => {
    const bench = await createBench();
    const answers: DecisionAnswer[] = [{ type: "unsure", why: "timeout" }];
    bench.agents.answer = () => Promise.resolve(answers.shift() ?? { type: "confirmed" });
    const { id } = await decided(bench);
    await bench.clock.pass(4_500);
    expect(bench.agents.resolved).toHaveLength(1);
    await bench.clock.pass(15_000);
    expect(bench.agents.resolved).toHaveLength(2);
    expect(bench.agents.resolved[1]).toEqual(bench.agents.resolved[0]);
    expect(await delivery(bench, id)).toBe("confirmed");
  });

  test("that was under way when the process died is not sent again if it is no longer listed", async () => {
    const bench = await createBench();
    bench.agents.answer = () => new Promise(() => undefined);
    const { id } = await decided(bench);
    await bench.clock.rest();
    expect(bench.agents.resolved).toHaveLength(1);
    bench.agents.pending.set(id, []);
    await bench.restart();
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toHaveLength(1);
    expect(await delivery(bench, id)).toBe("unconfirmed");
  });

  test("is not sent if its process stood still after the mark, as another may act by now", async () => {
    const bench = await createBench();
    const save = bench.store.save.bind(bench.store);
    let stands = 1;
    bench.store.save = async (stored, next, sideWrites) => {
      const saved = await save(stored, next, sideWrites);
      const isMark = sideWrites?.audit?.some(({ what }) => what === "sent") === true;
      if (isMark && stands-- > 0) bench.clock.continueAfter(bench.clock.monotonic() + ALONE.leaseMs);
      return saved;
    };
    await decided(bench);
    await bench.clock.pass(1_000);
    expect(stands).toBe(0);
    expect(bench.agents.resolved).toEqual([]);
  });

  test("is not sent if its machine was suspended after the mark, although its monotonic clock stood still", async () => {
    const bench = await createBench({}, 0, ":memory:", SHARED);
    const save = bench.store.save.bind(bench.store);
    let stands = 1;
    bench.store.save = async (stored, next, sideWrites) => {
      const saved = await save(stored, next, sideWrites);
      const isMark = sideWrites?.audit?.some(({ what }) => what === "sent") === true;
      if (isMark && stands-- > 0) bench.clock.step(SHARED.leaseMs);
      return saved;
    };
    const { id } = await decided(bench);
    await bench.clock.rest();
    expect(stands).toBe(0);
    expect(bench.agents.resolved).toEqual([]);
    expect(await delivery(bench, id)).toBe("retry");
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toHaveLength(1);
    expect(await delivery(bench, id)).toBe("confirmed");
  });

  test("that is slow delays no poll of its run", async () => {
    const bench = await createBench();
    bench.agents.answer = () =>
      new Promise((resolve) => void bench.clock.after(10_000, () => resolve({ type: "confirmed" })));
    await decided(bench);
    await bench.clock.rest();
    bench.agents.looks.length = 0;
    await bench.clock.pass(9_000);
    expect(bench.agents.looks.length).toBeGreaterThan(3);
  });

  test("is stored as confirmed however often the store fails meanwhile, and is sent once", async () => {
    const bench = await createBench();
    const save = bench.store.save.bind(bench.store);
    let failures = 3;
    const stored = new Promise<void>((resolve) => {
      bench.agents.answer = () => {
        bench.store.save = async (...args) => {
          failures -= 1;
          if (failures >= 0) throw failure("database_locked");
          const saved = await save(...args);
          resolve();
          return saved;
        };
        return Promise.resolve({ type: "confirmed" });
      };
    });
    const { id } = await decided(bench);
    await stored;
    await bench.clock.rest();
    expect(failures).toBeLessThan(0);
    expect(await delivery(bench, id)).toBe("confirmed");
    expect(bench.agents.resolved).toHaveLength(1);
  });

  test("leaves an audit line when it is recorded, sent and settled, and one for each refusal", async () => {
    const bench = await createBench();
    const lines: string[] = [];
    const save = bench.store.save.bind(bench.store);
    bench.store.save = async (stored, next, sideWrites) => {
      const saved = await save(stored, next, sideWrites);
      if (saved === "saved")
        lines.push(...(sideWrites?.audit ?? []).map(({ what, outcome }) => `${what} ${outcome}`));
      return saved;
    };
    const { click } = await decided(bench);
    await bench.clock.pass(1_000);
    await bench.flow.openForm.open({ ...click, user: REQUESTER }, "approve");
    expect(lines).toEqual(["decided recorded", "sent sending", "settled confirmed", "refused refused"]);
  });
});

test("an effect that fails because of a bug is tried again, and everything else goes on", async () => {
  const bench = await createBench();
  const update = bench.chat.update.bind(bench.chat);
  bench.chat.update = () => Promise.reject(new TypeError("a fault in this program"));
  const { id } = await decided(bench);
  await bench.clock.pass(5_000);
  expect(await delivery(bench, id)).toBe("confirmed");
  expect(bench.errors.length).toBeGreaterThan(1);
  bench.chat.update = update;
  await bench.clock.pass(5_000);
  const card = (await bench.run(id)).posts["card apr_1"];
  expect(card?.type === "up" ? card.shows : null).toMatch(/^v1 confirmed audit \d+$/);
});
