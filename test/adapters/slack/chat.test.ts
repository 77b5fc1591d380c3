import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { WebClient } from "@slack/web-api";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { startSlack } from "#sandbox/slack/start-slack.ts";
import { slackSelf } from "#src/adapters/slack/answers.ts";
import { createChat } from "#src/adapters/slack/chat.ts";
import { createCardReplacements } from "#src/adapters/slack/click-memory.ts";
import { type Call, createClients, createReplacer, createResponder } from "#src/adapters/slack/clients.ts";
import { createFiles } from "#src/adapters/slack/files.ts";
import { createRateLimiter } from "#src/adapters/slack/rate-limiter.ts";
import { ApprovalId, ChannelId, MessageTs, RunId, UserId } from "#src/domain/ids.ts";
import { STOPPED, cardSlot, OPENING } from "#src/domain/slot.ts";
import type { Run } from "#src/domain/run.ts";
import type { Clock } from "#src/engine/clock.ts";
import { PortError } from "#src/ports.ts";
import { chatContract, type ChatUnderTest, type Shown } from "../../contract/chat.ts";
import { anApproval, aRun, aWatchedRun, NOON, REQUESTER, withApprovals } from "../../make/run.ts";
import { textOf } from "./blocks/oracle.ts";
import { SEED } from "#sandbox/world/seed.ts";
import { failureOf } from "./failing.ts";

const quiet = () => undefined;
const logger = {
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: quiet,
  setLevel: quiet,
  getLevel: () => "error",
  setName: quiet,
} as unknown as Parameters<typeof createClients>[2];

const clock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after: (ms, what) => {
    const timer = setTimeout(what, ms);
    return () => clearTimeout(timer);
  },
};
const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Creates a chat with the real clients on this token. */
async function chatOn(token: string, apiUrl: string | null) {
  const { background, quick } = createClients(token, apiUrl, logger);
  const self = slackSelf(await quick("auth.test", {}));
  const limiter = createRateLimiter(clock);
  const chat = createChat({
    call: background,
    limiter,
    files: createFiles(background, apiUrl),
    answerAt: createResponder(apiUrl),
    replaceAt: createReplacer(apiUrl),
    replacements: createCardReplacements({
      monotonic: Date.now,
      releaseUpdate: (channel, ts) => limiter.releaseUpdate(channel, ts),
    }),
    self,
    digest,
    monotonic: Date.now,
  });
  return { chat, self };
}

async function onSandbox(): Promise<ChatUnderTest> {
  const manifestPath = fileURLToPath(new URL("../../../manifest.yml", import.meta.url));
  const slack = await startSlack({ manifestPath, seed: SEED, rateLimits: false });
  const { chat, self } = await chatOn(slack.botToken, slack.apiUrl);
  const { workspace } = slack;
  const shown = (each: (typeof workspace.messages)[number]): Shown => ({
    ts: each.ts,
    text: each.text,
    words: textOf(each.blocks),
    files: each.files.length,
  });
  return {
    chat,
    team: self.team,
    channel: ChannelId("C0PAYMENTS"),
    closed: ChannelId("C0RANDOM"),
    inside: UserId("U0ANA"),
    outside: UserId("U0CAT"),
    seen: async (channel, thread) => {
      const all = workspace.messages.filter((each) => each.channel === channel && each.ephemeralFor === null);
      if (thread !== undefined)
        return all.filter((each) => each.ts === thread || each.thread === thread).map(shown);
      return all
        .filter((each) => each.thread === null || each.broadcast)
        .map(shown)
        .toReversed();
    },
    directMessages: async (person) => {
      const direct = workspace.dmOf(person).id;
      return workspace.messages
        .filter((each) => each.channel === direct)
        .map(({ text, blocks }) => `${text} ${textOf(blocks)}`);
    },
    forge: async (channel, ts) => {
      const { metadata, text } = workspace.messageAt(channel, ts) ?? { metadata: null, text: "" };
      return MessageTs(workspace.post({ channel, author: "U0ROTA", text, metadata }).ts);
    },
    stop: slack.stop,
  };
}

describe("on the sandbox's Slack", () => {
  chatContract(onSandbox);
});

/**
 * A real workspace: the app of manifest.yml is in CHAT_CHANNEL and not in CHAT_CLOSED_CHANNEL; CHAT_PERSON is in
 * both.
 */
const real = z
  .object({
    CHAT_BOT_TOKEN: z.string(),
    CHAT_CHANNEL: z.string(),
    CHAT_CLOSED_CHANNEL: z.string(),
    CHAT_PERSON: z.string(),
    CHAT_OUTSIDE_PERSON: z.string(),
  })
  .safeParse(process.env);

if (real.success)
  describe("on a real workspace", () => {
    chatContract(() => onRealSlack(real.data));
  });

const history = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      text: z.string(),
      blocks: z.unknown(),
      files: z.array(z.unknown()).default([]),
    }),
  ),
});

async function onRealSlack(env: NonNullable<typeof real.data>): Promise<ChatUnderTest> {
  const { chat, self } = await chatOn(env.CHAT_BOT_TOKEN, null);
  const web = new WebClient(env.CHAT_BOT_TOKEN);
  return {
    chat,
    team: self.team,
    channel: ChannelId(env.CHAT_CHANNEL),
    closed: ChannelId(env.CHAT_CLOSED_CHANNEL),
    inside: UserId(env.CHAT_PERSON),
    outside: UserId(env.CHAT_OUTSIDE_PERSON),
    seen: async (channel, thread) => {
      const answer =
        thread === undefined
          ? await web.conversations.history({ channel, limit: 50 })
          : await web.conversations.replies({ channel, ts: thread, limit: 50 });
      return history.parse(answer).messages.map(({ ts, text, blocks, files }) => ({
        ts,
        text,
        words: textOf(blocks ?? []),
        files: files.length,
      }));
    },
    // Slack shows an app neither ephemeral messages nor, without a further scope, direct messages. Nor can the app
    // post as another.
    directMessages: async () => null,
    forge: async () => null,
    stop: async () => undefined,
  };
}

describe("a message to Slack", () => {
  function recording(
    answer: (method: string) => { readonly [field: string]: unknown } = () => ({ ts: "1.000001" }),
    answerAt: () => Promise<void> = () => Promise.resolve(),
  ) {
    const asked: { method: string; args: { readonly [name: string]: unknown } }[] = [];
    const answered: { text: string; blocks?: unknown }[] = [];
    const rested: unknown[] = [];
    const call: Call = async (method, args) => {
      asked.push({ method, args });
      return answer(method);
    };
    const chat = createChat({
      call,
      files: createFiles(call, null),
      limiter: {
        waitForTurn: async () => undefined,
        raiseUrgency: () => undefined,
        share: () => undefined,
        sharers: () => 1,
        waiting: () => 0,
        queueBefore: () => ({ calls: 0, ms: 0 }),
        rest: (...facts) => void rested.push(facts),
      },
      answerAt: (_url, message) => (answered.push(message), answerAt()),
      replaceAt: async (_url, message) => void answered.push(message),
      replacements: { isReady: () => false, take: () => null },
      self: { user: UserId("U0COUNTERSIGN"), bot: "B0COUNTERSIGN" },
      digest,
      monotonic: () => NOON,
    });
    return { chat, asked, answered, rested };
  }

  test("lets Slack read nothing into the text, and shows no previews", async () => {
    const { chat, asked } = recording();
    await chat.post(aRun(), OPENING);
    await chat.update(aRun(), OPENING, MessageTs("1.000001"));
    expect(asked[0]?.args).toMatchObject({
      parse: "none",
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    });
    expect(asked[1]?.args).toMatchObject({ parse: "none", link_names: false });
  });

  test("about a stop, or about several requests, links to their cards, and does without if Slack gives no link", async () => {
    const ts = MessageTs("1.000002");
    const up = { type: "up", ts, shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;
    const approval = anApproval();
    const { digest } = approval.request;
    const denial = { verdict: "deny", reason: "", by: null, stoppedBy: REQUESTER, at: NOON, digest } as const;
    const state = { type: "decided", decision: denial, delivery: { type: "recorded" } } as const;
    const denied: Run = {
      ...withApprovals(aRun(), { ...approval, state }),
      stop: { by: REQUESTER, at: NOON },
      posts: { [cardSlot(approval.id)]: up },
    };
    const of = [1, 2].map((n) => ({
      run: denied.key,
      approval: approval.id,
      n,
      asked: "delete it",
      card: ts,
    }));
    const message = {
      since: NOON,
      says: "over",
      of,
      oldest: NOON,
      who: { users: [], groups: [], more: 0 },
    } as const;
    const oneWaits = {
      ...message,
      says: "waits",
      since: NOON + 1,
      of: of.map((each) => (each.n === 1 ? { ...each, done: true as const } : each)),
    } as const;
    const run: Run = { ...denied, gathered: [message, oneWaits] };
    const permalink = "https://acme.slack.com/archives/C0OPS/p1000002";
    const urls = async (found: { readonly [field: string]: unknown }): Promise<readonly number[]> => {
      const { chat, asked } = recording((method) =>
        method === "chat.getPermalink" ? found : { ts: "1.000001" },
      );
      await chat.post(run, STOPPED);
      await chat.update(run, STOPPED, ts);
      await chat.post(run, `several ${NOON}`);
      await chat.post(run, `several ${NOON + 1}`);
      const looked = asked.filter(({ method }) => method === "chat.getPermalink").map(({ args }) => args);
      for (const args of looked) expect(args).toEqual({ channel: run.channel, message_ts: ts });
      const posted = asked.filter(({ method }) => method !== "chat.getPermalink");
      return posted.map(
        ({ args }) => JSON.stringify(args["blocks"]).split(`"url":"${permalink}"`).length - 1,
      );
    };
    expect(await urls({ permalink })).toEqual([1, 1, 2, 1]);
    expect(await urls({})).toEqual([0, 0, 0, 0]);
  });

  test("is marked with ids only, different for each message, the same at each attempt", async () => {
    const { chat, asked } = recording();
    const run = aWatchedRun(RunId("run_secret"), { input: "a secret task" });
    await chat.post(run, OPENING);
    await chat.post(run, OPENING);
    await chat.post(aRun(), OPENING);
    const marks = asked.map(({ args }) => JSON.stringify(args["metadata"]));
    expect(marks[0]).toBe(marks[1]);
    expect(marks[0]).not.toBe(marks[2]);
    expect(marks[0]).not.toMatch(/secret/);
  });

  test("is followed by as long a pause as Slack asks for", async () => {
    const { chat, rested } = recording(() => {
      throw new PortError("slow", { applied: "no", retry: "later", code: "http_429", retryAfterMs: 7_000 });
    });
    const run = aRun();
    await failureOf(chat.post(run, OPENING));
    await failureOf(chat.update(run, OPENING, MessageTs("1.000001")));
    expect(rested).toEqual([
      ["post", run.channel, 7_000],
      ["update", run.channel, 7_000],
    ]);
  });

  test("does not count as posted if Slack does not say which message it posted", async () => {
    const { chat } = recording(() => ({}));
    expect(await failureOf(chat.post(aRun(), OPENING))).toMatchObject({ applied: "maybe" });
  });

  test("is sent to the address of the command while that is valid, and directly to the person afterwards", async () => {
    const answer = { url: "https://hooks.slack.com/x", until: NOON + 1 };
    const says = { type: "cannot-post", words: "x" } as const;
    const one = recording();
    const run = aRun({ answer });
    await one.chat.notify(run, run.requester, says);
    expect([one.answered.length, one.asked.length]).toEqual([1, 0]);
    const lapsed = aRun({ answer: { ...answer, until: NOON } });
    await one.chat.notify(lapsed, run.requester, says);
    await one.chat.notify(run, UserId("U0SOMEONE"), says);
    expect(one.answered).toHaveLength(1);
    expect(one.asked.map(({ method, args }) => [method, args["channel"]])).toEqual([
      ["chat.postMessage", run.requester],
      ["chat.postMessage", "U0SOMEONE"],
    ]);
  });

  test("about a decision never answers a command, because the answer is gone after a reload", async () => {
    const { chat, asked, answered } = recording();
    const run = aRun({ answer: { url: "https://hooks.slack.com/x", until: NOON + 1 } });
    await chat.notify(run, run.requester, { type: "decision-unconfirmed", approval: ApprovalId("apr_1") });
    expect(answered).toEqual([]);
    expect(asked.map(({ method, args }) => [method, args["channel"]])).toEqual([
      ["chat.postMessage", run.requester],
    ]);
  });

  test("is shown in the channel to a person to whom Slack lets no one write directly", async () => {
    const refused = new PortError("refused", { applied: "no", retry: "never", code: "channel_not_found" });
    const { chat, asked } = recording((method) => {
      if (method === "chat.postMessage") throw refused;
      return {};
    });
    const run = aRun();
    await chat.notify(run, run.requester, { type: "cannot-post", words: "x" });
    expect(asked.map(({ method, args }) => [method, args["channel"], args["user"]])).toEqual([
      ["chat.postMessage", run.requester, undefined],
      ["chat.postEphemeral", run.channel, run.requester],
    ]);
  });

  test.each([
    ["no", ["chat.postMessage"]],
    ["maybe", []],
  ] as const)(
    "that fails at the command's address is sent directly only if it certainly did not arrive (%s)",
    async (applied, methods) => {
      const lost = new PortError("no answer", { applied, retry: "later", code: "timeout" });
      const { chat, asked } = recording(undefined, () => Promise.reject(lost));
      const run = aRun({ answer: { url: "https://hooks.slack.com/x", until: NOON + 1 } });
      await chat.notify(run, run.requester, { type: "cannot-post", words: "x" }).catch(() => undefined);
      expect(asked.map(({ method }) => method)).toEqual(methods);
    },
  );

  test("contains the service's words only where Slack reads no markup", async () => {
    const words = "*bold* https://evil.example `code` :tada:";
    const says = { type: "decision-refused", approval: ApprovalId("apr_1"), words } as const;
    const { chat, asked } = recording();
    const run = aRun();
    await chat.notify(run, run.requester, says);
    const blocks = asked[0]?.args["blocks"];
    expect(blocks, "the words stand in blocks").toBeDefined();
    expect(JSON.stringify(blocks)).not.toContain("mrkdwn");
    expect(textOf(blocks)).toContain(words);
  });
});
