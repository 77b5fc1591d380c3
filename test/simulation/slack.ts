// Slack as people see it: channels with messages, and who is who. A message keeps the run from which it was drawn, so that its blocks can
// be drawn as people see them.

import { CARD_APPROVE, CARD_DENY } from "#src/adapters/slack/names.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { AuditEntry } from "#src/audit/entry.ts";
import type { Approval } from "#src/domain/approval.ts";
import { type ChannelId, MessageTs, type RunKey, type UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, type Slot } from "#src/domain/slot.ts";

export type Message = {
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  readonly key: RunKey;
  readonly slot: Slot;
  /** The run as it was when the message was last drawn. */
  run: Run;
};

/** `of`: what the receipt is about, with the reason that the person gave. */
export type Receipt = { readonly to: string; readonly of: Pick<AuditEntry, "what" | "reason"> };

export class SimulatedSlack {
  readonly messages: Message[] = [];
  /** The receipts that people got for their decisions, votes and undos. */
  readonly receipts: Receipt[] = [];
  /** What people were to be told of their decisions in private notices, and whether a notice with these words arrived. */
  readonly notices = new Map<string, boolean>();
  /** When each deactivated person was deactivated (ms). */
  readonly gone = new Map<UserId, number>();
  #count = 0;

  nextTs(): MessageTs {
    this.#count += 1;
    return MessageTs(`1700000000.${String(this.#count).padStart(6, "0")}`);
  }

  post(channel: ChannelId, run: Run, slot: Slot): MessageTs {
    const ts = this.nextTs();
    this.messages.push({ channel, ts, key: run.key, slot, run });
    return ts;
  }

  update(channel: ChannelId, ts: MessageTs, run: Run): "updated" | "gone" {
    const message = this.at(channel, ts);
    if (message === null) return "gone";
    message.run = run;
    return "updated";
  }

  at(channel: ChannelId, ts: MessageTs): Message | null {
    return this.messages.find((each) => each.ts === ts && each.channel === channel) ?? null;
  }

  copies(channel: ChannelId, key: RunKey, slot: Slot): readonly MessageTs[] {
    return this.of(key, slot)
      .filter((each) => each.channel === channel)
      .map(({ ts }) => ts);
  }

  of(key: RunKey, slot: Slot): readonly Message[] {
    return this.messages.filter((each) => each.key === key && each.slot === slot);
  }

  remove(channel: ChannelId, ts: MessageTs): void {
    const index = this.messages.findIndex((each) => each.ts === ts && each.channel === channel);
    if (index >= 0) this.messages.splice(index, 1);
  }

  /** Returns the messages that are cards, the newest last. */
  cards(): readonly { readonly message: Message; readonly approval: Approval }[] {
    return this.messages.flatMap((message) => {
      const approval = approvalOf(message);
      return approval === null ? [] : [{ message, approval }];
    });
  }
}

export const approvalOf = ({ run, slot }: Pick<Message, "run" | "slot">): Approval | null =>
  run.approvals.find(({ id }) => cardSlot(id) === slot) ?? null;

export type Buttons = { readonly decides: boolean };

/** Returns which buttons the message has, read from its blocks. */
export function buttonsOf({ run, slot }: Pick<Message, "run" | "slot">): Buttons {
  const drawn = JSON.stringify(messageIn(run, slot).blocks);
  const has = (action: string): boolean => drawn.includes(`"action_id":"${action}"`);
  return { decides: has(CARD_APPROVE) || has(CARD_DENY) };
}
