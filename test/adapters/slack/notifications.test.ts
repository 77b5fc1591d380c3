import { expect, test } from "vitest";
import type { Answer, Call } from "#src/adapters/slack/clients.ts";
import { UNNAMED } from "#src/adapters/slack/blocks/deployment.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import { SKEW_MS } from "#src/adapters/slack/own-messages.ts";
import { METADATA_EVENT } from "#src/adapters/slack/names.ts";
import { createNotificationSender, onNotMe } from "#src/adapters/slack/notifications.ts";
import { MessageTs, UserId } from "#src/domain/ids.ts";
import { ok } from "#src/domain/result.ts";
import { PLANNED } from "#src/domain/posted-message.ts";
import { PortError } from "#src/ports.ts";
import type { Notification } from "#src/ports/notification.ts";
import { aNonce, CHANNEL, NOON } from "../../make/run.ts";
import { messageExamples } from "./blocks/page/page.ts";
import { REPORTED } from "./blocks/page/private.ts";
import { printedBlocks } from "./blocks/printed.ts";

const DAY = 24 * 60 * 60_000;
const self = { user: UserId("U0COUNTERSIGN"), bot: "B0COUNTERSIGN" };
const head: Notification = { id: aNonce(), kind: "head", entry: 1, to: CHANNEL, madeAt: NOON, post: PLANNED };
const markOf = (text: string): string => `digest of ${text}`.slice(0, 32);

function createTried(call: Call) {
  const rests: unknown[] = [];
  const limiter = {
    waitForTurn: () => Promise.resolve(),
    rest: (...rest: unknown[]) => void rests.push(rest),
  };
  const files = { upload: never, share: never, put: never };
  const digest = (text: string): string => `digest of ${text}`;
  return {
    sender: createNotificationSender({
      call,
      limiter,
      files,
      self,
      deployment: { name: "PROD", runUrl: null },
      command: "/agent",
      digest,
    }),
    rests,
  };
}
const never = () => Promise.reject(new Error("not asked for"));

test("a notification is found by its mark among our own messages, each copy once, oldest first", async () => {
  const mark = { mark: markOf(`letter ${head.id}`) };
  const ours = { user: self.user, metadata: { event_type: METADATA_EVENT, event_payload: mark } };
  const messages = [
    { ts: "103.000001", ...ours },
    { ts: "101.000001", ...ours },
    { ts: "101.000001", ...ours },
    { ts: "102.000001", ...ours, user: "U0EVE" },
    { ts: "104.000001", ...ours, metadata: { event_type: "another_app", event_payload: mark } },
  ];
  const { sender } = createTried(async (): Promise<Answer> => ({ messages }));
  expect(await sender.find(head)).toEqual(["101.000001", "103.000001"]);
});

test.each<[string, Notification["post"]]>([
  ["", { type: "unsure", lookAt: 0, tries: 21, refusals: 20, lostAt: NOON + 20 * DAY }],
  [
    "'s late copies",
    {
      type: "up",
      ts: MessageTs("101.000001"),
      shows: "",
      sweepAt: 0,
      notBefore: 0,
      tries: 0,
      lostAt: NOON + 20 * DAY,
    },
  ],
])("a notification%s: the search begins shortly before its answer was first lost", async (_, post) => {
  const since: unknown[] = [];
  const { sender } = createTried(async (_method, args): Promise<Answer> => {
    since.push({ oldest: "", ...args }.oldest);
    return { messages: [] };
  });
  await sender.find({ ...head, post });
  expect(since).toEqual([String((NOON + 20 * DAY - SKEW_MS) / 1_000)]);
});

test("a notification counts as not found if the channel has too many messages since", async () => {
  const page: Answer = { messages: [], response_metadata: { next_cursor: "more" } };
  const { sender } = createTried(() => Promise.resolve(page));
  expect(await sender.find(head)).toEqual([]);
});

test("a notification counts as not found in a channel that Slack does not let the app read", async () => {
  const refusal = new PortError("no", { applied: "no", retry: "never", code: "not_in_channel" });
  const { sender } = createTried(() => Promise.reject(refusal));
  expect(await sender.find(head)).toEqual([]);
});

test("after a 429, the next reads and removals wait too", async () => {
  const { sender, rests } = createTried(() =>
    Promise.reject(
      new PortError("slow down", {
        applied: "no",
        retry: "later",
        code: "ratelimited",
        retryAfterMs: 30_000,
      }),
    ),
  );
  await expect(sender.find(head)).rejects.toThrow("slow down");
  await expect(sender.remove(head, MessageTs("101.000001"))).rejects.toThrow("slow down");
  expect(rests).toEqual([
    ["read", CHANNEL, 30_000],
    ["other", CHANNEL, 30_000],
  ]);
});

/** What takes the place of the receipt after "This was not me". */
async function replacedBy(reported: object): Promise<unknown[]> {
  const replaced: unknown[] = [];
  const post = { type: "up", ts: MessageTs("1.1"), shows: "" };
  const receipt = { ...REPORTED.receipt, post };
  const notified = { admins: 1, channel: true };
  const disputed = { ...REPORTED, again: false, notified, together: [], receipt, ...reported };
  const deps = {
    deployment: UNNAMED,
    dispute: async () => ok(disputed),
    quick: async () => ({ permalink: "https://acme.slack.com/archives/C0OPS/p1" }),
    answerAt: async (_url: string, message: object) => void replaced.push(message),
  } as unknown as ListenerDeps;
  const payload = {
    user: { id: "U0BEN" },
    actions: [{ value: aNonce() }],
    response_url: "",
    trigger_id: "1",
  };
  await onNotMe(deps, payload as unknown as Parameters<typeof onNotMe>[1]);
  return replaced;
}

test('a receipt that is reported with "This was not me" keeps its link to the card', async () => {
  const [receipt] = await replacedBy({ facts: { ...REPORTED.facts, card: MessageTs("2.2") } });
  expect(JSON.stringify(receipt)).toContain("You reported this");
  expect(JSON.stringify(receipt)).toContain("https://acme.slack.com/archives/C0OPS/p1");
});

test("a receipt whose facts the store does not give stays as it is", async () => {
  expect(await replacedBy({ facts: null })).toEqual([]);
});

async function answersToReports() {
  const { "answer:reported": examples } = await messageExamples();
  return (which: string): string => {
    const drawn = examples.find(({ when }) => when === which)?.drawn;
    if (drawn === undefined) throw new Error(`no example: ${which}`);
    return printedBlocks(drawn.blocks);
  };
}

test('the answer to "This was not me" begins with Deny if that can still keep an approval from being sent', async () => {
  const wordsOf = await answersToReports();
  expect(wordsOf("not sent yet")).toMatch(/^\**Deny the request on its card now/);
  expect(wordsOf("a denial, not sent yet")).not.toMatch(/deny (it|the)/i);
});

test('the answer to "This was not me" says who is alerted, and claims no admin if none is named', async () => {
  const wordsOf = await answersToReports();
  expect(wordsOf("")).toContain("the admins are being alerted.");
  expect(wordsOf("only an audit channel")).toContain(
    "the audit channel is being alerted. But no admin is named, so *tell the people who operate Countersign right away*.",
  );
  expect(wordsOf("no admin and no audit channel")).toContain(
    "But no admin is named in Countersign's configuration, so *tell the people who operate Countersign right away*.",
  );
});
