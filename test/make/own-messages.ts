// A Slack with messages of ours that a test sets, independently of the store.

import { ChannelId, MessageTs, type RunKey } from "#src/domain/ids.ts";
import type { Orphan, OwnMessage } from "#src/domain/orphan.ts";
import type { Slot } from "#src/domain/slot.ts";
import type { OwnMessages } from "#src/ports.ts";
import { CHANNEL } from "./run.ts";

export type HandOwnMessages = OwnMessages & {
  readonly messages: OwnMessage[];
  readonly closed: { readonly ts: MessageTs; readonly orphan: Orphan }[];
  /** The start times of the requested histories. */
  readonly asked: number[];
  beforeRead: () => Promise<void>;
  beforeClose: () => Promise<void>;
};

const markOf = (run: { readonly key: RunKey }, slot: Slot): string => `${run.key} ${slot}`;

/** A message as Slack has it, with buttons. */
export function anOwnMessage(
  run: { readonly key: RunKey },
  slot: Slot,
  ts: string,
  facts: Partial<OwnMessage> = {},
): OwnMessage {
  const kind = slot.startsWith("card ") ? "card" : slot === "opening" ? "opening" : "other";
  const message = {
    channel: CHANNEL,
    ts: MessageTs(ts),
    run: run.key,
    runId: null,
    mark: markOf(run, slot),
    kind,
    about: "High risk: rotate the certificates",
    isLive: true,
  };
  return { ...message, ...facts } as OwnMessage;
}

/** Each page has one message. */
export function handOwnMessages(): HandOwnMessages {
  const hand: HandOwnMessages = {
    messages: [],
    closed: [],
    asked: [],
    beforeRead: () => Promise.resolve(),
    beforeClose: () => Promise.resolve(),
    channels: () => Promise.resolve({ channels: [CHANNEL, ChannelId("C0OTHER")], next: "" }),
    async since(channel, at, cursor) {
      await hand.beforeRead();
      hand.asked.push(at);
      const here = hand.messages.filter((message) => message.channel === channel);
      const index = Number(cursor);
      const next = index + 1 < here.length ? String(index + 1) : "";
      return { messages: here.slice(index, index + 1), next };
    },
    at: (channel, ts) =>
      Promise.resolve(hand.messages.find((each) => each.channel === channel && each.ts === ts) ?? null),
    slotOf: ({ mark }, run, slots) => slots.find((slot) => markOf(run, slot) === mark) ?? null,
    async close(message, orphan) {
      await hand.beforeClose();
      hand.closed.push({ ts: message.ts, orphan });
      hand.messages[hand.messages.indexOf(message)] = { ...message, isLive: false };
      return "updated";
    },
  };
  return hand;
}
