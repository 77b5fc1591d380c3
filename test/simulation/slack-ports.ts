// Slack as one process reaches it.

import { channelOf } from "#src/domain/gathered-call.ts";
import { type ChannelId, type MessageTs, type UserId } from "#src/domain/ids.ts";
import { isAboutDecision } from "#src/domain/notice.ts";
import type { Run } from "#src/domain/run.ts";
import type { Slot } from "#src/domain/slot.ts";
import type { Chat, OwnMessages, People } from "#src/ports.ts";
import {
  isReceipt,
  type Notification,
  type NotificationFacts,
  type NotificationSender,
} from "#src/ports/notification.ts";
import { callOut, type Fate } from "./call-out.ts";
import { APPROVERS, CHANNELS, GUEST } from "./cast.ts";
import type { Host } from "./setting.ts";

/** For posts, updates and removals. An old update may be the last that arrives. */
const CHANGE_FATES = [
  "done",
  "lost",
  "unanswered",
  "late",
  "hung",
  "busy",
  "dies",
  "dies-sent",
  "stalls",
  "outlasts",
] as const;
const READ_FATES = ["done", "lost", "slow", "busy", "dies"] as const;

type Fates = readonly [Fate, ...Fate[]];
type Act<Answer> = () => Answer;

export function slackPorts(from: Host) {
  return {
    chat: chat(from),
    people: people(from),
    notificationSender: notificationSender(from),
    ownMessages: NO_OWN_MESSAGES,
  };
}

function chat(from: Host): Chat {
  const { slack } = from.world;
  const changes = <A>(place: string, act: Act<A>, lateMs: number | null = null): Promise<A> =>
    callOut(from, { place, fates: CHANGE_FATES, changes: true, act, ...(lateMs !== null && { lateMs }) });
  const reads = <A>(place: string, act: Act<A>): Promise<A> =>
    callOut(from, { place, fates: READ_FATES, act });
  return {
    waitForTurn: () => new Promise((resolve) => void from.later(0, resolve)),
    raiseUrgency: () => undefined,
    shareLimits: () => undefined,
    notifyIfQueued: () => Promise.resolve(),
    post: (run, slot) =>
      changes(`post ${slot}`, () => post(from, run, slot), from.world.fortune.latePostMs()),
    update: (run, slot, ts) =>
      changes(`update ${slot}`, () => {
        const done = slack.update(channelOf(run, slot), ts, run);
        if (done === "updated") from.world.judge.shows(run, slot);
        return done;
      }),
    find: (run, slot) => reads(`find ${slot}`, () => found(from, run, slot)),
    isThere: (channel, ts) => reads("is there", () => slack.at(channel, ts) !== null),
    remove: (run, slot, ts) =>
      changes(`remove ${slot}`, () => {
        from.world.reached("an extra copy of a message is removed");
        slack.remove(channelOf(run, slot), ts);
      }),
    upload: () => changes("upload", () => ({ file: slack.nextTs() })),
    share: () => changes("share", () => "shared" as const),
    hasFile: () => reads("has file", () => true),
    notify: (run, to, says) => {
      const notice = `${JSON.stringify(says)} to ${to} about ${run.key}`;
      if (isAboutDecision(says) && !slack.notices.has(notice)) slack.notices.set(notice, false);
      return changes("send-notice", () => {
        if (slack.notices.has(notice)) slack.notices.set(notice, true);
      });
    },
  };
}

function post(from: Host, run: Run, slot: Slot): MessageTs {
  const { slack, judge } = from.world;
  if (slack.of(run.key, slot).length > 0) from.world.reached("a message is posted once more");
  const ts = slack.post(channelOf(run, slot), run, slot);
  judge.shows(run, slot);
  return ts;
}

function found(from: Host, run: Run, slot: Slot): readonly MessageTs[] {
  const copies = from.world.slack.copies(channelOf(run, slot), run.key, slot);
  if (copies.length > 0 && run.posts[slot]?.type === "unsure") from.world.reached("a lost post is found");
  return copies;
}

function people(from: Host): People {
  const { slack } = from.world;
  const asks = <A>(place: string, act: Act<A>): Promise<A> => {
    const fates: Fates = READ_FATES;
    return callOut(from, { place, fates, act });
  };
  const kindOf = (user: UserId): "member" | "guest" | "deactivated" =>
    slack.gone.has(user) ? "deactivated" : user === GUEST ? "guest" : "member";
  return {
    shareLimits: () => undefined,
    lookUp: (team, user) => asks("who is", () => ({ team, user, kind: kindOf(user), seesChannel: true })),
    nameOf: () => Promise.resolve(null),
    channelsOf: () => asks("channels of", () => new Set<ChannelId>(CHANNELS)),
    membersOf: () => asks("members of", () => APPROVERS.filter((user) => !slack.gone.has(user))),
    isPublic: () => asks("is public", () => true),
    memberOf: (_user, sets) => Promise.resolve(new Map(sets.map((set) => [set, false]))),
  };
}

type Posted = { readonly receipt: Notification; readonly facts: NotificationFacts };

function notificationSender(from: Host): NotificationSender {
  const { slack } = from.world;
  const copies = new Map<string, MessageTs[]>();
  const posts = (...all: readonly Posted[]): Promise<MessageTs> =>
    callOut(from, {
      place: "notification",
      fates: CHANGE_FATES,
      changes: true,
      act: () => {
        const ts = slack.nextTs();
        for (const { receipt, facts } of all) {
          copies.set(receipt.id, [...(copies.get(receipt.id) ?? []), ts]);
          if (isReceipt(receipt)) slack.receipts.push({ to: receipt.to, of: facts.entry.entry });
        }
        return ts;
      },
    });
  return {
    post: (receipt, facts) => posts({ receipt, facts }),
    postReceipts: (_to, receipts) => posts(...receipts),
    find: ({ id }) => Promise.resolve(copies.get(id) ?? []),
    remove: () => Promise.resolve(),
    attach: () => Promise.resolve(),
    file: () => Promise.resolve(),
  };
}

/** The simulator restores no back-ups. */
const NO_OWN_MESSAGES: OwnMessages = {
  channels: () => Promise.resolve({ channels: [...CHANNELS], next: "" }),
  since: () => Promise.resolve({ messages: [], next: "" }),
  at: () => Promise.resolve(null),
  slotOf: () => null,
  close: () => Promise.resolve("gone"),
};
