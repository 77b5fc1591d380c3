// The wall clock is set forward or back, as NTP or an operator does. This changes neither what the bot does nor when.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ChannelId, type RunId } from "#src/domain/ids.ts";
import { createServiceBreaker, CircuitOpenError } from "#src/engine/service-breaker.ts";
import { createRateLimiter } from "#src/adapters/slack/rate-limiter.ts";
import { createHandClock } from "../make/clock.ts";
import { type Bench, clickOn, createBench, failure, LIMITS } from "../make/bot.ts";
import { aRule, aPolicy } from "../make/policy.ts";
import { aRunId, APPROVER, TEAM } from "../make/run.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const STEPS = [-24 * HOUR, -HOUR, -2 * MINUTE, HOUR, 24 * HOUR];

function aFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "countersign-clock-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "bot.db");
}

/** What happened, and when (ms, by a clock that is never set). */
type Event = { readonly at: number; readonly what: string };

type Scene = {
  readonly bench: Bench;
  readonly id: RunId;
  readonly events: Event[];
  readonly pass: (ms: number) => Promise<void>;
};

/**
 * A run with its card up, and a record of what reaches Slack and the service. The answer to the first decision is
 * lost.
 */
async function aScene(database: string): Promise<Scene> {
  const bench = await createBench({}, 0.5, database);
  const { agents, chat, clock } = bench;
  const events: Event[] = [];
  let now = 0;
  const note = (what: string): void => void events.push({ at: now, what });
  const [post, notify] = [chat.post.bind(chat), chat.notify.bind(chat)];
  let refused = 0;
  Object.assign(chat, {
    post: (...[run, slot]: Parameters<typeof chat.post>) => {
      note(`post ${slot}`);
      if (slot === "card apr_2" && refused++ < 2) return Promise.reject(failure("busy"));
      return post(run, slot);
    },
    notify: (...told: Parameters<typeof chat.notify>) => {
      note("tell");
      return notify(...told);
    },
  });
  let lost = 0;
  agents.answer = () => {
    note("decision");
    return Promise.resolve(lost++ === 0 ? { type: "unsure", why: "lost" } : { type: "confirmed" });
  };
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 250) {
      await clock.pass(250);
      now += 250;
    }
  };
  const { id } = await bench.withCard();
  return { bench, id, events, pass };
}

async function approve({ bench, id }: Scene): Promise<void> {
  const opened = await bench.flow.openForm.open(clickOn(await bench.run(id)).click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  const by = { team: TEAM, user: APPROVER };
  expect((await bench.flow.submitDecision(by, opened.value.ticket.nonce, "fine")).ok).toBe(true);
}

/**
 * A lost answer, a card that Slack accepts at the third attempt, and a run that ends. `between` runs while waits are
 * under way.
 */
async function story(
  between: (bench: Bench) => Promise<void> | void,
  database = ":memory:",
): Promise<Event[]> {
  const scene = await aScene(database);
  const { bench, id, events, pass } = scene;
  await approve(scene);
  await pass(1_000);
  await between(bench);
  await pass(20_000);
  bench.agents.pending.set(id, ["apr_2"]);
  await pass(2_000);
  await between(bench);
  await pass(MINUTE);
  bench.agents.statuses.set(id, "succeeded");
  bench.agents.pending.set(id, []);
  await pass(MINUTE);
  return events;
}

const RUN = aRunId();

describe("the wall clock is set while the bot runs", () => {
  test.each(STEPS)("%i ms: everything happens at the usual time", async (ms) => {
    const undisturbed = await story(() => undefined);
    expect(undisturbed.map(({ what }) => what)).toEqual(
      expect.arrayContaining(["decision", "post card apr_2", "post outcome"]),
    );
    expect(await story((bench) => bench.clock.step(ms))).toEqual(undisturbed);
  });
});

describe("the wall clock is set while the bot is down", () => {
  test.each(STEPS)(
    "%i ms: everything happens, and no wait is longer than its full length after the restart",
    async (ms) => {
      const undisturbed = await story((bench) => bench.restart(), aFile());
      const stepped = await story((bench) => bench.restart(ms), aFile());
      expect(stepped.map(({ what }) => what).sort()).toEqual(undisturbed.map(({ what }) => what).sort());
      for (const [index, { at, what }] of stepped.entries()) {
        const usual = undisturbed.filter((each) => each.what === what).at(-1);
        expect(at, `${index} ${what}`).toBeLessThanOrEqual((usual?.at ?? 0) + 2_000);
      }
    },
  );

  test.each([4_000, 50_000])(
    "%i ms: a decision whose answer was lost is sent again only once it can no longer arrive",
    async (ms) => {
      const scene = await aScene(aFile());
      await approve(scene);
      await scene.pass(500);
      await scene.bench.restart(ms);
      await scene.pass(4_000);
      expect(scene.bench.agents.resolved).toHaveLength(1);
      await scene.pass(3_000);
      expect(scene.bench.agents.resolved).toHaveLength(2);
    },
  );

  test("time continues from where it stopped, however often", async () => {
    const bench = await createBench({}, 0.5, aFile());
    const before = bench.clock.monotonic();
    for (const ms of [-HOUR, -HOUR, HOUR, -24 * HOUR]) {
      await bench.restart(ms);
      expect(bench.clock.monotonic()).toBeGreaterThanOrEqual(before);
    }
    expect(bench.clock.monotonic()).toBeLessThan(before + 2 * HOUR);
  });
});

describe("time limits that people were promised", () => {
  const held = aPolicy(aRule({ holdMs: 30_000 }));
  const expiring = aPolicy(aRule({ expiry: { afterMs: 10 * MINUTE, outcome: "deny" } }));

  test.each(STEPS)("%i ms: an approval is held as long as the policy says", async (ms) => {
    const scene = await aScene(":memory:");
    scene.bench.policy = held;
    await scene.pass(20_000);
    await approve(scene);
    scene.bench.clock.step(ms);
    await scene.pass(29_000);
    expect(scene.bench.agents.resolved).toEqual([]);
    await scene.pass(2_000);
    expect(scene.bench.agents.resolved).toHaveLength(1);
  });

  test.each(STEPS)("%i ms: an approval expires after as long as the policy says", async (ms) => {
    const scene = await aScene(":memory:");
    scene.bench.policy = expiring;
    await scene.bench.flow.policyChanged();
    await scene.pass(20_000);
    scene.bench.clock.step(ms);
    await scene.pass(9 * MINUTE);
    expect(scene.bench.agents.resolved).toEqual([]);
    await scene.pass(2 * MINUTE);
    expect(scene.bench.agents.resolved).toMatchObject([{ verdict: "deny" }, { verdict: "deny" }]);
  });
});

describe("the clock is set back while", () => {
  test.each(STEPS)("calls to Slack wait their turn (%i ms): they are made at the usual time", async (ms) => {
    const clock = createHandClock();
    const limiter = createRateLimiter(clock);
    const gone: number[] = [];
    for (let at = 1; at <= 6; at += 1)
      void limiter
        .waitForTurn({ kind: "post", channel: ChannelId("C0OPS"), urgency: 1 })
        .then(() => gone.push(at));
    await clock.rest();
    clock.step(ms);
    await clock.pass(3_999);
    expect(gone).toEqual([1, 2, 3, 4]);
    await clock.pass(1);
    expect(gone).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test.each(STEPS)("the service is left alone (%i ms): it is probed at the usual time", async (ms) => {
    const clock = createHandClock();
    const breaker = createServiceBreaker(clock, LIMITS.maxMs);
    for (let time = 0; time < 5; time += 1)
      await expect(breaker.through(RUN, () => Promise.reject(failure("http_503")))).rejects.toThrow(
        "http_503",
      );
    clock.step(ms);
    await expect(breaker.through(RUN, () => Promise.resolve())).rejects.toThrow(CircuitOpenError);
    await clock.pass(1_000);
    await expect(breaker.through(RUN, () => Promise.resolve("well"))).resolves.toBe("well");
  });
});
