// The messages of runs that this installation has in Slack, whatever the store knows of them.

import type { ChannelId, MessageTs } from "../domain/ids.ts";
import type { Orphan, OwnMessage } from "../domain/after-restore.ts";
import type { Run, Slot } from "../domain/run.ts";

/** Every call is one attempt; rejects with PortError. The caller waits for its turn (`Chat.waitForTurn`) before each. */
export type OwnMessages = {
  /** Those that the app is in. */
  channels(cursor: string): Promise<{ readonly channels: readonly ChannelId[]; readonly next: string }>;
  /** Newest first, since a moment (wall time), a page at a time: "" is the first cursor and stands for no further page. */
  since(
    channel: ChannelId,
    at: number,
    cursor: string,
  ): Promise<{ readonly messages: readonly OwnMessage[]; readonly next: string }>;
  /** Null: it is not there, not ours, or of another installation. */
  at(channel: ChannelId, ts: MessageTs): Promise<OwnMessage | null>;
  /** Null: the message belongs to none of these slots. No call. */
  slotOf(message: OwnMessage, run: Run, slots: readonly Slot[]): Slot | null;
  /** Idempotent. Takes its buttons, and says what stands in its place. */
  close(message: OwnMessage, orphan: Orphan): Promise<"updated" | "gone" | "unchangeable">;
};
