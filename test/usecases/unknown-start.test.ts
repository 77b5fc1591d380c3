// A start whose answer was lost: its requester says whether the run is started again or left, and only one answer counts.

import { describe, expect, test } from "vitest";
import { UserId } from "#src/domain/ids.ts";
import type { Asker } from "#src/usecases/access.ts";
import { loaded } from "../make/bench-store.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aRunKey, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY: Asker = { team: TEAM, user: REQUESTER, channel: CHANNEL };
const SECOND: Asker = { ...BY, user: UserId("U0SECOND") };
const task = (intention: string, input = "rotate") => ({ input, intention, answerUrl: null });

describe("a run that may have been created", () => {
  async function unknown() {
    const bench = await createBench();
    const created = bench.agents.create.bind(bench.agents);
    bench.agents.create = async (input, key) => {
      await created(input, key);
      throw failure("timeout", { applied: "maybe" });
    };
    const started = await bench.flow.startRun.start(BY, task("a"));
    if (!started.ok) throw new Error("refused");
    await bench.clock.pass(60_000);
    bench.agents.create = created;
    return { bench, key: started.value };
  }

  const answersIn = async ({ store }: Bench, key: ReturnType<typeof aRunKey>) =>
    (await store.auditOfRun(key)).flatMap(({ entry: { what, by, outcome } }) =>
      what === "start-unconfirmed" && by !== null ? [`${by.user}: ${outcome}`] : [],
    );

  test("is never created again by itself, not even after a restart", async () => {
    const { bench, key } = await unknown();
    await bench.restart();
    await bench.clock.pass(60 * 60_000);
    expect(bench.agents.created).toHaveLength(1);
    expect((await loaded(bench, key)).creation).toMatchObject({ type: "unknown", again: "asked" });
  });

  test("is started again by its requester once, however often the button is clicked", async () => {
    const { bench, key } = await unknown();
    const answers = await Promise.all(
      [1, 2, 3].map(() => bench.flow.startRun.answerUnknownStart(BY, key, "started")),
    );
    const fresh = answers.flatMap((each) => (each.ok ? [each.value] : []));
    expect(new Set(fresh).size).toBe(1);
    expect(fresh[0]).not.toBe(key);
    expect(await answersIn(bench, key)).toEqual([`${REQUESTER}: started again as ${fresh[0] ?? ""}`]);
    expect(await bench.flow.startRun.answerUnknownStart(BY, key, "left")).toMatchObject({
      error: { type: "answered" },
    });
    await bench.clock.pass(5_000);
    expect(bench.agents.created).toHaveLength(2);
  });

  test("is left alone if its requester says so", async () => {
    const { bench, key } = await unknown();
    expect(await bench.flow.startRun.answerUnknownStart(BY, key, "left")).toEqual({ ok: true, value: key });
    await bench.clock.pass(5_000);
    expect((await loaded(bench, key)).creation).toMatchObject({ again: "left" });
    expect(await answersIn(bench, key)).toEqual([`${REQUESTER}: left as it is`]);
    expect(bench.agents.created).toHaveLength(1);
  });

  const ANSWERED = { ok: false, error: { type: "answered" } };

  test("is left alone if its requester pressed Leave before the second start was stored, and Start again is told so", async () => {
    const { bench, key } = await unknown();
    const { promise: looked, resolve: answerLookUp } = Promise.withResolvers<void>();
    bench.people.before = () => looked;
    const starting = bench.flow.startRun.answerUnknownStart(BY, key, "started");
    await bench.clock.rest();
    expect(await bench.flow.startRun.answerUnknownStart(BY, key, "left")).toMatchObject({ ok: true });
    answerLookUp();
    expect(await starting).toEqual(ANSWERED);
    expect((await loaded(bench, key)).creation).toMatchObject({ again: "left" });
    expect(await answersIn(bench, key)).toEqual([`${REQUESTER}: left as it is`]);
    await bench.clock.pass(5_000);
    expect(bench.agents.created).toHaveLength(1);
  });

  test("is started again if that was stored while Leave was on its way, and Leave is told so", async () => {
    const { bench, key } = await unknown();
    const usual = { ...bench.store };
    const [stored, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    bench.store.byIntention = async (intention) => {
      const before = await usual.byIntention(intention);
      await stored.promise;
      return before;
    };
    bench.store.insert = async (...given) => {
      const result = await usual.insert(...given);
      stored.resolve();
      await recorded.promise;
      return result;
    };
    const leaving = bench.flow.startRun.answerUnknownStart(BY, key, "left");
    await bench.clock.rest();
    const starting = bench.flow.startRun.answerUnknownStart(BY, key, "started");
    expect(await leaving).toEqual(ANSWERED);
    expect((await loaded(bench, key)).creation).toMatchObject({ again: "started" });
    recorded.resolve();
    const second = await starting;
    expect(await answersIn(bench, key)).toEqual([
      `${REQUESTER}: started again as ${second.ok ? second.value : ""}`,
    ]);
    await bench.clock.pass(5_000);
    expect(bench.agents.created).toHaveLength(2);
  });

  test("can be answered for by its requester only", async () => {
    const { bench, key } = await unknown();
    const unheard = { ok: false, error: { type: "unknown-run" } };
    expect(await bench.flow.startRun.answerUnknownStart(SECOND, key, "started")).toEqual(unheard);
    expect(await bench.flow.startRun.answerUnknownStart(BY, aRunKey(), "started")).toEqual(unheard);
  });
});
