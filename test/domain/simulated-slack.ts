// Slack as one run sees it: messages with their content, files, and private notices.

import type { Effect, Outcome } from "#src/domain/effect.ts";
import { MessageTs } from "#src/domain/ids.ts";
import type { NoticeContent } from "#src/domain/notice.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, type Slot } from "#src/domain/slot.ts";
import { renderKey } from "#src/domain/render-key.ts";

type Message = { readonly slot: Slot; readonly ts: MessageTs; text: string };

/** What a reader of the message learns: the state and, for a card, which version of which request it shows. */
export function drawn(run: Run, slot: Slot): string {
  const approval = run.approvals.find((each) => cardSlot(each.id) === slot);
  const request = approval === undefined ? "" : ` ${approval.version} ${approval.request.digest}`;
  return `${renderKey(run, slot)}${request}`;
}

export class SimulatedSlack {
  readonly messages: Message[] = [];
  readonly files = new Map<string, { readonly slot: Slot; shared: number }>();
  /** Private notices, each as often as it arrived. */
  readonly told: string[] = [];
  /** Private notices that were marked. */
  readonly marked = new Map<string, NoticeContent>();
  /** Private notices that Slack certainly accepted or refused. */
  readonly answered = new Set<string>();
  /** Slots whose message an administrator deleted. We notice only when we change the message. */
  readonly deleted = new Set<Slot>();
  /** The app was removed from the channel. */
  closed = false;
  /**
   * Slots for which Slack did not let us look for extra copies. This risk is accepted, because a click on a copy
   * decides nothing.
   */
  readonly unswept = new Set<Slot>();
  /** Slots whose update was under way when the process died. */
  readonly torn = new Set<Slot>();
  #count = 0;

  post(slot: Slot, text: string): MessageTs {
    this.#count += 1;
    const ts = MessageTs(`1700000000.${String(this.#count).padStart(6, "0")}`);
    this.messages.push({ slot, ts, text });
    return ts;
  }

  answer(effect: Effect, { type }: Outcome): void {
    if (effect.type === "send-notice" && (type === "told" || type === "refused"))
      this.answered.add(effect.notice);
  }

  update(ts: MessageTs, text: string): "updated" | "gone" {
    const message = this.messages.find((each) => each.ts === ts);
    if (message === undefined) return "gone";
    message.text = text;
    return "updated";
  }

  copies(slot: Slot): readonly MessageTs[] {
    return this.messages.filter((each) => each.slot === slot).map(({ ts }) => ts);
  }

  remove(ts: MessageTs): void {
    const index = this.messages.findIndex((each) => each.ts === ts);
    if (index >= 0) this.messages.splice(index, 1);
  }

  deleteOne(pick: number): void {
    const message = this.messages[pick % Math.max(this.messages.length, 1)];
    if (message === undefined) return;
    this.deleted.add(message.slot);
    this.remove(message.ts);
  }

  upload(slot: Slot): string {
    this.#count += 1;
    const id = `F${this.#count}`;
    this.files.set(id, { slot, shared: 0 });
    return id;
  }

  share(id: string): "shared" | "gone" {
    const file = this.files.get(id);
    if (file === undefined) return "gone";
    file.shared += 1;
    return "shared";
  }
}
