import { expect, test } from "vitest";
import { createLiveHomes } from "#src/adapters/slack/live-homes.ts";
import { EVERYTHING, SHOW_MINE } from "#src/adapters/slack/queue-choice.ts";
import { ChannelId, UserId } from "#src/domain/ids.ts";
import { createHandClock } from "../../make/clock.ts";
import { anApproval, aWatchedRun, CHANNEL, withApprovals } from "../../make/run.ts";

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

test("an open tab is drawn again, as its reader had it, once for many changes", async () => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN);
  for (let at = 0; at < 50; at += 1) homes.changed(aChange());
  await clock.pass(60_000);
  expect(draws).toEqual([{ user: BEN, show: SHOW_MINE, at: 3_000 }]);
});

test("while other processes change runs, an open tab is drawn again every ten seconds", async () => {
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

test("nothing is drawn for other channels, for the same state again, or after a quarter of an hour", async () => {
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
