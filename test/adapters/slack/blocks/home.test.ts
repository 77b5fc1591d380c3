import * as fc from "fast-check";
import { expect, test } from "vitest";
import { acceptView } from "#sandbox/slack/rules-surface.ts";
import { homeView } from "#src/adapters/slack/blocks/home-view.ts";
import { queueBlocks } from "#src/adapters/slack/blocks/queue-list.ts";
import { QUEUE_REVIEW } from "#src/adapters/slack/names.ts";
import type { Run } from "#src/domain/run.ts";
import { anApproval, APPROVER, aWatchedRun, NOON, withApprovals } from "../../../make/run.ts";
import { aQueuePage } from "../../../make/queue.ts";
import { requestOf } from "../observed.ts";
import { always, anyRun } from "./hostile.ts";
import { expectInert, objectsIn, textOf, wire } from "./oracle.ts";

const link = "https://sandbox.slack.com/archives/C0OPS/p1";

function expectHome(view: unknown, ownLinks: readonly string[] = []): void {
  acceptView(wire(view) as Record<string, unknown>, "home");
  const { blocks } = wire(view) as { blocks: { type: string }[] };
  // The line with the time is ours alone, and the only one where Slack reads markup.
  expectInert(blocks.slice(0, -1), ownLinks);
}

test("whatever the runs contain, Slack accepts the Home tab and no one is mentioned", () => {
  const rows = fc.array(anyRun(), { maxLength: 2 });
  always(fc.tuple(rows, rows, fc.boolean()), ([waiting, own, more]) => {
    const linked = own.map((run) => ({ run, link: null }));
    const page = aQueuePage(waiting, {}, { more, pages: more ? 2 : 1 });
    expectHome(homeView({ page, own: linked, moreOwn: more }, NOON));
  });
});

test("the line of a group says how many of its requests the joint form leaves out", () => {
  const page = aQueuePage([withApprovals(aWatchedRun(), anApproval(), anApproval(), anApproval())]);
  const line = (together: number) => {
    const groups = page.groups.map((group) => ({ ...group, together }));
    return textOf(queueBlocks({ ...page, groups }));
  };
  expect(line(3)).toContain("3 requests of one run");
  expect(line(3)).not.toContain("not included");
  expect(line(2)).toMatch(/3 requests of one run.* · 1 not included/);
});

test("a row links to the card or to the thread", () => {
  always(anyRun(), (run) => {
    const page = aQueuePage([run], { link });
    const view = homeView({ page, own: [{ run, link }], moreOwn: false }, NOON);
    expectHome(view, [link]);
    expect(textOf(view.blocks)).toContain("open the thread");
    const cards = textOf(view.blocks).split(`<${link}|card>`).length - 1;
    expect(cards).toBe(page.counts.yours + page.counts.others);
  });
});

test("what could not be looked up is named, with a way to try again", () => {
  const view = homeView(null, NOON);
  expectHome(view);
  expect(textOf(view.blocks)).toMatch(/could not be loaded[\s\S]*Refresh/);
  expect(textOf(view.blocks)).not.toContain("Nothing");
});

test("a person without runs in their channels may have started some elsewhere", () => {
  const view = homeView({ page: aQueuePage([]), own: [], moreOwn: false }, NOON);
  expect(textOf(view.blocks)).toContain("You have no runs in your channels.");
  expect(textOf(view.blocks)).not.toContain("not started");
});

test("a row says that a request can only be denied while its run is stopped or frozen", () => {
  const run = withApprovals(aWatchedRun(), anApproval());
  const freeze = { entry: 1, channel: null, by: APPROVER, at: NOON, why: "" };
  const rowOf = (braked: Run) => textOf(queueBlocks(aQueuePage([braked])));
  expect(rowOf(run)).not.toContain("denied");
  expect(rowOf({ ...run, stop: { by: APPROVER, at: NOON } })).toContain(
    "its run is stopped, so it can only be denied",
  );
  expect(rowOf({ ...run, frozen: freeze })).toContain("frozen, so it can only be denied");
});

test("a row quotes the place, so that it does not pass for our own words", () => {
  const asked = (fields: { readonly [field: string]: string }) => {
    const request = requestOf("Deploy", { action: "Deploy", ...fields });
    return textOf(queueBlocks(aQueuePage([withApprovals(aWatchedRun(), { ...anApproval(), request })])));
  };
  expect(asked({ risk: "high", environment: "approved" })).toContain('High risk · "approved": Deploy');
  expect(asked({ environment: "approved" })).toContain('Request · "approved": Deploy');
  expect(asked({ environment: "approved by Ben" })).not.toContain("approved");
});

test("the button of a row is named after the form that it opens", () => {
  const buttonOf = (run: Run) =>
    objectsIn(wire(queueBlocks(aQueuePage([run])))).find(({ action_id }) => action_id === QUEUE_REVIEW);
  const named = (text: string) => ({
    text: { type: "plain_text", text, emoji: false },
    accessibility_label: expect.stringMatching(`^${text}: `) as unknown,
  });
  const run = withApprovals(aWatchedRun(), anApproval());
  expect(buttonOf(run)).toMatchObject(named("Review"));
  expect(buttonOf({ ...run, stop: { by: APPROVER, at: NOON } })).toMatchObject(named("Deny"));
});
