// An older copy of the database is restored, while newer messages are in Slack.

import { describe, expect, test } from "vitest";
import { METADATA_EVENT } from "#src/adapters/slack/names.ts";
import { buttonsOf, textOf } from "../make/journey-sight.ts";
import { backedUp } from "../make/restore.ts";
import { ana, aWorld, ben, opsAgents, releases, type Stage } from "../make/world.ts";

const BEFORE = "deploy billing-api to production";
const AFTER = "deploy search to production";

const isClean = (world: Stage): boolean =>
  world.logged.some((line) => line.includes("the messages that the restored copy does not know are closed"));

describe.concurrent("after a restore of an older copy", () => {
  test("a card from before works, and newer messages are closed and say how to continue", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, BEFORE);
    const copy = await backedUp(world);
    const lost = await world.asking(ana, releases, AFTER);
    const { id } = await world.runAt(AFTER);
    await copy.restore();
    await world.becomes(lost.card, "orphan:card", id);
    await world.becomes(lost.opening, "orphan:opening", id, AFTER);
    expect(buttonsOf(lost.card)).toEqual([]);
    expect(buttonsOf(lost.opening)).toEqual([]);
    await world.until(() => isClean(world));
    expect(buttonsOf(card)).not.toEqual([]);
    await world.decide(ben, card, "Approve", "go");
    await world.becomes(card, "approved");
    // The lost run is watched again, as the closed message suggests.
    await world.command(ana, releases, `watch ${id}`);
    const again = await world.until(() =>
      world.posted(releases).find((each) => each.thread === null && each.ts !== lost.opening.ts),
    );
    const successor = await world.cardOf(again);
    await world.decide(ben, successor, "Deny", "no");
    await world.becomes(successor, "denied");
    expect(world.decisionPosts()).toHaveLength(2);
  });

  test("a newer request gets one card with buttons again, and the old card links to it", async (context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, "work forever");
    const { id } = await world.runAt("work forever", ({ phase }) => phase === "working");
    await world.becomes(opening, "run:working");
    const copy = await backedUp(world);
    world.service.control.addApproval(id, { action: "Tell the customers" });
    const old = await world.cardOf(opening);
    await world.becomes(old, "pending");
    await copy.restore();
    await world.becomes(old, "orphan:card");
    const current = await world.until(() => world.cardsOf(opening).find((each) => each.ts !== old.ts));
    expect(JSON.stringify(old.blocks)).toContain(current.ts.replace(".", ""));
    await world.decide(ben, current, "Approve", "go");
    await world.becomes(current, "approved");
    expect(world.decisionPosts()).toHaveLength(1);
  });

  test("a decision that the service confirmed since then stays on its card, and is not requested again", async (context) => {
    const world = await aWorld(context);
    const copy = await backedUp(world);
    const { opening, card } = await world.asking(ana, opsAgents, BEFORE);
    await world.decide(ben, card, "Approve", "go");
    await world.becomes(card, "approved");
    await world.becomes(opening, "run:succeeded");
    const words = textOf(card);
    await copy.restore();
    await world.until(() => isClean(world));
    expect(textOf(card)).toBe(words);
    expect(world.decisionPosts()).toHaveLength(1);
  });

  test("a click on an old card is explained and closes the card, even if the copy has no mark", async (context) => {
    const world = await aWorld(context);
    const copy = await backedUp(world);
    const { opening, card } = await world.asking(ana, opsAgents, BEFORE);
    await copy.restoreUnmarked();
    expect(buttonsOf(card)).not.toEqual([]);
    await world.click(ben, card, "Approve");
    await world.told(ben, "refusal:unknown");
    await world.becomes(card, "orphan:card");
    await world.click(ben, opening, "Stop");
    await world.becomes(opening, "orphan:opening");
    expect(world.decisionPosts()).toEqual([]);
  });

  test("messages with our marks by another author or from another installation do not change", async (context) => {
    const world = await aWorld(context);
    const { workspace } = world.slack;
    const { card } = await world.asking(ana, opsAgents, BEFORE);
    const copy = await backedUp(world);
    const lost = await world.asking(ana, releases, AFTER);
    const { blocks, metadata } = structuredClone(lost.card);
    const payload = { ...metadata?.event_payload, home: "0".repeat(16) };
    const drafts = [
      { author: ana, metadata },
      { author: workspace.app.person, metadata: { event_type: METADATA_EVENT, event_payload: payload } },
      { author: workspace.app.person, metadata: null },
    ];
    const others = drafts.map((each) =>
      workspace.post({ channel: releases, text: "a card", blocks, ...each }),
    );
    const before = others.map(textOf);
    await copy.restore();
    await world.becomes(lost.card, "orphan:card");
    await world.until(() => isClean(world));
    expect(others.map(textOf)).toEqual(before);
    for (const other of others.slice(1)) await world.click(ben, other, "Approve");
    await world.told(ben, "refusal:unknown");
    expect(others.map(textOf)).toEqual(before);
    expect(buttonsOf(card)).not.toEqual([]);
  });
});
