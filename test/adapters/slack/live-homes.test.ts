import { expect, test } from "vitest";
import { createLiveHomes } from "#src/adapters/slack/live-homes.ts";
import { EVERYTHING, SHOW_MINE } from "#src/adapters/slack/queue-choice.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { FollowUp } from "#src/domain/follow-up.ts";
import { ChannelId, Nonce, UserId } from "#src/domain/ids.ts";
import { NO_ONE } from "#src/domain/policy/named-people.ts";
import type { Json } from "#src/domain/json.ts";
import type { Run } from "#src/domain/run.ts";
import { createHandClock } from "../../make/clock.ts";
import { anApproval, aRun, aWatchedRun, CHANNEL, withApprovals } from "../../make/run.ts";
import { aChange, aDocument, anAudit, quiet, seconds, someHomes } from "./some-homes.ts";

const BEN = UserId("U0BEN");
const CLEO = UserId("U0CLEO");

test("an open tab is redrawn as its reader had it, once for many changes", async () => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN);
  for (let at = 0; at < 50; at += 1) homes.changed(aChange());
  await clock.pass(60_000);
  expect(draws).toEqual([{ user: BEN, show: SHOW_MINE, at: 3_000 }]);
});

test("nothing is drawn after the stop, not even a tab whose turn had come", async () => {
  const read = Promise.withResolvers<Json>();
  const documents = { ...aDocument(), document: () => read.promise };
  const { clock, draws, homes, open } = someHomes({ documents, sharers: 2 });
  open(BEN);
  homes.changed(aChange());
  await clock.pass(5_000);
  homes.stop();
  read.resolve(null);
  await clock.pass(10_000);
  expect(draws).toEqual([]);
});

test("a freeze or its end redraws every open tab, because it also concerns channels without runs", async () => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN, [ChannelId("C0OTHER")]);
  homes.freezesChanged();
  await clock.pass(5_000);
  expect(draws).toEqual([{ user: BEN, show: SHOW_MINE, at: 3_000 }]);
});

test.each([1, 3])(
  "all tabs together are drawn at most 30 times a minute by %d processes",
  async (sharers) => {
    const { clock, draws, homes, open } = someHomes({ sharers });
    for (let at = 0; at < 80; at += 1) open(UserId(`U0P${at}`));
    for (let at = 0; at < 60; at += 1) {
      homes.changed(aChange());
      await clock.pass(1_000);
    }
    expect(draws.length * sharers).toBeGreaterThan(20);
    expect(draws.length * sharers).toBeLessThanOrEqual(30);
  },
);

test("nothing is drawn for other channels, for an unchanged state, or after eight hours", async () => {
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
  await clock.pass(8 * 60 * 60_000);
  homes.changed(aChange());
  await clock.pass(60_000);
  expect(draws).toHaveLength(1);
});

test("a tab that has been open for hours is still redrawn", async () => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN);
  await clock.pass(7 * 60 * 60_000);
  homes.changed(aChange());
  await clock.pass(10_000);
  expect(draws).toHaveLength(1);
});

test("the tab that was used last is drawn first", async () => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN);
  open(CLEO);
  await clock.pass(10_000);
  homes.changed(aChange());
  await clock.pass(10_000);
  expect(draws.map(({ user }) => user)).toEqual([CLEO, BEN]);
});

test("a request of another channel is news once an escalation may have brought the reader in", async () => {
  const { clock, draws, homes, open } = someHomes();
  open(BEN, [ChannelId("C0OTHER")]);
  homes.changed(followed({ stages: [{ afterMs: 1, at: 1, age: 1, called: NO_ONE }] }));
  await clock.pass(10_000);
  expect(draws).toHaveLength(1);
});

test("after a restart, the tabs that are still open are drawn as their readers had them", async () => {
  const documents = aDocument();
  const before = someHomes({ documents });
  before.open(CLEO);
  await before.clock.pass(7 * 60 * 60_000);
  before.open(BEN);
  await before.homes.written();
  const { clock, draws, homes } = someHomes({ documents, clock: before.clock });
  await clock.pass(2 * 60 * 60_000);
  await homes.restore();
  await clock.pass(10_000);
  expect(draws.map(({ user, show }) => [user, show])).toEqual([[BEN, SHOW_MINE]]);
  homes.changed(aChange());
  await clock.pass(10_000);
  expect(draws).toHaveLength(2);
});

test("a tab whose entry could not be written is written with the next one", async () => {
  const documents = aDocument();
  const before = someHomes({ documents });
  documents.failures = 1;
  before.open(BEN);
  await before.homes.written();
  before.open(CLEO);
  await before.homes.written();
  const { clock, draws, homes } = someHomes({ documents, clock: before.clock });
  await homes.restore();
  await clock.pass(10_000);
  expect(draws.map(({ user }) => user).toSorted()).toEqual([BEN, CLEO]);
});

test("a list of open tabs that we did not write opens none", async () => {
  const documents = aDocument();
  const clock = createHandClock();
  await documents.putDocument("", [
    7,
    { user: "x", choice: "", until: clock.monotonic() + 60_000 },
    { user: BEN, choice: 1, until: clock.monotonic() + 60_000 },
    // Longer than any tab stays open.
    { user: BEN, choice: "", until: 9e12 },
  ]);
  const { homes, draws } = someHomes({ documents, clock });
  await homes.restore();
  await seconds(100, { clock, homes });
  homes.changed(aChange());
  await clock.pass(10_000);
  expect(draws).toEqual([]);
});

const [RUN, REQUEST] = [aWatchedRun(), anApproval()];
const shown = (facts: Partial<Approval> = {}) => withApprovals(RUN, { ...REQUEST, ...facts });
const followed = (followUp: FollowUp) => shown({ followUp });
const decision = { verdict: "deny", reason: "", by: null, at: 0, digest: "" } as const;
const deciding = (lost: boolean) => {
  const delivery = { type: "retry", notBefore: 0, tries: 1, lost, why: "" } as const;
  return shown({ state: { type: "decided", decision, delivery } });
};
const claim = { by: BEN, at: 0, until: 60_000 };
const question = { id: Nonce("question-0123456789"), by: BEN, at: 0, text: "why?" };
const freeze = { entry: 7, channel: CHANNEL, by: BEN, at: 0, why: "an incident" };
const EARLIER = { by: BEN, at: 0, ofEarlierRecord: true } as const;
const START = { type: "planned", notBefore: 0, tries: 0, why: "" } as const;
const planned: Run = { ...aRun(), creation: START };
const answered = { ...question, answer: { by: BEN, at: 1, text: "because" } };

test.each<[string, Run, Run]>([
  ["a claim", shown(), followed({ claim })],
  ["the end of a claim", followed({ claim }), shown()],
  ["another person's claim", followed({ claim }), followed({ claim: { ...claim, by: UserId("U0CLEO") } })],
  ["a question", shown(), followed({ questions: [question] })],
  ["its answer", followed({ questions: [question] }), followed({ questions: [answered] })],
  [
    "a stage, which brings in people",
    shown(),
    followed({ stages: [{ afterMs: 1, at: 1, age: 1, called: NO_ONE }] }),
  ],
  [
    "another rule",
    shown(),
    shown({ appliedRule: { version: "v2", rule: { ...REQUEST.appliedRule.rule, name: "another" } } }),
  ],
  ["a decision that may have arrived", deciding(false), deciding(true)],
  ["a first look", shown(), shown({ readers: [BEN] })],
  ["a freeze", shown(), { ...shown(), frozen: freeze }],
  ["the end of a freeze", { ...shown(), frozen: freeze }, shown()],
  ["another freeze", { ...shown(), frozen: freeze }, { ...shown(), frozen: { ...freeze, entry: 8 } }],
  ["a stop of an earlier record", shown(), { ...shown(), stop: EARLIER }],
  [
    "its end",
    { ...shown(), stop: EARLIER },
    { ...shown(), stop: { ...EARLIER, lifted: { by: BEN, at: 1 } } },
  ],
  ["another person who may have asked for the run", shown(), { ...shown(), mayHaveAsked: [BEN] }],
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

test.each([
  ["three times", 0, 3],
  ["and then once a minute while there are other processes", 600, 13],
])("a tab that could not be drawn is tried again, %s", async (_what, looks, most) => {
  const clock = createHandClock();
  let tries = 0;
  const alone = { sharers: () => 1, holdsShard: () => true };
  const deps = { clock, documents: aDocument(), auditLog: anAudit(), log: quiet, ...alone };
  const homes = createLiveHomes(deps, (user) => {
    tries += 1;
    homes.failed(user);
  });
  homes.opened(BEN, EVERYTHING);
  homes.failed(BEN);
  await clock.pass(30_000);
  expect(tries).toBe(3);
  for (let at = 0; at < looks; at += 1) {
    await homes.refresh();
    await clock.pass(1_000);
  }
  await clock.pass(60_000);
  expect(tries).toBe(most);
});
