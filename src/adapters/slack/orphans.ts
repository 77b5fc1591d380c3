// The `OwnMessages` port over Slack's Web API. Any app may copy our metadata, so a message is ours only if our bot wrote it. It belongs to
// this installation only if its mark says so.

import { ChannelId, MessageTs, parsed, RunId, RunKey } from "../../domain/ids.ts";
import type { OrphanKind, OwnMessage } from "../../domain/orphan.ts";
import type { Run } from "../../domain/run.ts";
import type { Slot } from "../../domain/slot.ts";
import { type OwnMessages, PortError } from "../../ports.ts";
import { type SlackHistory, slackChannels, slackHistory } from "./answers.ts";
import type { CardStateName } from "./blocks/card-state.ts";
import type { Deployment } from "./blocks/deployment.ts";
import { orphanMessage } from "./blocks/orphan-message.ts";
import type { Call } from "./clients.ts";
import { CARD_STATE_BLOCK, METADATA_EVENT } from "./names.ts";
import { isOurs, linkAt, markOf, paced, PAGE, type Self, SKEW_MS, updateAt } from "./own-messages.ts";
import type { RateLimiter } from "./rate-limiter.ts";

type Deps = {
  readonly call: Call;
  readonly quick: Call;
  readonly limiter: Pick<RateLimiter, "rest">;
  readonly self: Self;
  /** The name of this installation in the marks of its messages. If it is empty, no message is recognized as ours. */
  readonly home: string;
  readonly command: string;
  readonly deployment: Deployment;
  readonly digest: (text: string) => string;
};

export function createOwnMessages(deps: Deps): OwnMessages {
  const { call, digest, deployment, command } = deps;
  const ownIn = (channel: ChannelId, { messages }: SlackHistory): readonly OwnMessage[] =>
    messages.flatMap((message) => ownMessage(deps, channel, message) ?? []);
  return {
    async channels(cursor) {
      const args = { types: "public_channel,private_channel", limit: PAGE, exclude_archived: true };
      const answer = slackChannels(await call("users.conversations", withCursor(args, cursor)));
      return { channels: answer.ids.flatMap((id) => parsed(ChannelId, id) ?? []), next: answer.next };
    },

    async since(channel, at, cursor) {
      const oldest = String(Math.max(at - SKEW_MS, 0) / 1_000);
      const args = { channel, oldest, limit: PAGE, include_all_metadata: true };
      const answer = await paced(deps, channel, "sweep", async () =>
        slackHistory(await call("conversations.history", withCursor(args, cursor))),
      );
      return { messages: ownIn(channel, answer), next: answer.response_metadata?.next_cursor ?? "" };
    },

    at: (channel, ts) => paced(deps, channel, "read", async () => messageAt(deps, ownIn, channel, ts)),

    slotOf: ({ mark }, run: Run, slots: readonly Slot[]) =>
      slots.find((slot) => markOf(digest, run, slot) === mark) ?? null,

    async close({ channel, ts }, orphan) {
      const link = await linkAt(deps, channel, orphan.current);
      const drawn = orphanMessage(orphan, { command, link, deployment });
      return paced(deps, channel, "update", () => updateAt(call, { channel, ts, ...drawn }));
    },
  };
}

const withCursor = (args: object, cursor: string): Record<string, unknown> =>
  cursor === "" ? { ...args } : { ...args, cursor };

/** Reads one message. Replies are not in a channel's history, but `conversations.replies` accepts the `ts` of a reply. */
async function messageAt(
  { call }: Deps,
  ownIn: (channel: ChannelId, history: SlackHistory) => readonly OwnMessage[],
  channel: ChannelId,
  ts: MessageTs,
): Promise<OwnMessage | null> {
  const where = {
    channel,
    ts,
    oldest: ts,
    latest: ts,
    inclusive: true,
    limit: 2,
    include_all_metadata: true,
  };
  try {
    const answer = slackHistory(await call("conversations.replies", where));
    return ownIn(channel, answer).find((message) => message.ts === ts) ?? null;
  } catch (error) {
    if (error instanceof PortError && error.code === "thread_not_found") return null;
    throw error;
  }
}

type HistoryMessage = SlackHistory["messages"][number];

function ownMessage(
  { self, home, deployment }: Deps,
  channel: ChannelId,
  message: HistoryMessage,
): OwnMessage | null {
  const { metadata, blocks } = message;
  if (home === "" || metadata?.event_type !== METADATA_EVENT || !isOurs(message, self)) return null;
  const payload = metadata.event_payload;
  const ts = parsed(MessageTs, message.ts);
  const run = parsed(RunKey, payload["run"]);
  const { mark } = payload;
  if (payload["home"] !== home || ts === null || run === null || typeof mark !== "string") return null;
  return {
    channel,
    ts,
    run,
    runId: parsed(RunId, payload["id"]),
    mark,
    kind: kindOf(blocks),
    about: plain(message.text, deployment),
    isLive: isLive(blocks),
  };
}

/** The text of our message without the deployment's name, the requester and Slack's entities (see `escaped`). */
function plain(text: string, { name }: Deployment): string {
  const unnamed = name !== "" && text.startsWith(`${name} · `) ? text.slice(name.length + 3) : text;
  const words = unnamed.replace(/, (asked|watched) by <@\w+>$/, "");
  return words.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** The states of a card that still waits. A settled card stays as it is, and still offers to read the request. */
const UNSETTLED: readonly CardStateName[] = [
  "pending",
  "held",
  "sending",
  "retrying",
  "held-back",
  "waiting",
  "checking",
];

function isLive(blocks: HistoryMessage["blocks"]): boolean {
  const [first] = blocks;
  if (kindOf(blocks) === "card")
    return UNSETTLED.some((state) => first?.block_id?.startsWith(`${CARD_STATE_BLOCK}${state}:`));
  return blocks.some(({ type }) => type === "actions");
}

function kindOf([first]: HistoryMessage["blocks"]): OrphanKind {
  const id = first?.block_id ?? "";
  return id.startsWith(CARD_STATE_BLOCK) ? "card" : id.startsWith("run:") ? "opening" : "other";
}
