import * as fc from "fast-check";
import { expect, test } from "vitest";
import { acceptView } from "#sandbox/slack/rules-surface.ts";
import { homeView } from "#src/adapters/slack/blocks/home-view.ts";
import { NOON } from "../../../make/run.ts";
import { always, anyRun } from "./hostile.ts";
import { expectInert, textOf, wire } from "./oracle.ts";

const link = "https://sandbox.slack.com/archives/C0OPS/p1";

function expectHome(view: unknown, ownLinks: readonly string[] = []): void {
  acceptView(wire(view) as Record<string, unknown>, "home");
  const { blocks } = wire(view) as { blocks: { type: string }[] };
  // The line with the moment is ours alone, and the only one where Slack reads markup.
  expectInert(blocks.slice(0, -1), ownLinks);
}

test("whatever the runs hold, Slack takes the Home tab and nobody is called", () => {
  const rows = fc.array(anyRun(), { maxLength: 2 });
  always(fc.tuple(rows, rows, fc.boolean()), ([waiting, own, more]) => {
    const linked = (runs: typeof own) => runs.map((run) => ({ run, link: null }));
    const lists = { waiting: linked(waiting), own: linked(own), moreWaiting: more, moreOwn: more };
    expectHome(homeView(lists, "/agent", NOON));
  });
});

test("a row leads to the card or to the thread", () => {
  always(anyRun(), (run) => {
    const waiting = [{ run, link, linkWords: "open the card" }];
    const view = homeView({ waiting, own: [], moreWaiting: false, moreOwn: false }, "/agent", NOON);
    expectHome(view, [link]);
    expect(textOf(view.blocks)).toContain("open the card");
  });
});

test("what could not be looked up is said, with a way to try again", () => {
  const view = homeView(null, "/agent", NOON);
  expectHome(view);
  expect(textOf(view.blocks)).toMatch(/could not be looked up[\s\S]*Refresh/);
  expect(textOf(view.blocks)).not.toContain("Nothing");
});
