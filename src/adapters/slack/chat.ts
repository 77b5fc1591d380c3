// The `Chat` port over Slack's Web API: draws, posts, updates and finds the messages of runs.

import { callIn, isAnnouncement } from "../../domain/call.ts";
import { channelOf, gatheredIn, isGatheredSlot } from "../../domain/gathered-call.ts";
import type { ChannelId, MessageTs } from "../../domain/ids.ts";
import type { Run } from "../../domain/run.ts";
import { OPENING, type Slot, UNREADABLE, approvalOfCard, isListingSlot } from "../../domain/slot.ts";
import { isStormSlot, stormSince } from "../../domain/storm.ts";
import { type Chat, PortError } from "../../ports.ts";
import { slackHistory } from "./answers.ts";
import type { Deployment } from "./blocks/deployment.ts";
import type { Message } from "./blocks/rich.ts";
import { inChannel, linkedCards, messageIn } from "./blocks/run-thread.ts";
import type { CardReplacements } from "./click-memory.ts";
import type { Call, Replacer, Responder } from "./clients.ts";
import type { Files } from "./files.ts";
import { notifyIfQueued, sendNotice } from "./notices.ts";
import {
  emptyOn,
  findMarked,
  isOurs,
  linksTo,
  LITERAL,
  type Mark,
  markOf,
  type Messages,
  metadataOf,
  originOf,
  paced,
  pages,
  postMarked,
  readChannel,
  removeMessage,
  type Self,
  TOO_MANY,
  updateAt,
} from "./own-messages.ts";
import type { RateLimiter } from "./rate-limiter.ts";

type Deps = {
  call: Call;
  files: Files;
  limiter: Omit<RateLimiter, "releaseUpdate">;
  answerAt: Responder;
  replaceAt: Replacer;
  replacements: Pick<CardReplacements, "isReady" | "take">;
  self: Self;
  /** Names this deployment, for people who use several. */
  deployment?: Deployment;
  digest: (text: string) => string;
  /** The name of this installation in the marks of its messages. If it is empty, the marks name none. */
  home?: string;
  monotonic: () => number;
};

export function createChat(deps: Deps): Chat {
  const { files, call } = deps;
  const { digest, home = "" } = deps;
  const mark = (run: Run, slot: Slot): string => markOf(digest, run, slot);
  const fullMark = (run: Run, slot: Slot): Mark => ({ mark: mark(run, slot), ...originOf(run, home) });
  return {
    waitForTurn: async (effect, isWanted) => {
      const { kind, channel, message } = effect;
      const isUnlimited =
        kind === "update" && message !== undefined && deps.replacements.isReady(channel, message);
      if (!isUnlimited) await deps.limiter.waitForTurn(effect, isWanted);
    },
    notifyIfQueued: (run, effect) => notifyIfQueued(deps, run, effect),
    raiseUrgency: (effect) => deps.limiter.raiseUrgency(effect),
    shareLimits: (among) => deps.limiter.share(among),
    post: (run, slot) =>
      paced(deps, channelOf(run, slot), "post", () => post(deps, run, slot, fullMark(run, slot))),
    update: (run, slot, ts) =>
      paced(deps, channelOf(run, slot), "update", () =>
        redraw(deps, run, slot, { ts, mark: fullMark(run, slot) }),
      ),
    find: (run, slot) =>
      paced(deps, channelOf(run, slot), "read", () =>
        isAnnouncement(slot) || isGatheredSlot(slot)
          ? findAnnouncement(deps, run, slot, mark(run, slot))
          : findMessages(deps, run, mark(run, slot), {
              inChannel: inChannel(slot),
              since: wantedSince(slot),
            }),
      ),
    isThere: (channel, ts) => paced(deps, channel, "sweep", () => isThere(call, channel, ts)),
    remove: (run, slot, ts) =>
      paced(deps, channelOf(run, slot), "other", () => removeMessage(deps.call, channelOf(run, slot), ts)),
    upload: (run, slot) => paced(deps, run.channel, "other", () => files.upload(run, slot)),
    share: (run, file, slot) => paced(deps, run.channel, "post", () => files.share(run, file, slot)),
    hasFile: (run, file) => paced(deps, run.channel, "read", () => hasFile(deps, run, file)),
    notify: (run, to, notice) => paced(deps, to, "post", () => sendNotice(deps, run, to, notice)),
  };
}

/** Draws a message with its links. Without an answer from Slack it has none, because no message may depend on a link. */
async function drawn({ call, deployment }: Deps, run: Run, slot: Slot): Promise<Message> {
  return messageIn(run, slot, deployment, await linksTo(call, run.channel, linkedCards(run, slot)));
}

async function post(deps: Deps, run: Run, slot: Slot, mark: Mark): Promise<MessageTs> {
  const opening = run.posts[OPENING];
  const thread = inChannel(slot) || opening?.type !== "up" ? {} : { thread_ts: opening.ts };
  // A card is a reply that Slack also shows in the channel: one message in both places, so one set of buttons.
  const broadcast =
    approvalOfCard(slot) !== null || isListingSlot(slot) || slot === UNREADABLE
      ? { reply_broadcast: true }
      : {};
  return postMarked(deps.call, mark, {
    channel: channelOf(run, slot),
    ...(await drawn(deps, run, slot)),
    ...thread,
    ...broadcast,
  });
}

async function redraw(
  deps: Deps,
  run: Run,
  slot: Slot,
  at: { readonly ts: MessageTs; readonly mark: Mark },
): Promise<"updated" | "gone" | "unchangeable"> {
  const url = deps.replacements.take(channelOf(run, slot), at.ts);
  if (url === null) return update(deps, run, slot, at);
  await replace(deps, url, { ...(await drawn(deps, run, slot)), metadata: metadataOf(at.mark) });
  return "updated";
}

async function update(
  deps: Deps,
  run: Run,
  slot: Slot,
  { ts, mark }: { readonly ts: MessageTs; readonly mark: Mark },
): Promise<"updated" | "gone" | "unchangeable"> {
  return updateAt(deps.call, {
    channel: channelOf(run, slot),
    ts,
    ...(await drawn(deps, run, slot)),
    metadata: metadataOf(mark),
  });
}

/**
 * Replaces a card through the `response_url` of a click, which does not count as a `chat.update`. Sends the mark too, because Slack does
 * not document whether a replaced message keeps its metadata. If anything goes wrong, the paced update draws the card again.
 */
async function replace(
  { replaceAt }: Deps,
  url: string,
  message: Message & { readonly metadata: object },
): Promise<void> {
  const { parse, link_names } = LITERAL;
  try {
    await replaceAt(url, { ...message, parse, link_names });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { applied, code } = error;
    throw new PortError("Slack did not replace the card", { applied, retry: "later", code, cause: error });
  }
}

// Finds a message whose post got no answer.

type SearchDeps = { readonly call: Call; readonly self: Self };

/** When the message was first wanted, if its slot says so. */
const wantedSince = (slot: Slot): number | undefined => (isStormSlot(slot) ? stormSince(slot) : undefined);

/**
 * Resolves to all copies of a message, oldest first. `since` is when it was first wanted, and matters only for messages of the channel
 * itself. Rejects with PortError.
 */
export async function findMessages(
  deps: SearchDeps,
  run: Run,
  mark: string,
  { inChannel, since }: { readonly inChannel: boolean; readonly since?: number | undefined },
): Promise<readonly MessageTs[]> {
  return findMarked(await readBack(deps.call, run, inChannel, since), mark, deps.self);
}

/** Finds a message in a channel that may contain nothing else of the run. */
async function findAnnouncement(
  { call, self }: SearchDeps,
  run: Run,
  slot: Slot,
  mark: string,
): Promise<readonly MessageTs[]> {
  const since = callIn(run, slot)?.call.at ?? gatheredIn(run, slot)?.since ?? run.askedAt;
  return findMarked(await readChannel(call, channelOf(run, slot), since), mark, self);
}

export async function hasFile(deps: SearchDeps, run: Run, file: string): Promise<boolean> {
  const isFile = (message: Messages[number]): boolean =>
    isOurs(message, deps.self) && message.files.some(({ id }) => id === file);
  const thread = await repliesTo(deps.call, run, isFile);
  if (thread?.some(isFile) === true) return true;
  return (await readOutside(deps.call, run, thread !== null)).some(isFile);
}

/** Looks in the channel itself, which finds a reply only if it was also sent to the channel, like cards. Rejects with PortError. */
async function isThere(call: Call, channel: ChannelId, ts: MessageTs): Promise<boolean> {
  const where = { channel, oldest: ts, latest: ts, inclusive: true, limit: 1 };
  return slackHistory(await call("conversations.history", where)).messages.some(
    (message) => message.ts === ts,
  );
}

async function readBack(
  call: Call,
  run: Run,
  inChannel: boolean,
  since = run.outage?.since ?? run.askedAt,
): Promise<Messages> {
  const isOpened = run.posts[OPENING]?.type === "up";
  // A busy channel has too many messages since the start of a long run, so the search for a notice begins at its cause.
  if (isOpened && inChannel) return readChannel(call, run.channel, since);
  const replies = await repliesTo(call, run);
  return [...(replies ?? []), ...(await readOutside(call, run, isOpened))];
}

/** Resolves to null if the run has no thread. Stops at the first page on which `isWanted` finds a message. */
async function repliesTo(
  call: Call,
  { channel, posts }: Run,
  isWanted?: (message: Messages[number]) => boolean,
): Promise<Messages | null> {
  const opening = posts[OPENING];
  if (opening?.type !== "up") return null;
  const where = { channel, ts: opening.ts };
  return emptyOn(
    ({ code }) => code === "thread_not_found",
    pages(call, "conversations.replies", where, isWanted),
  );
}

/** If the first message of a thread is deleted, Slack puts replies to it into the channel, outside any thread. */
function readOutside(call: Call, { channel, askedAt }: Run, hasThread: boolean): Promise<Messages> {
  const all = readChannel(call, channel, askedAt);
  return hasThread ? emptyOn(({ code }) => code === TOO_MANY, all) : all;
}
