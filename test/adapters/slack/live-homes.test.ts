import { expect, test } from "vitest";
import { createLiveHomes } from "#src/adapters/slack/live-homes.ts";
import { EVERYTHING, SHOW_MINE } from "#src/adapters/slack/queue-choice.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { FollowUp } from "#src/domain/follow-up.ts";
import { ChannelId, Nonce, UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { createHandClock } from "../../make/clock.ts";
import { anApproval, aRun, aWatchedRun, CHANNEL, withApprovals } from "../../make/run.ts";

const BEN = UserId("U0BEN");
const MINE = { ...EVERYTHING, show: SHOW_MINE };

function someHomes() {
  const clock = createHandClock();
  const draws: { readonly user: string; readonly show: string; readonly at: number }[] = [];
  const start = clock.monotonic();
  const homes = createLiveHomes(clock, (user, { show }) => {
    draws.push({ user, show, at: clock.monotonic() - start });
    homes.drawn(user, new Set([CHANNEL]));
  });
  const open = (user: UserId, channels = [CHANNEL]): void => {
    homes.opened(user, MINE);
    homes.drawn(user, new Set(channels));
  };
  return { clock, draws, homes, open };
}

const aChange = () => withApprovals(aWatchedRun(), anApproval());

test("an open tab is redrawn as its reader had it, once for many changes", async () => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN);
  for (let at = 0; at < 50; at += 1) homes.changed(aChange());
  await clock.pass(60_000);
  expect(draws).toEqual([{ user: BEN, show: SHOW_MINE, at: 3_000 }]);
});

test("an open tab is redrawn every ten seconds while other processes change runs", async () => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN);
  for (let at = 0; at < 31; at += 1) {
    homes.refresh();
    await clock.pass(1_000);
  }
  expect(draws.map(({ at }) => at)).toEqual([10_000, 20_000, 30_000]);
});

test("all tabs together are drawn at most 30 times a minute", async () => {
  const { clock, draws, homes, open } = someHomes();
  for (let at = 0; at < 80; at += 1) open(UserId(`U0P${at}`));
  for (let at = 0; at < 60; at += 1) {
    homes.changed(aChange());
    await clock.pass(1_000);
  }
  expect(draws.length).toBeGreaterThan(20);
  expect(draws.length).toBeLessThanOrEqual(30);
});

test("nothing is drawn for other channels, for an unchanged state, or after a quarter of an hour", async () => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN, [ChannelId("C0OTHER")]);
  homes.changed(aChange());
  open(BEN);
  const run = aChange();
  homes.changed(run);
  await clock.pass(10_000);
  homes.changed(run);
  await clock.pass(10_000);
  expect(draws).toHaveLength(1);
  await clock.pass(15 * 60_000);
  homes.changed(aChange());
  await clock.pass(60_000);
  expect(draws).toHaveLength(1);
});

const [RUN, REQUEST] = [aWatchedRun(), anApproval()];
const shown = (facts: Partial<Approval> = {}) => withApprovals(RUN, { ...REQUEST, ...facts });
const followed = (followUp: FollowUp) => shown({ followUp });
const claim = { by: BEN, at: 0, until: 60_000 };
const question = { id: Nonce("question-0123456789"), by: BEN, at: 0, text: "why?" };
const freeze = { entry: 7, channel: CHANNEL, by: BEN, at: 0, why: "an incident" };
const START = { type: "planned", notBefore: 0, tries: 0, why: "" } as const;
const planned: Run = { ...aRun(), creation: START };
const answered = { ...question, answer: { by: BEN, at: 1, text: "because" } };

test.each<[string, Run, Run]>([
  ["a claim", shown(), followed({ claim })],
  ["the end of a claim", followed({ claim }), shown()],
  ["another person's claim", followed({ claim }), followed({ claim: { ...claim, by: UserId("U0CLEO") } })],
  ["a question", shown(), followed({ questions: [question] })],
  ["its answer", followed({ questions: [question] }), followed({ questions: [answered] })],
  ["a stage, which brings in people", shown(), followed({ stages: [{ afterMs: 1, at: 1, age: 1 }] })],
  [
    "another rule",
    shown(),
    shown({ appliedRule: { version: "v2", rule: { ...REQUEST.appliedRule.rule, name: "another" } } }),
  ],
  ["a first look", shown(), shown({ readers: [BEN] })],
  ["a freeze", shown(), { ...shown(), frozen: freeze }],
  ["the end of a freeze", { ...shown(), frozen: freeze }, shown()],
  ["another freeze", { ...shown(), frozen: freeze }, { ...shown(), frozen: { ...freeze, entry: 8 } }],
  [
    "a start that the service refused",
    planned,
    { ...planned, creation: { type: "refused", words: "", at: 0 } },
  ],
  [
    "another kind of unreadable answer",
    { ...shown(), unreadable: { since: 0, what: "list", count: 1, items: [] } },
    { ...shown(), unreadable: { since: 0, what: "answer", count: 1, items: [] } },
  ],
  ["a start that is delayed", planned, { ...planned, creation: { ...START, why: "HTTP 503" } }],
])("an open tab is redrawn for %s alone", async (_what, before, after) => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN);
  homes.changed(before);
  await clock.pass(10_000);
  homes.changed(after);
  await clock.pass(10_000);
  expect(draws).toHaveLength(2);
});

test("a tab that could not be drawn is tried again, three times", async () => {
  const clock = createHandClock();
  let tries = 0;
  const homes = createLiveHomes(clock, (user) => {
    tries += 1;
    homes.failed(user);
  });
  homes.opened(BEN, EVERYTHING);
  homes.failed(BEN);
  await clock.pass(120_000);
  expect(tries).toBe(3);
});
