// Many approvals at once: which are on listings, which get a card, and that no two messages ever hold the
// buttons of one approval.

import { describe, expect, test } from "vitest";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { applyOutcome, markSending, recover } from "#src/domain/apply-outcome.ts";
import {
  applyListing,
  isListed,
  LINES_OF_LISTING,
  linesOf,
  listingPageOf,
  listingPages,
  movedToCards,
} from "#src/domain/listing.ts";
import type { Effect, Outcome } from "#src/domain/effect.ts";
import { ApprovalId, MessageTs } from "#src/domain/ids.ts";
import type { PostedMessage } from "#src/domain/posted-message.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { waitingForCards } from "#src/domain/storm.ts";
import { findApproval, type Run } from "#src/domain/run.ts";
import { cardSlot, listingSlot, OPENING, type Slot } from "#src/domain/slot.ts";
import { aSnapshot, contextAt } from "../make/history.ts";
import { observe } from "#src/domain/observe.ts";
import { APPROVER, aWatchedRun, NOON, TEAM } from "../make/run.ts";
import { textOf } from "../adapters/slack/blocks/oracle.ts";
import { chanceOf } from "../make/chance.ts";

const up = {
  type: "up",
  ts: MessageTs("1.000001"),
  shows: "",
  sweepAt: null,
  notBefore: 0,
  tries: 0,
} as const;
const started = (): Run => ({ ...aWatchedRun(), posts: { [OPENING]: up } });
const ids = (count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, nth) => `apr_${String(from + nth).padStart(3, "0")}`);

function asking(run: Run, pending: readonly string[], ms: number): Run {
  return applyListing(observe(run, aSnapshot(run, pending, { askedAt: NOON + ms }), contextAt(ms)));
}

function decided(run: Run, id: string, ms: number): Run {
  const approvals = run.approvals.map((approval) =>
    approval.id !== id
      ? approval
      : {
          ...approval,
          state: {
            type: "decided" as const,
            decision: {
              verdict: "approve" as const,
              reason: "fine",
              by: { team: TEAM, user: APPROVER },
              at: NOON + ms,
              digest: approval.request.digest,
            },
            delivery: { type: "confirmed" as const, at: NOON + ms, stillListed: false },
          },
        },
  );
  return applyListing({ ...run, approvals });
}

/** Nine approvals in a listing of this state. */
function withListing(type: PostedMessage["type"]): Run {
  const run = asking(started(), ids(9), 0);
  const slot = listingSlot(1);
  const posts: { [Type in PostedMessage["type"]]: PostedMessage } = {
    planned: { type: "planned", notBefore: NOON, tries: 1 },
    sending: { type: "sending", at: NOON, tries: 1 },
    unsure: { type: "unsure", lookAt: NOON, tries: 1 },
    refused: { type: "refused", words: "not_in_channel", retryAt: NOON, tries: 1 },
    up: { ...up, shows: renderKey(run, slot) ?? "" },
  };
  return { ...run, posts: { ...run.posts, [slot]: posts[type] } };
}

/** Returns what is due to be posted or updated. */
const dueActs = (run: Run): Effect[] =>
  reconcile(run, NOON + 3_600_000).effects.filter(
    (each) => (each.type === "post" || each.type === "update") && each.slot !== OPENING,
  );

const listed = (run: Run): string[] => run.approvals.filter(isListed).map(({ id }) => id);

describe("approvals that come at once", () => {
  test("get cards while they are few", () => {
    const run = asking(started(), ids(8), 0);
    expect(listed(run)).toEqual([]);
    expect(reconcile(run, NOON).effects.filter(({ type }) => type === "post")).toHaveLength(8);
  });

  test("are listed when they are many, in as few messages as Slack's block limit allows", () => {
    const run = asking(started(), ids(100), 0);
    expect(listed(run)).toHaveLength(100);
    expect(listingPages(run)).toEqual([1, 2, 3, 4, 5]);
    expect(linesOf(run, 1)).toHaveLength(LINES_OF_LISTING);
    const posts = reconcile(run, NOON).effects.flatMap((each) => (each.type === "post" ? [each.slot] : []));
    expect(posts).toEqual([1, 2, 3, 4, 5].map(listingSlot));
  });

  test("are listed again when a brake is on, because they can then only be denied", () => {
    const run = asking(started(), ids(30), 0);
    const stopped = { ...run, stop: { by: APPROVER, at: NOON } };
    const freeze = { entry: 1, channel: null, by: APPROVER, at: NOON, why: "" };
    const keys = [run, stopped, { ...run, frozen: freeze }].map((each) => renderKey(each, listingSlot(1)));
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("are sorted by risk, then by age", () => {
    const risky = (id: string, risk?: string) => ({
      id,
      content: { action: "x", ...(risk ? { risk } : {}) },
    });
    const pending = [risky("a"), risky("b", "low"), risky("c", "critical"), ...ids(7), risky("d", "high")];
    const run = started();
    const seen = observe(run, aSnapshot(run, pending), contextAt(0));
    const lines = linesOf(applyListing(seen), 1).map(({ id }) => id);
    expect(lines.slice(0, 4)).toEqual(["c", "d", "b", "a"]);
  });

  test("become cards once few are left, and a card appears only when its line is gone", () => {
    const slot = listingSlot(1);
    const effect = { type: "post", slot } as const;
    let run = asking(started(), ids(12), 0);
    run = markSending(run, effect, NOON);
    run = applyOutcome(
      run,
      effect,
      { type: "posted", ts: MessageTs("1.000002"), shows: renderKey(run, slot) ?? "" },
      contextAt(0),
    );
    for (const id of ids(8)) run = decided(run, id, 1);
    expect(listed(run)).toEqual([]);
    const due = (of: Run) => reconcile(of, NOON + 1).effects.filter(({ type }) => type !== "count-approvers");
    expect(due(run)).toContainEqual({ type: "update", slot });
    expect(due(run).filter(({ type }) => type === "post")).toEqual([]);
    const update = { type: "update", slot } as const;
    run = markSending(run, update, NOON + 1);
    expect(due(run).filter(({ type }) => type === "post")).toEqual([]);
    run = applyOutcome(run, update, { type: "updated", shows: renderKey(run, slot) ?? "" }, contextAt(1));
    expect(due(run).filter(({ type }) => type === "post")).toHaveLength(12);
  });

  test("get cards of their own while a listing is up, because Slack notifies nobody of an update", () => {
    const run = asking(withListing("up"), ids(9 + 8), 3_600_000);
    expect(listed(run)).toEqual(ids(9));
    expect(dueActs(run)).toEqual(ids(8, 10).map((id) => ({ type: "post", slot: `card ${id}` })));
    expect(waitingForCards(run)).toBe(8);
  });

  test("get a new listing if they are many, even if one that is up has room", () => {
    const run = asking(withListing("up"), ids(9 + 9), 3_600_000);
    expect(linesOf(run, 1).map(({ id }) => id)).toEqual(ids(9));
    expect(linesOf(run, 2).map(({ id }) => id)).toEqual(ids(9, 10));
    expect(dueActs(run)).toEqual([{ type: "post", slot: listingSlot(2) }]);
    expect(waitingForCards(run)).toBe(9);
  });

  test.each(["sending", "unsure"] as const)("join no listing that is %s", (type) => {
    const run = asking(withListing(type), ids(10), 1);
    expect(listed(run)).toEqual(ids(9));
    expect(dueActs(run)).toContainEqual({ type: "post", slot: cardSlot(ApprovalId("apr_010")) });
  });

  test.each(["planned", "refused"] as const)(
    "join a listing that is %s, because it is posted with them",
    (type) => {
      const run = asking(withListing(type), ids(10), 1);
      expect(linesOf(run, 1).map(({ id }) => id)).toEqual(ids(10));
    },
  );

  test("are said to wait in their list until the last one with a card of its own is decided", () => {
    const slot = listingSlot(1);
    let run = asking(started(), ids(12), 0);
    run = { ...run, posts: { ...run.posts, [slot]: up } };
    const keys = new Set<string | null>();
    for (const [nth, id] of ids(12).entries()) {
      run = decided(run, id, 1);
      keys.add(renderKey(run, slot));
      expect(movedToCards(run, 1)).toBe(nth < 7 ? 0 : 11 - nth);
      expect(textOf(messageIn(run, slot).blocks).includes("Nothing in this list is waiting")).toBe(
        nth === 11,
      );
    }
    expect(keys.size).toBe(12);
  });

  test.each([
    ["expired", ". The deadline passed"],
    ["no-longer-listed", ", no longer listed as pending by the service."],
  ] as const)("are counted in their list when they close (%s), because they get no cards", (cause, fate) => {
    const slot = listingSlot(1);
    const before = withListing("up");
    const approvals = before.approvals.map((each, nth) =>
      nth > 2 ? each : { ...each, state: { type: "closed" as const, cause, at: NOON } },
    );
    const run = applyListing({ ...before, approvals });
    expect(dueActs(run)).toEqual([{ type: "update", slot }]);
    expect(textOf(messageIn(run, slot).blocks)).toContain(`Closed without a decision here: 3${fate}`);
  });
});

/** The messages that are in Slack, and the buttons on each. */
type There = { readonly slot: Slot; readonly ts: MessageTs; buttons: readonly string[] };

function buttonsOf(run: Run, slot: Slot): string[] {
  const page = listingPageOf(run, slot);
  if (page !== null) return linesOf(run, page).map(({ id }) => id);
  const card = run.approvals.find(({ id }) => cardSlot(id) === slot);
  return card?.state.type === "pending" ? [card.id] : [];
}

/**
 * Plays a storm against a Slack that answers at random: yes, later, or not at all, whether or not it did what was
 * asked.
 */
function play(seed: number): void {
  const chance = chanceOf(seed);
  const int = (below: number): number => chance.below(below);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[int(items.length)];
    if (item === undefined) throw new Error("nothing to pick");
    return item;
  };
  let run = started();
  let ms = 0;
  let there: There[] = [];
  let stamps = 10;
  let pending: string[] = [];
  const save = (next: Run): void => {
    run = applyListing(next);
    for (const { id } of run.approvals) {
      const slots = new Set(there.filter(({ buttons }) => buttons.includes(id)).map(({ slot }) => slot));
      const open = findApproval(run, id)?.state.type === "pending";
      if (open && slots.size > 1) throw new Error(`seed ${seed}: ${[...slots].join(" and ")} hold ${id}`);
    }
  };
  const perform = (effect: Effect, well: boolean): Outcome => {
    const lost: Outcome = { type: "unsure", why: "lost" };
    const fate = well ? "yes" : pick(["yes", "yes", "later", "lost, done", "lost"]);
    if (fate === "later") return { type: "later", afterMs: null, why: "busy" };
    const done = fate !== "lost";
    if (effect.type === "post") {
      const ts = MessageTs(`2.${String((stamps += 1)).padStart(6, "0")}`);
      if (done) there = [...there, { slot: effect.slot, ts, buttons: buttonsOf(run, effect.slot) }];
      return fate === "yes" ? { type: "posted", ts, shows: renderKey(run, effect.slot) ?? "" } : lost;
    }
    if (effect.type === "update") {
      const post = run.posts[effect.slot];
      const message = there.find(({ ts }) => post?.type === "up" && ts === post.ts);
      if (message === undefined && effect.slot !== OPENING) return { type: "gone" };
      if (done && message !== undefined) message.buttons = buttonsOf(run, effect.slot);
      return fate === "yes" ? { type: "updated", shows: renderKey(run, effect.slot) ?? "" } : lost;
    }
    if (effect.type === "find") {
      const copies = there.filter(({ slot }) => slot === effect.slot).map(({ ts }) => ts);
      return fate === "yes" ? { type: "found", copies } : lost;
    }
    if (effect.type === "sweep") {
      const post = run.posts[effect.slot];
      if (done)
        there = there.filter(
          ({ slot, ts }) => slot !== effect.slot || (post?.type === "up" && ts === post.ts),
        );
      return fate === "yes" ? { type: "swept" } : lost;
    }
    return { type: "counted", of: "", able: null, grows: false };
  };
  const act = (well: boolean): boolean => {
    const wanted = (each: Effect): boolean => ["post", "update", "find", "sweep"].includes(each.type);
    const effects = reconcile(run, NOON + ms).effects.filter(wanted);
    if (effects.length === 0) return false;
    const effect = pick(effects);
    save(markSending(run, effect, NOON + ms));
    // The process dies: the answer is lost, whether Slack acted or not.
    if (!well && int(12) === 0) {
      perform(effect, false);
      save(recover(run, contextAt(ms)));
    } else save(applyOutcome(run, effect, perform(effect, well), contextAt(ms)));
    return true;
  };
  for (let step = 0; step < 250; step += 1) {
    ms += int(3_000);
    const open = run.approvals.filter(({ state }) => state.type === "pending");
    const what = int(10);
    if (what === 0 && pending.length < 60) {
      pending = [...pending, ...ids(1 + int(15), run.approvals.length + 1)];
      save(observe(run, aSnapshot(run, pending, { askedAt: NOON + ms }), contextAt(ms)));
    } else if (what <= 2 && open.length > 0) {
      const { id } = pick(open);
      pending = pending.filter((each) => each !== id);
      save(decided(run, id, ms));
    } else act(false);
  }
  for (let rest = 0; rest < 2_000; rest += 1) {
    if (act(true)) continue;
    const { wakeAt } = reconcile(run, NOON + ms);
    if (wakeAt === null || wakeAt > NOON + ms + 600_000) break;
    ms = Math.max(wakeAt - NOON, ms + 1);
  }
  for (const { id, state } of run.approvals) {
    const holders = there.filter(({ buttons }) => buttons.includes(id)).length;
    if (holders !== (state.type === "pending" ? 1 : 0))
      throw new Error(`seed ${seed}: ${holders} messages hold ${id}, which is ${state.type}`);
  }
  for (const [slot, post] of Object.entries(run.posts))
    if (slot !== OPENING && post.type === "up" && !there.some(({ ts }) => ts === post.ts))
      throw new Error(`seed ${seed}: ${slot} is missing`);
}

test("one message at a time holds the buttons of an approval, whatever is lost, and exactly one at rest", () => {
  for (let seed = 1; seed <= 60; seed += 1) play(seed);
});
