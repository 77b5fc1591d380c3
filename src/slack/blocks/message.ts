import { cardSlot, type Run, type Slot, UNREADABLE } from "../../core/run.ts";
import { approvalCard } from "./approval-card.ts";
import type { Message } from "./rich.ts";
import { threadMessage } from "./run-thread.ts";
import { unreadableCard } from "./unreadable-card.ts";

/** What a message of the run should look like now. Throws for an unknown slot: nothing else may be posted. */
export function drawn(run: Run, slot: Slot): Message {
  const thread = threadMessage(run, slot);
  if (thread !== null) return thread;
  if (slot === UNREADABLE) return unreadableCard(run);
  const approval = run.approvals.find((each) => cardSlot(each.id) === slot);
  if (approval === undefined) throw new TypeError(`no message is drawn for ${slot}`);
  return approvalCard(run, approval);
}
