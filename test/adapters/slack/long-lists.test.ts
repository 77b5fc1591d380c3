// Slack refuses a message with too many characters. On a bad day, every list still fits, and each page goes on where the one before ended.

import { describe, expect, test } from "vitest";
import { runList } from "#src/adapters/slack/blocks/command-answers.ts";
import { queueBlocks } from "#src/adapters/slack/blocks/queue-list.ts";
import { EVERYTHING } from "#src/adapters/slack/queue-choice.ts";
import { queuePage } from "#src/adapters/slack/queue-page.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Freeze } from "#src/domain/freeze.ts";
import { UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { allUnreadable } from "#src/domain/snapshot.ts";
import { acceptBlocks } from "#sandbox/slack/rules-surface.ts";
import { aQueue } from "../../make/queue.ts";
import {
  anApproval,
  aNonce,
  APPROVER,
  aRequest,
  aWatchedRun,
  CHANNEL,
  NOON,
  TEAM,
  withApprovals,
} from "../../make/run.ts";
import { textOf, wire } from "./blocks/oracle.ts";

const MINUTE = 60_000;
const LINK =
  "https://acme-operations.slack.com/archives/C0OPS/p1795694400000000?thread_ts=1795694400.000000&cid=C0OPS";
const CLEO = UserId("U0CLEO");
const deps = {
  team: TEAM,
  quick: async () => ({ permalink: LINK }),
  review: { valueFor: () => "value" },
} as unknown as Parameters<typeof queuePage>[0];
const FREEZES: readonly Freeze[] = [{ entry: 1, channel: null, by: CLEO, at: NOON, why: "w".repeat(200) }];

const asking = (action: string): Approval => {
  const approval = anApproval();
  return {
    ...approval,
    request: { ...aRequest({ action }), action },
    followUp: {
      claim: { by: CLEO, at: NOON, until: NOON + 30 * MINUTE },
      questions: [{ id: aNonce(), by: CLEO, at: NOON, text: "q".repeat(300) }],
    },
  };
};

/** A run with requests that wait, decisions that are not confirmed and something that cannot be read. */
function troubled(char: string, waiting: number): Run {
  const action = char.repeat(160);
  const decision = {
    verdict: "deny",
    reason: "",
    by: { team: TEAM, user: APPROVER, name: null },
    at: NOON,
    digest: aRequest({ action }).digest,
  } as const;
  const sent = Array.from({ length: 3 }, (): Approval => ({
    ...asking(action),
    state: { type: "decided", decision, delivery: { type: "recorded" } } as unknown as Approval["state"],
  }));
  const waits = Array.from({ length: waiting }, () => asking(action));
  const posts = Object.fromEntries(
    ["opening", "unreadable", ...[...sent, ...waits].map(({ id }) => `card ${id}`)].map((slot) => [
      slot,
      { type: "up", ts: "1795694400.000000" },
    ]),
  );
  return {
    ...withApprovals(aWatchedRun(undefined, { input: char.repeat(200) }), ...waits, ...sent),
    unreadable: allUnreadable(null, "answer", { code: "garbled", why: "it is not JSON" }, NOON),
    posts: posts as unknown as Run["posts"],
  };
}

describe.each([
  ["words", "word ", 5, 3],
  ["entities", "<&>", 5, 3],
  ["many requests", "word ", 12, 9],
  ["many entities", "<&>", 12, 9],
])("a queue of %s", (_, char, runs, waiting) => {
  const read = aQueue(Array.from({ length: runs }, () => troubled(char, waiting)));
  const yours = read.yours.map((item, at) => {
    const name = `${at % 100} ${char.repeat(30)}`;
    return { ...item, rule: { ...item.rule, name } };
  });
  const queue = { ...read, yours, channels: new Set([CHANNEL]), more: true, freezes: FREEZES };
  const pageAt = (page: number) => queuePage(deps, APPROVER, queue, { ...EVERYTHING, page });

  test("fits on each of its pages, which have every request once and in order", async () => {
    const seen: string[] = [];
    const { pages } = await pageAt(0);
    for (let at = 0; at < pages; at += 1) {
      const page = await pageAt(at);
      acceptBlocks(wire(queueBlocks(page)));
      expect([page.page, page.pages]).toEqual([at, pages]);
      seen.push(...[...page.yours, ...page.others].map(({ item }) => item.approval.id));
    }
    expect(seen).toEqual([...queue.yours, ...queue.others].map(({ approval }) => approval.id));
  });

  test("counts what is not listed, and says where it is", async () => {
    const page = await pageAt(0);
    const words = textOf(queueBlocks(page));
    const { undelivered, unreadable } = page.counts;
    expect([undelivered, unreadable]).toEqual([3 * runs, runs]);
    const left = [undelivered - page.undelivered.length, unreadable - page.unreadable.length];
    for (const more of left.filter((each) => each > 0))
      expect(words).toMatch(new RegExp(`Not listed here: ${more}\\b.*threads?`));
  });
});

test.each(["word ", "<&>"])("a list of ten runs that ask %j fits, and says what it leaves out", (char) => {
  const runs = Array.from({ length: 10 }, () => ({ run: troubled(char, 5), link: LINK }));
  const { text, blocks } = runList({ title: "Runs", none: "None." }, runs, false);
  acceptBlocks(wire(blocks));
  const listed = textOf(blocks).split("open the thread").length - 1;
  expect(text).toBe(`Runs: ${listed}`);
  expect(textOf(blocks).includes("There are more")).toBe(listed < 10);
  expect(textOf(blocks)).toContain("Waits for: ");
  expect(textOf(blocks)).toContain("Waits for 5 decisions");
});

test("a short list names what each run waits for", () => {
  const { blocks } = runList(
    { title: "Runs", none: "None." },
    [{ run: troubled("word ", 3), link: LINK }],
    false,
  );
  expect(textOf(blocks).split("Waits for: ")).toHaveLength(4);
});
