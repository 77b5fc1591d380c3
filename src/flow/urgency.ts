// Slack takes about one message a second per channel and fifty updates a minute: what must not wait goes first.

import type { Effect } from "../core/effect.ts";
import { cardSlot, type Run, UNREADABLE } from "../core/run.ts";
import type { PacedEffect } from "./ports.ts";

/** Null: the effect does not go to Slack. 0: buttons off and new cards; 1: outcomes and private words; 2: the rest. */
export function pace(run: Run, effect: Effect): PacedEffect | null {
  const { channel } = run;
  switch (effect.do) {
    case "create-run":
    case "send-decision":
    case "count-approvers":
      return null;
    case "post":
      return { channel, kind: "post", urgency: isCard(run, effect.slot) ? 0 : 1 };
    case "update":
      return { channel, kind: "update", urgency: isCard(run, effect.slot) ? 0 : 2 };
    case "find":
    case "sweep":
    case "find-file":
      return { channel, kind: "read", urgency: 1 };
    case "share":
      return { channel, kind: "post", urgency: 1 };
    case "upload":
    case "tell":
      return { channel, kind: "other", urgency: 1 };
  }
}

function isCard(run: Run, slot: string): boolean {
  return slot === UNREADABLE || run.approvals.some((approval) => cardSlot(approval.id) === slot);
}
