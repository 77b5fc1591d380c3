// Questions to a Slack, and the answers that it must give. The sandbox is always asked, a real workspace only if someone provides tokens.
// Where the two differ, the sandbox is wrong. Posts go only to the given channel, and are deleted afterwards.

import { WebClient } from "@slack/web-api";
import { silent } from "../sandbox/slack/bolt-app.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

export type Probed = {
  /** With a slash at the end. Null means Slack itself. */
  readonly apiUrl: string | null;
  readonly botToken: string;
  /** If null, the probes of Socket Mode are skipped. */
  readonly appToken: string | null;
  /** A channel that the app is a member of. */
  readonly channel: string;
};

type Answer = Record<string, unknown> & { readonly ok: boolean };

type Asking = {
  readonly channel: string;
  /** Makes any call. Refusals are returned, too. */
  readonly call: (method: string, args?: Record<string, unknown>) => Promise<Answer>;
  /** Posts to the channel and returns the message's ts. The message is deleted at the end. */
  readonly post: (args: Record<string, unknown>) => Promise<string>;
  readonly as: (token: string) => Asking["call"];
};

/** The expected error code (one of several) and the place that it points at, or what a good answer contains. */
type Due =
  | { readonly error: string | readonly string[]; readonly pointer?: string }
  | { readonly answer: object; readonly without?: string };

type Probe = {
  readonly asks: string;
  readonly ask: (asking: Asking) => Promise<Answer>;
  readonly due: Due;
};

const plain = (text: string) => ({ type: "plain_text", text });
const blocks = (...all: object[]) => ({ text: "probe", blocks: all });
const header = (length: number) => ({ type: "header", text: plain("x".repeat(length)) });
const button = (more: object) => ({ type: "button", text: plain("Go"), ...more });
const actions = (...elements: object[]) => ({ type: "actions", elements });

const posting =
  (args: object) =>
  ({ call, channel }: Asking): Promise<Answer> =>
    call("chat.postMessage", { channel, ...args });

const calling =
  (method: string, args: Record<string, unknown> = {}) =>
  ({ call, channel }: Asking): Promise<Answer> =>
    call(method, { ...args, ...("channel" in args && args["channel"] === "here" ? { channel } : {}) });

const here = { channel: "here" };
const gone = "1700000000.000001";
const never = "C0000000000";
const modal = { type: "modal", title: plain("Probe"), blocks: [{ type: "divider" }] };

const whoCalls: readonly Probe[] = [
  {
    asks: "who it is",
    ask: calling("auth.test"),
    due: { answer: { bot_id: /^B/, user_id: /^[UW]/, team_id: /^T/ } },
  },
  { asks: "a method that does not exist", ask: calling("chat.shout"), due: { error: "unknown_method" } },
  {
    asks: "with a token that is nobody's",
    ask: ({ as }) => as("xoxb-0-0-nobody")("auth.test"),
    due: { error: "invalid_auth" },
  },
  {
    asks: "for a socket with the bot's token",
    ask: calling("apps.connections.open"),
    due: { error: "not_allowed_token_type" },
  },
  {
    asks: "for a person who is not there",
    ask: calling("users.info", { user: "U0000000000" }),
    due: { error: "user_not_found" },
  },
  {
    asks: "for the people of no group",
    ask: calling("usergroups.users.list", { usergroup: "S0000000000" }),
    due: { error: ["no_such_subteam", "plan_upgrade_required"] },
  },
];

const posts: readonly Probe[] = [
  { asks: "to post nothing", ask: posting({}), due: { error: "no_text" } },
  { asks: "to post blanks", ask: posting({ text: " " }), due: { error: "no_text" } },
  {
    asks: "to change a message to nothing",
    ask: async ({ call, channel, post }) => call("chat.update", { channel, ts: await post({ text: "x" }) }),
    due: { error: "no_text" },
  },
  {
    asks: "to change a message with blocks to a text without",
    ask: (asking) => changed(asking, { text: "changed" }),
    due: {
      answer: { messages: [{ text: "changed", edited: { user: /^[BUW]/, ts: /^\d+\.\d{6}$/ } }] },
      without: "blocks",
    },
  },
  {
    asks: "to change the blocks of a message and not its text",
    ask: (asking) => changed(asking, { blocks: [header(1)] }),
    due: {
      answer: { messages: [{ text: "probe", blocks: [{ type: "header" }], edited: { user: /^[BUW]/ } }] },
    },
  },
  {
    asks: "to post bare & < >",
    ask: async ({ call, channel, post }) => {
      const oldest = await post({ text: "a & b <c> &amp; 1 > 0" });
      return call("conversations.history", { channel, oldest, inclusive: true, limit: 1 });
    },
    due: { answer: { messages: [{ text: "a &amp; b &lt;c&gt; &amp; 1 &gt; 0" }] } },
  },
  {
    asks: "to post in no channel",
    ask: calling("chat.postMessage", { channel: never, text: "probe" }),
    due: { error: "channel_not_found" },
  },
  {
    asks: "to change what is not there",
    ask: calling("chat.update", { ...here, ts: gone, text: "probe" }),
    due: { error: "message_not_found" },
  },
  {
    asks: "to delete what is not there",
    ask: calling("chat.delete", { ...here, ts: gone }),
    due: { error: "message_not_found" },
  },
  {
    asks: "for a link to what is not there",
    ask: calling("chat.getPermalink", { ...here, message_ts: gone }),
    due: { error: "message_not_found" },
  },
  {
    asks: "to change a text to one of 4,001 characters",
    ask: async ({ call, channel, post }) =>
      call("chat.update", { channel, ts: await post({ text: "probe" }), text: "x".repeat(4001) }),
    due: { error: "msg_too_long" },
  },
  {
    asks: "to reply to a time that is none",
    ask: posting({ text: "probe", thread_ts: "0" }),
    due: { error: "invalid_thread_ts" },
  },
  {
    asks: "to post Markdown beside a text",
    ask: posting({ text: "probe", markdown_text: "probe" }),
    due: { error: "markdown_text_conflict" },
  },
  {
    asks: "to post metadata without a type",
    ask: posting({ text: "probe", metadata: { event_payload: {} } }),
    due: { error: "invalid_metadata_schema" },
  },
];

/** Returns a message with a button as it is read back after an update. */
const changed = async ({ call, channel, post }: Asking, update: object): Promise<Answer> => {
  const ts = await post(blocks(actions(button({}))));
  await call("chat.update", { channel, ts, ...update });
  return call("conversations.history", { channel, oldest: ts, inclusive: true, limit: 1 });
};

const rules: readonly Probe[] = [
  {
    asks: "for a button that leads to a script",
    ask: posting(blocks(actions(button({ url: "javascript:alert(1)" })))),
    due: { error: "invalid_blocks", pointer: "/blocks/0/elements/0/url" },
  },
  {
    asks: "for a date that is in no calendar",
    ask: posting(blocks(actions({ type: "datepicker", initial_date: "2026-99-99" }))),
    due: { error: "invalid_blocks", pointer: "/blocks/0/elements/0/initial_date" },
  },

  {
    asks: "for a header of 151 characters",
    ask: posting(blocks(header(151))),
    due: { error: "invalid_blocks", pointer: "/blocks/0/text/text" },
  },
  {
    asks: "for an empty section",
    ask: posting(blocks({ type: "section" })),
    due: { error: "invalid_blocks", pointer: "/blocks/0" },
  },
  {
    asks: "for a block of no kind",
    ask: posting(blocks({ type: "banner" })),
    due: { error: "invalid_blocks", pointer: "/blocks/0/type" },
  },
  {
    asks: "for a button value of 2,001 characters",
    ask: posting(blocks(actions(button({ value: "v".repeat(2001) })))),
    due: { error: "invalid_blocks", pointer: "/blocks/0/elements/0/value" },
  },
  {
    asks: "for 26 buttons in a row",
    ask: posting(blocks(actions(...Array.from({ length: 26 }, (_, at) => button({ action_id: `${at}` }))))),
    due: { error: "invalid_blocks", pointer: "/blocks/0/elements" },
  },
  {
    asks: "for 51 blocks",
    ask: posting(blocks(...Array.from({ length: 51 }, () => ({ type: "divider" })))),
    due: { error: "invalid_blocks", pointer: "/blocks" },
  },
  {
    asks: "for an alert in a message",
    ask: posting(blocks({ type: "alert", text: plain("x") })),
    due: { error: "invalid_blocks", pointer: "/blocks/0/type" },
  },
  {
    asks: "for blocks that are no list",
    ask: posting({ text: "probe", blocks: "{not json" }),
    due: { error: "invalid_blocks_format" },
  },
];

const reading: readonly Probe[] = [
  {
    asks: "for a thread that is not there",
    ask: calling("conversations.replies", { ...here, ts: gone }),
    due: { error: "thread_not_found" },
  },
  {
    asks: "with an unknown cursor",
    ask: calling("conversations.history", { ...here, cursor: "2" }),
    due: { error: "invalid_cursor" },
  },
  {
    asks: "for the history since a time that is none",
    ask: calling("conversations.history", { ...here, oldest: "yesterday" }),
    due: { error: "invalid_ts_oldest" },
  },
  {
    asks: "for a message without asking for its metadata",
    ask: (asking) => readBack(asking, {}),
    due: { answer: { messages: [{ text: "probe" }] }, without: "metadata" },
  },
  {
    asks: "for a message with its metadata",
    ask: (asking) => readBack(asking, { include_all_metadata: true }),
    due: { answer: { messages: [{ metadata: { event_type: "probe", event_payload: { id: "7" } } }] } },
  },
  {
    asks: "whether a reply to a deleted message says that it is no reply",
    ask: async ({ call, channel, post }) => {
      const ts = await post({ text: "parent" });
      await call("chat.delete", { channel, ts });
      const reply = await post({ text: "reply", thread_ts: ts });
      return call("conversations.history", { channel, oldest: reply, inclusive: true, limit: 1 });
    },
    due: { answer: { messages: [{ text: "reply" }] }, without: "thread_ts" },
  },
];

const readBack = async ({ call, channel, post }: Asking, more: object): Promise<Answer> => {
  const metadata = { event_type: "probe", event_payload: { id: "7" } };
  const oldest = await post({ text: "probe", metadata });
  return call("conversations.history", { channel, oldest, inclusive: true, limit: 1, ...more });
};

const others: readonly Probe[] = [
  {
    asks: "to open a modal with a trigger that was never given",
    ask: calling("views.open", { trigger_id: "132456.7890123.abcdef", view: modal }),
    due: { error: "invalid_trigger_id" },
  },
  {
    asks: "to change a view that is not open",
    ask: calling("views.update", { view_id: "V0000000000", view: modal }),
    due: { error: "not_found" },
  },
  {
    asks: "to announce an empty file",
    ask: calling("files.getUploadURLExternal", { filename: "probe.txt", length: 0 }),
    due: { error: "missing_argument" },
  },
  {
    asks: "to complete a file that was never announced",
    ask: calling("files.completeUploadExternal", { files: [{ id: "F0000000000" }] }),
    due: { error: "file_not_found" },
  },
  {
    asks: "to react twice",
    ask: async ({ call, channel, post }) => {
      const at = { channel, timestamp: await post({ text: "probe" }), name: "eyes" };
      await call("reactions.add", at);
      return call("reactions.add", at);
    },
    due: { error: "already_reacted" },
  },
  {
    asks: "to open a conversation with nobody",
    ask: calling("conversations.open"),
    due: { error: "users_list_not_supplied" },
  },
  {
    asks: "to open a conversation with itself",
    ask: async ({ call }) =>
      call("conversations.open", { users: String((await call("auth.test"))["user_id"]) }),
    due: { error: "cannot_dm_bot" },
  },
];
const everything: readonly Probe[] = [...whoCalls, ...posts, ...rules, ...reading, ...others];
// Retries as long as Slack's own rate limits require; the sandbox has none here. Most answers are refusals that a probe provokes.
const OPTIONS = { retryConfig: { retries: 5 }, logger: silent };
const clientFor = ({ apiUrl }: Probed, token: string): WebClient =>
  new WebClient(token, { ...(apiUrl !== null && { slackApiUrl: apiUrl }), ...OPTIONS });

const answerOf = async (call: Promise<unknown>): Promise<Answer> => {
  try {
    return (await call) as Answer;
  } catch (error) {
    const { data } = error as { data?: Answer };
    if (data === undefined) throw error;
    return data;
  }
};

/** Turns regular expressions in an expected answer into matchers. */
const matching = (due: unknown): unknown => {
  if (due instanceof RegExp) return expect.stringMatching(due);
  if (Array.isArray(due)) return due.map(matching);
  if (typeof due !== "object" || due === null) return due;
  return Object.fromEntries(Object.entries(due).map(([field, value]) => [field, matching(value)]));
};

const judge = (answer: Answer, due: Due): void => {
  if ("answer" in due) {
    expect(answer).toMatchObject({ ok: true, ...(matching(due.answer) as object) });
    const [message] = (answer["messages"] ?? []) as object[];
    if (due.without !== undefined) expect(message).not.toHaveProperty(due.without);
    return;
  }
  expect([due.error].flat()).toContain(answer["error"]);
  if (due.pointer !== undefined)
    expect(JSON.stringify(answer["response_metadata"])).toContain(`[json-pointer:${due.pointer}]`);
};

export const slackProbes = (
  name: string,
  start: () => Promise<Probed & { stop: () => Promise<void> }>,
): void => {
  describe(`${name}, when it is asked`, () => {
    let probed: Awaited<ReturnType<typeof start>>;
    const posted: string[] = [];
    const as = (token: string) => {
      const client = clientFor(probed, token);
      return async (method: string, args: Record<string, unknown> = {}): Promise<Answer> => {
        const answer = await answerOf(client.apiCall(method, args));
        // A probe that should have been refused but was accepted has posted, too.
        if (answer.ok && method === "chat.postMessage") posted.push(String(answer["ts"]));
        return answer;
      };
    };
    const asking = (): Asking => {
      const call = as(probed.botToken);
      const { channel } = probed;
      const post = async (args: Record<string, unknown>): Promise<string> => {
        const answer = await call("chat.postMessage", { channel, ...args });
        if (!answer.ok) throw new Error(`the probe could not post: ${String(answer["error"])}`);
        return String(answer["ts"]);
      };
      return { call, as, channel, post };
    };

    beforeAll(async () => {
      probed = await start();
    });

    afterAll(async () => {
      const { call, channel } = asking();
      for (const ts of posted) await call("chat.delete", { channel, ts });
      await probed.stop();
    });

    test.each(everything)("$asks, answers as Slack does", async ({ ask, due }) =>
      judge(await ask(asking()), due),
    );

    test("for a socket with the app's token, if there is one, gives an address", async () => {
      const answer = await as(probed.appToken ?? probed.botToken)("apps.connections.open");
      const due: Due =
        probed.appToken === null ? { error: "not_allowed_token_type" } : { answer: { url: /^wss?:/ } };
      judge(answer, due);
    });

    test("who it is, says which scopes the token has", async () => {
      const { response_metadata: said } = await asking().call("auth.test");
      expect(said).toMatchObject({ scopes: expect.arrayContaining(["chat:write"]) as string[] });
    });
  });
};
