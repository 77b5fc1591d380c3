import { describe, expect, test } from "vitest";
import { findMessages, hasFile } from "#src/adapters/slack/chat.ts";
import type { Answer, Call } from "#src/adapters/slack/clients.ts";
import { METADATA_EVENT } from "#src/adapters/slack/names.ts";
import { UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { OPENING } from "#src/domain/slot.ts";
import { aWatchedRun, CHANNEL, NOON } from "../../make/run.ts";
import { failureOf } from "./failing.ts";

const self = { user: UserId("U0COUNTERSIGN"), bot: "B0COUNTERSIGN" };
const mark = "abc123";
const ours = { user: self.user, metadata: { event_type: METADATA_EVENT, event_payload: { mark } } };

function reading(...pages: readonly (readonly object[])[]) {
  const asked: { method: string; args: { readonly [name: string]: unknown } }[] = [];
  const call: Call = async (method, args): Promise<Answer> => {
    const at = Number(args["cursor"] ?? 0);
    asked.push({ method, args });
    const next = at + 1 < pages.length ? { response_metadata: { next_cursor: String(at + 1) } } : {};
    return { messages: pages[at] ?? [], ...next };
  };
  return { deps: { call, self }, asked };
}

const opened = {
  ...aWatchedRun(),
  posts: { [OPENING]: { type: "up", ts: "100.000001", shows: "", sweepAt: null, notBefore: 0 } },
} as unknown as Run;

describe("reading back finds", () => {
  test("every copy of ours with the mark, oldest first, and nothing else", async () => {
    const { deps } = reading([
      { ts: "103.000001", ...ours },
      { ts: "101.000001", ...ours },
      { ts: "102.000001", bot_id: self.bot, metadata: ours.metadata },
      {
        ts: "104.000001",
        ...ours,
        metadata: { event_type: METADATA_EVENT, event_payload: { mark: "other" } },
      },
      { ts: "105.000001", ...ours, metadata: { event_type: "another_app", event_payload: { mark } } },
      { ts: "106.000001", user: self.user },
      { ts: "107.000001", ...ours, metadata: { event_type: METADATA_EVENT, event_payload: {} } },
    ]);
    expect(await findMessages(deps, opened, mark, { inChannel: false })).toEqual([
      "101.000001",
      "102.000001",
      "103.000001",
    ]);
  });

  test("no message of others that carries our mark", async () => {
    const { deps } = reading([
      { ts: "101.000001", user: "U0EVE", metadata: ours.metadata },
      { ts: "102.000001", bot_id: "B0OTHER", user: "U0OTHER", metadata: ours.metadata },
      { ts: "103.000001", metadata: ours.metadata },
    ]);
    expect(await findMessages(deps, opened, mark, { inChannel: false })).toEqual([]);
  });

  test.each(["text", "user", "bot_id", "metadata", "blocks", "files"])(
    "a message beside another whose %s is null",
    async (field) => {
      const { deps } = reading([
        { ts: "101.000001", user: "U0EVE", [field]: null },
        { ts: "102.000001", ...ours },
      ]);
      expect(await findMessages(deps, opened, mark, { inChannel: false })).toEqual(["102.000001"]);
      expect(await hasFile(deps, opened, "F0FILE")).toBe(false);
    },
  );

  test("a message on a later page", async () => {
    const filler = Array.from({ length: 200 }, (_, at) => ({ ts: `${at}.000001`, user: "U0EVE" }));
    const { deps, asked } = reading(filler, filler, [{ ts: "999.000001", ...ours }]);
    expect(await findMessages(deps, opened, mark, { inChannel: false })).toEqual(["999.000001"]);
    const replies = asked.filter(({ method }) => method === "conversations.replies");
    expect(replies.map(({ args }) => args["cursor"])).toEqual([undefined, "1", "2"]);
  });
});

describe("reading back", () => {
  test("looks into the thread for a reply, with all metadata", async () => {
    const { deps, asked } = reading([]);
    await findMessages(deps, opened, mark, { inChannel: false });
    expect(asked[0]).toMatchObject({
      method: "conversations.replies",
      args: { channel: CHANNEL, ts: "100.000001", include_all_metadata: true },
    });
  });

  test("looks into the channel for its own messages, from a little before the start of the run", async () => {
    const { deps, asked } = reading([]);
    await findMessages(deps, opened, mark, { inChannel: true });
    expect(asked[0]).toMatchObject({ method: "conversations.history", args: { channel: CHANNEL } });
    const oldest = Number(asked[0]?.args["oldest"]) * 1_000;
    expect(oldest).toBeLessThan(NOON);
    expect(oldest).toBeGreaterThan(NOON - 10 * 60_000);
  });

  test("fails on an answer that is not a history, so that an absence is never guessed", async () => {
    for (const answer of [{}, { messages: null }, { messages: [{}] }, { messages: "none" }]) {
      const call: Call = async () => answer;
      expect(await failureOf(findMessages({ call, self }, opened, mark, { inChannel: false }))).toMatchObject(
        {
          code: "garbled",
        },
      );
    }
  });

  test("fails if the channel has more pages than it reads, instead of reporting an absence", async () => {
    const call: Call = async () => ({ messages: [], response_metadata: { next_cursor: "more" } });
    const found = findMessages({ call, self }, opened, mark, { inChannel: true });
    expect(
      await found.then(
        () => "reports an absence",
        () => "fails",
      ),
    ).toBe("fails");
  });
});

test("a file exists if one of our messages in the thread contains it", async () => {
  const there = reading([{ ts: "101.000001", user: self.user, files: [{ id: "F1" }, { id: "F0" }] }]);
  expect(await hasFile(there.deps, opened, "F0")).toBe(true);
  const others = reading([{ ts: "101.000001", user: "U0EVE", files: [{ id: "F0" }] }]);
  expect(await hasFile(others.deps, opened, "F0")).toBe(false);
  expect(await hasFile(reading([]).deps, opened, "F0")).toBe(false);
});

test("the search for a file ends at the page that has it, and does not go on in the channel", async () => {
  const file = { ts: "101.000001", user: self.user, files: [{ id: "F0" }] };
  const { deps, asked } = reading([], [file], []);
  expect(await hasFile(deps, opened, "F0")).toBe(true);
  expect(asked.map(({ method, args }) => [method, args["cursor"]])).toEqual([
    ["conversations.replies", undefined],
    ["conversations.replies", "1"],
  ]);
});
