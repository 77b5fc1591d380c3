// Run again: starts the task of a finished run for the person who clicks.

import { describe, expect, test } from "vitest";
import type { Person } from "#src/domain/authorization.ts";
import { ChannelId, RunKey, TeamId, UserId } from "#src/domain/ids.ts";
import type { Asker } from "#src/usecases/access.ts";
import { loaded } from "../make/bench-store.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aRunKey, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY: Asker = { team: TEAM, user: REQUESTER, channel: CHANNEL };
const SECOND: Asker = { ...BY, user: UserId("U0SECOND") };
const task = (intention: string, input = "rotate") => ({ input, intention, answerUrl: null });

const REFUSED: readonly [string, Partial<Person>, string][] = [
  ["a guest", { kind: "guest" }, "guest"],
  ["a person of another organization", { kind: "outsider" }, "outsider"],
  ["someone who cannot see the channel", { seesChannel: false }, "not-in-channel"],
];

describe("a run that is over", () => {
  /** A finished run: one of REQUESTER's that the service refused to start. */
  async function over(bench: Bench) {
    const started = await bench.flow.startRun.start(BY, task("a", "  rotate\nit "));
    if (!started.ok) throw new Error("refused");
    const create = bench.agents.create.bind(bench.agents);
    bench.agents.create = () => Promise.reject(failure("http_400", { retry: "never" }));
    await bench.clock.pass(5_000);
    bench.agents.create = create;
    return started.value;
  }
  const again = (bench: Bench, key: ReturnType<typeof aRunKey>, by = BY) =>
    bench.flow.startRun.again(by, key, "https://hooks.slack.com/actions/x");

  test("is started again once by a double click, with the same task, for the person who clicks", async () => {
    const bench = await createBench();
    const key = await over(bench);
    const pressed = await Promise.all([1, 2, 3].map(() => again(bench, key, SECOND)));
    await bench.restart();
    const repeated = await again(bench, key, SECOND);
    const keys = [...pressed, repeated].map((each) => (each.ok ? each.value : each.error.type));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).not.toBe(key);
    expect(await loaded(bench, RunKey(keys[0] ?? ""))).toMatchObject({
      requester: SECOND.user,
      input: "  rotate\nit ",
    });
  });

  test("is not started again while someone else's repeat is running, and can be after that", async () => {
    const bench = await createBench();
    const key = await over(bench);
    expect(await again(bench, key)).toMatchObject({ ok: true });
    expect(await again(bench, key, SECOND)).toMatchObject({
      ok: false,
      error: { type: "running-again", run: { requester: REQUESTER } },
    });
  });

  test("is started again after its repeat has ended, although the wall clock was set back by an hour", async () => {
    const bench = await createBench();
    const key = await over(bench);
    bench.agents.create = () => Promise.reject(failure("http_400", { retry: "never" }));
    const first = await again(bench, key);
    await bench.clock.pass(10 * 60_000);
    bench.clock.step(-60 * 60_000);
    const second = await again(bench, key);
    if (!first.ok || !second.ok) throw new Error("refused");
    expect(second.value).not.toBe(first.value);
  });

  test.for(REFUSED)("is not started again by %s", async ([, facts, because]) => {
    const bench = await createBench();
    const key = await over(bench);
    bench.people.facts = facts;
    expect(await again(bench, key)).toEqual({ ok: false, error: { type: because } });
  });

  test("is not started again from another channel or workspace, nor if it is not over or not known", async () => {
    const bench = await createBench();
    const key = await over(bench);
    const unknown = { ok: false, error: { type: "unknown-run" } };
    expect(await again(bench, key, { ...BY, channel: ChannelId("C0OTHER") })).toEqual(unknown);
    expect(await again(bench, key, { ...BY, team: TeamId("T0OTHER") })).toEqual(unknown);
    expect(await again(bench, aRunKey())).toEqual(unknown);
    const running = await bench.flow.startRun.start(BY, task("b"));
    if (!running.ok) throw new Error("refused");
    expect(await again(bench, running.value)).toEqual(unknown);
  });
});
