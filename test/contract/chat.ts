// The contract of the `Chat` port, checked against any workspace: always the sandbox's, and a real one on demand.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Approval } from "#src/domain/approval.ts";
import {
  ApprovalId,
  type ChannelId,
  type MessageTs,
  RunId,
  type TeamId,
  type UserId,
} from "#src/domain/ids.ts";
import { adoptedRun, type Run } from "#src/domain/run.ts";
import { cardSlot, OPENING, OUTCOME, OUTPUT, type Slot } from "#src/domain/slot.ts";
import type { Chat } from "#src/ports.ts";
import { anApproval, aNonce, aRunKey, withApprovals } from "../make/run.ts";
import { failureOf } from "../adapters/slack/failing.ts";
import { endedRun } from "../adapters/slack/observed.ts";

/** A message as the workspace itself shows it. */
export type Shown = {
  readonly ts: string;
  readonly text: string;
  /** All text in its blocks. */
  readonly words: string;
  readonly files: number;
};

export type ChatUnderTest = {
  readonly chat: Chat;
  readonly team: TeamId;
  /** A channel that the app is in, and one that it is not in. */
  readonly channel: ChannelId;
  readonly closed: ChannelId;
  /** A full member who is in `channel`, and one who is not. */
  readonly inside: UserId;
  readonly outside: UserId;
  /**
   * What people see, read from the workspace and not through the port: the view of the channel, newest first, or of a
   * thread.
   */
  seen(channel: ChannelId, thread?: MessageTs): Promise<readonly Shown[]>;
  /** The direct messages to this person. Null if the workspace does not show them. */
  directMessages(person: UserId): Promise<readonly string[] | null>;
  /** Someone else copies a message of ours, metadata included. Null if this is impossible. */
  forge(channel: ChannelId, ts: MessageTs): Promise<MessageTs | null>;
  stop(): Promise<void>;
};

export function chatContract(make: () => Promise<ChatUnderTest>): void {
  let under: ChatUnderTest;
  let chat: Chat;
  beforeAll(async () => {
    under = await make();
    chat = under.chat;
  });
  afterAll(() => under.stop());

  function aRun(facts: { channel?: ChannelId; input?: string } = {}): Run {
    const { channel = under.channel, input = `Task ${randomBytes(4).toString("hex")}` } = facts;
    const id = RunId(`run_${randomBytes(6).toString("hex")}`);
    const key = aRunKey();
    const by = { team: under.team, channel, requester: under.inside };
    return adoptedRun(id, { key, ...by, input, askedAt: Date.now(), answer: null });
  }

  const posted = (run: Run, slot: Slot, ts: MessageTs): Run => ({
    ...run,
    posts: { ...run.posts, [slot]: { type: "up", ts, shows: "", sweepAt: null, notBefore: 0, tries: 0 } },
  });

  async function opened(facts: Parameters<typeof aRun>[0] = {}): Promise<{ run: Run; thread: MessageTs }> {
    const run = aRun(facts);
    const thread = await chat.post(run, OPENING);
    return { run: posted(run, OPENING, thread), thread };
  }

  const withCard = (run: Run): { run: Run; approval: Approval; slot: Slot } => {
    const approval = anApproval(ApprovalId(`apr_${randomBytes(4).toString("hex")}`));
    return { run: withApprovals(run, approval), approval, slot: cardSlot(approval.id) };
  };

  const ended = (run: Run, output: string): Run => endedRun(run, { how: "succeeded", output });

  const timestamps = (shown: readonly Shown[]): string[] => shown.map(({ ts }) => ts);

  describe("posting", () => {
    test("puts the opening into the channel, with a text for clients that show no blocks", async () => {
      const { run, thread } = await opened();
      const shown = (await under.seen(under.channel)).find(({ ts }) => ts === thread);
      expect(shown?.text).not.toBe("");
      expect(shown?.words).toContain(run.input);
    });

    test("puts everything else into the run's thread, and a card into the channel as well", async () => {
      const { run: begun, thread } = await opened();
      const { run, slot } = withCard(begun);
      const card = await chat.post(run, slot);
      const outcome = await chat.post(ended(run, "done"), OUTCOME);
      const inThread = timestamps(await under.seen(under.channel, thread));
      expect(inThread).toEqual([thread, card, outcome]);
      const inChannel = timestamps(await under.seen(under.channel));
      expect(inChannel).toContain(card);
      expect(inChannel).not.toContain(outcome);
    });

    test("to a channel without us is refused, certainly not done, and not worth the same attempt", async () => {
      const failed = await failureOf(chat.post(aRun({ channel: under.closed }), OPENING));
      expect(failed).toMatchObject({ applied: "no", retry: "never", code: "not_in_channel" });
    });
  });

  describe("changing", () => {
    test("redraws the message where it is: a card in both places", async () => {
      const { run: begun, thread } = await opened();
      const { run, approval, slot } = withCard(begun);
      const card = await chat.post(run, slot);
      const closed = { ...approval, state: { type: "closed", cause: "run-over", at: Date.now() } } as const;
      expect(await chat.update({ ...run, approvals: [closed] }, slot, card)).toBe("updated");
      for (const place of [await under.seen(under.channel), await under.seen(under.channel, thread)])
        expect(place.find(({ ts }) => ts === card)?.words).toContain("⚪ Run ended");
    });

    test("may be repeated", async () => {
      const { run, thread } = await opened();
      expect(await chat.update(run, OPENING, thread)).toBe("updated");
      expect(await chat.update(run, OPENING, thread)).toBe("updated");
    });

    test("keeps the mark by which the message is found", async () => {
      const { run, thread } = await opened();
      await chat.update(run, OPENING, thread);
      expect(await chat.find(run, OPENING)).toEqual([thread]);
    });

    test("a deleted message is reported as gone", async () => {
      const { run, thread } = await opened();
      await chat.remove(run, OPENING, thread);
      expect(await chat.update(run, OPENING, thread)).toBe("gone");
    });
  });

  describe("finding", () => {
    test("finds nothing if nothing was posted", async () => {
      expect(await chat.find(aRun(), OPENING)).toEqual([]);
      const { run } = await opened();
      expect(await chat.find(withCard(run).run, cardSlot(ApprovalId("apr_none")))).toEqual([]);
    });

    test("finds exactly the copies of that message, oldest first", async () => {
      const { run: begun } = await opened();
      await opened();
      const one = withCard(begun);
      const other = withCard(one.run);
      const copies = [await chat.post(other.run, one.slot), await chat.post(other.run, one.slot)];
      await chat.post(other.run, other.slot);
      expect(await chat.find(other.run, one.slot)).toEqual(copies);
      expect(await chat.find(other.run, other.slot)).toHaveLength(1);
      expect(await chat.find(begun, OPENING)).toHaveLength(1);
    });

    test("ignores copies that someone else made", async () => {
      const { run, thread } = await opened();
      if ((await under.forge(under.channel, thread)) === null) return;
      expect(await chat.find(run, OPENING)).toEqual([thread]);
    });

    test("does not find what was removed, and removing may be repeated", async () => {
      const { run: begun, thread } = await opened();
      const { run, slot } = withCard(begun);
      const card = await chat.post(run, slot);
      await chat.remove(run, slot, card);
      await chat.remove(run, slot, card);
      expect(await chat.find(run, slot)).toEqual([]);
      expect(timestamps(await under.seen(under.channel, thread))).toEqual([thread]);
    });
  });

  describe("a file", () => {
    const long = "A line of the output.\n".repeat(600);

    test("is in the thread some time after it is shared, and not earlier", async () => {
      const { run: begun, thread } = await opened();
      const run = ended(begun, long);
      const { file } = await chat.upload(run, OUTPUT);
      expect(await chat.hasFile(run, file)).toBe(false);
      expect(await chat.share(run, file, OUTPUT)).toBe("shared");
      await expect.poll(() => chat.hasFile(run, file)).toBe(true);
      expect((await under.seen(under.channel, thread)).filter(({ files }) => files === 1)).toHaveLength(1);
      expect((await under.seen(under.channel)).filter(({ files }) => files > 0)).toEqual([]);
    });

    test("that was never uploaded is reported as gone", async () => {
      const { run } = await opened();
      expect(await chat.share(ended(run, long), "F0NOSUCHFILE", OUTPUT)).toBe("gone");
    });

    test("of another thread is not there", async () => {
      const [one, other] = [await opened(), await opened()];
      const run = ended(one.run, long);
      const { file } = await chat.upload(run, OUTPUT);
      await chat.share(run, file, OUTPUT);
      expect(await chat.hasFile(other.run, file)).toBe(false);
    });
  });

  describe("a message to one person", () => {
    test.each<[string, () => { channel: ChannelId; to: UserId }]>([
      ["is in the channel", () => ({ channel: under.channel, to: under.inside })],
      ["is not in the channel", () => ({ channel: under.channel, to: under.outside })],
      ["is where we are not", () => ({ channel: under.closed, to: under.inside })],
    ])("goes to the direct messages of a person who %s", async (_why, place) => {
      const { channel, to } = place();
      const words = `it is a test ${aNonce()}`;
      await chat.notify(aRun({ channel }), to, { type: "cannot-post", words });
      const messages = await under.directMessages(to);
      expect(messages ?? [words]).toContainEqual(expect.stringContaining(words));
      expect((await under.seen(under.channel)).filter(({ text }) => text.includes(words))).toEqual([]);
    });
  });
}
