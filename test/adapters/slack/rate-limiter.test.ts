import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ChannelId, MessageTs } from "#src/domain/ids.ts";
import type { PacedEffect } from "#src/ports.ts";
import { createRateLimiter } from "#src/adapters/slack/rate-limiter.ts";
import { createLimits } from "#sandbox/slack/limits.ts";

const OPS = ChannelId("C0OPS");
const OTHER = ChannelId("C0OTHER");

/** A limiter with a hand-driven clock. `early`: its timers fire this much too soon (ms). */
function stage(early = 0) {
  let now = 0;
  let timers: { at: number; what: () => void }[] = [];
  const limiter = createRateLimiter({
    now: () => now,
    monotonic: () => now,
    after: (ms, what) => {
      const timer = { at: now + Math.max(ms - early, 0), what };
      timers.push(timer);
      return () => (timers = timers.filter((each) => each !== timer));
    },
  });
  const sent: string[] = [];
  return {
    limiter,
    sent,
    askFor: (ts: MessageTs, urgency: PacedEffect["urgency"]) =>
      void limiter
        .waitForTurn({ kind: "update", channel: OPS, urgency, message: ts })
        .then(() => sent.push(ts)),
    raiseUrgency: (ts: MessageTs, urgency: PacedEffect["urgency"]) =>
      limiter.raiseUrgency({ kind: "update", channel: OPS, urgency, message: ts }),
    ask: (name: string, kind: PacedEffect["kind"], urgency: PacedEffect["urgency"] = 1, channel = OPS) =>
      void limiter.waitForTurn({ kind, channel, urgency }).then(() => sent.push(name)),
    turnTo: async (at: number) => {
      now = at;
      const due = timers.filter((each) => each.at <= now);
      timers = timers.filter((each) => each.at > now);
      for (const { what } of due) what();
      for (let turns = 0; turns < 10; turns += 1) await setImmediate();
    },
  };
}

test("a timer that fires a moment early ends no pause, and blocks nothing for good", async () => {
  const { limiter, ask, sent, turnTo } = stage(1);
  limiter.rest("post", OPS, 1_000);
  ask("card", "post", 0);
  await turnTo(999);
  expect(sent).toEqual([]);
  await turnTo(1_000);
  expect(sent).toEqual(["card"]);
});

test("a call that is no longer wanted when its turn comes uses no turn", async () => {
  const { limiter, ask, sent, turnTo } = stage();
  for (let at = 1; at <= 4; at += 1) ask(`first ${at}`, "post");
  let wanted = true;
  for (let at = 1; at <= 4; at += 1)
    void limiter
      .waitForTurn({ kind: "post", channel: OPS, urgency: 1 }, () => wanted)
      .then(() => sent.push(`dropped ${at}`));
  ask("last", "post");
  wanted = false;
  await turnTo(4_000);
  expect(sent.slice(4).toSorted()).toEqual(["dropped 1", "dropped 2", "dropped 3", "dropped 4", "last"]);
  expect(limiter.queueBefore({ kind: "post", channel: OPS, urgency: 1 })).toEqual({ calls: 0, ms: 0 });
});

test("reports how many calls go before one that joins now, and how long it waits", async () => {
  const { limiter, ask, turnTo } = stage();
  const before = (channel = OPS) => limiter.queueBefore({ kind: "post", channel, urgency: 1 });
  expect(before()).toEqual({ calls: 0, ms: 0 });
  for (let at = 1; at <= 4; at += 1) ask(`post ${at}`, "post");
  expect(before()).toEqual({ calls: 0, ms: 4_000 });
  for (let at = 5; at <= 12; at += 1) ask(`post ${at}`, "post");
  ask("less urgent", "post", 2);
  expect(before()).toEqual({ calls: 8, ms: 12_000 });
  expect(before(OTHER)).toEqual({ calls: 0, ms: 0 });
  await turnTo(4_000);
  expect(before()).toEqual({ calls: 4, ms: 8_000 });
  limiter.rest("post", OPS, 20_000);
  expect(before().ms).toBe(24_000);
});

test("a burst of posts goes at once, the rest waits its turn", async () => {
  const { ask, sent, turnTo } = stage();
  for (let at = 1; at <= 8; at += 1) ask(`post ${at}`, "post");
  await turnTo(0);
  expect(sent).toEqual(["post 1", "post 2", "post 3", "post 4"]);
});

test("a burst in one channel delays no other channel, and no other kind", async () => {
  const { ask, sent, turnTo } = stage();
  for (let at = 1; at <= 8; at += 1) ask("here", "post");
  await turnTo(0);
  ask("there", "post", 1, OTHER);
  ask("update", "update");
  ask("read", "read");
  ask("tell", "other");
  await turnTo(0);
  expect(sent.slice(4)).toEqual(["there", "update", "read", "tell"]);
});

test("updates of all channels share one pace", async () => {
  const { ask, sent, turnTo } = stage();
  for (let at = 1; at <= 60; at += 1) ask(`${at}`, "update", 1, at % 2 === 0 ? OPS : OTHER);
  await turnTo(0);
  expect(sent).toHaveLength(34);
});

test("buttons are removed while many other updates wait", async () => {
  const { ask, sent, turnTo } = stage();
  for (let at = 1; at <= 20; at += 1) ask(`state ${at}`, "update", 2);
  ask("buttons off", "update", 0);
  await turnTo(0);
  expect(sent).toContain("buttons off");
});

test("after a pause the most urgent goes first, and equally urgent ones in their order of arrival", async () => {
  const { limiter, ask, sent, turnTo } = stage();
  limiter.rest("update", OPS, 1_000);
  ask("cosmetic", "update", 3);
  ask("state", "update", 2);
  ask("buttons off", "update", 0);
  ask("outcome", "update", 1);
  ask("buttons off, later", "update", 0);
  await turnTo(999);
  expect(sent).toEqual([]);
  await turnTo(1_000);
  expect(sent).toEqual(["buttons off", "buttons off, later", "outcome", "state", "cosmetic"]);
});

test("a pause delays only its kind, and posts only in its channel", async () => {
  const { limiter, ask, sent, turnTo } = stage();
  limiter.rest("post", OPS, 1_000);
  ask("here", "post");
  ask("there", "post", 1, OTHER);
  ask("update", "update");
  await turnTo(0);
  expect(sent).toEqual(["there", "update"]);
});

test("of two pauses the longer counts, whichever was requested last", async () => {
  const { limiter, ask, sent, turnTo } = stage();
  limiter.rest("update", OPS, 30_000);
  limiter.rest("update", OTHER, 1_000);
  ask("update", "update");
  await turnTo(1_000);
  expect(sent).toEqual([]);
  await turnTo(30_000);
  expect(sent).toEqual(["update"]);
});

const messageTs = (nth: number): MessageTs => MessageTs(`1700000000.${String(nth).padStart(6, "0")}`);
const [FIRST, LAST] = [messageTs(1), messageTs(30)];

test("updates of passing states leave room, so that the end of a run is shown at once", async () => {
  const { ask, sent, turnTo } = stage();
  for (let at = 1; at <= 20; at += 1) ask(`working ${at}`, "update", 3);
  await turnTo(0);
  expect(sent).toHaveLength(6);
  for (let at = 1; at <= 3; at += 1) ask(`failed ${at}`, "update", 1);
  await turnTo(0);
  expect(sent.slice(6)).toEqual(["failed 1", "failed 2", "failed 3"]);
});

test("a waiting update of a run's state goes first once the run has failed", async () => {
  const { askFor, raiseUrgency, sent, turnTo } = stage();
  for (let nth = 1; nth <= 30; nth += 1) askFor(messageTs(nth), 3);
  await turnTo(0);
  expect(sent).not.toContain(LAST);
  raiseUrgency(LAST, 1);
  await turnTo(0);
  expect(sent.at(-1)).toBe(LAST);
});

test("a waiting update of a card gets the share of the cards once its buttons are removed", async () => {
  const { askFor, raiseUrgency, ask, sent, turnTo } = stage();
  for (let at = 1; at <= 10; at += 1) ask(`state ${at}`, "update", 2);
  askFor(LAST, 2);
  await turnTo(0);
  expect(sent).not.toContain(LAST);
  raiseUrgency(LAST, 0);
  await turnTo(0);
  expect(sent).toContain(LAST);
});

test("no update becomes less urgent, and one that is not waiting stays as it is", async () => {
  const { limiter, askFor, raiseUrgency, sent, turnTo } = stage();
  limiter.rest("update", OPS, 1_000);
  askFor(LAST, 2);
  askFor(FIRST, 3);
  raiseUrgency(LAST, 3);
  raiseUrgency(messageTs(7), 0);
  await turnTo(1_000);
  expect(sent).toEqual([LAST, FIRST]);
});

test("an update that needs no chat.update goes during a pause, and uses no turn", async () => {
  const { limiter, askFor, ask, sent, turnTo } = stage();
  limiter.rest("update", OPS, 1_000);
  askFor(FIRST, 0);
  for (let at = 1; at <= 6; at += 1) ask(`card ${at}`, "update", 0);
  limiter.releaseUpdate(OTHER, FIRST);
  limiter.releaseUpdate(OPS, LAST);
  await turnTo(0);
  expect(sent).toEqual([]);
  limiter.releaseUpdate(OPS, FIRST);
  await turnTo(0);
  expect(sent).toEqual([FIRST]);
  await turnTo(1_000);
  expect(sent).toHaveLength(7);
});

/** Makes the calls until all have gone. Each is on its way for a while; then the sandbox judges it as Slack would. */
async function judged(wanted: readonly { at: number; urgency: PacedEffect["urgency"]; wayMs: number }[]) {
  const { limiter, turnTo } = stage();
  let now = 0;
  const arrivals: number[] = [];
  const last = Math.max(...wanted.map(({ at }) => at));
  for (; arrivals.length < wanted.length; now += 100) {
    for (const { urgency, wayMs } of wanted.filter(({ at }) => at >= now && at < now + 100))
      void limiter
        .waitForTurn({ kind: "update", channel: OPS, urgency })
        .then(() => arrivals.push(now + wayMs));
    await turnTo(now);
    if (now > last + 1_000_000) throw new Error("some calls are never made");
  }
  arrivals.sort((a, b) => a - b);
  const limits = createLimits({ now: () => arrivals[judging] ?? 0, on: true });
  let judging = 0;
  for (; judging < arrivals.length; judging += 1) limits.call("chat.update", "tier3");
  return arrivals;
}

const anyCall = fc.record({
  at: fc.integer({ min: 0, max: 90_000 }),
  urgency: fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const),
  wayMs: fc.integer({ min: 0, max: 1_500 }),
});

test("Slack has no reason to answer 429, whatever is updated when, and however long each call takes", async () => {
  const calls = fc.array(anyCall, { minLength: 60, maxLength: 160 });
  await fc.assert(
    fc.asyncProperty(calls, async (wanted) => void (await judged(wanted))),
    { numRuns: 10 },
  );
});

test("after a hundred cards at once, none of them clicked, all buttons are off within two minutes", async () => {
  const cards = Array.from({ length: 100 }, () => ({ at: 0, urgency: 0, wayMs: 0 }) as const);
  const others = Array.from({ length: 100 }, () => ({ at: 0, urgency: 2, wayMs: 0 }) as const);
  const arrivals = await judged([...others, ...cards]);
  expect(arrivals.length).toBe(200);
  expect(arrivals[109] ?? Infinity).toBeLessThanOrEqual(130_000);
});
