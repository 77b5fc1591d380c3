// Trigger ids: each proves that a person has just acted, and opens one view.

import { randomBytes } from "node:crypto";
import { Refused } from "./errors.ts";
import type { PersonId } from "./model.ts";

/** `view`: the modal in which the person acted, if any. */
type Trigger = {
  readonly person: PersonId;
  readonly view: string | null;
  readonly at: number;
  used: boolean;
};

/** How long an expired trigger is remembered, so that it is not called invalid (ms). */
const memoryMs = 10 * 60_000;

export type Triggers = ReturnType<typeof createTriggers>;

export const createTriggers = ({ now, lifeMs }: { now: () => number; lifeMs: number }) => {
  const issued = new Map<string, Trigger>();
  let count = 0;
  return {
    issue: (person: PersonId, view: string | null = null): string => {
      forgetBefore(issued, now() - memoryMs);
      const id = `${Math.floor(now())}.${++count}.${randomBytes(8).toString("hex")}`;
      issued.set(id, { person, view, at: now(), used: false });
      return id;
    },
    /** Checked before the view, and used up only when the view opens. Whether a refused view uses it up in Slack is not known. */
    look: (id: string): Trigger => {
      const trigger = issued.get(id);
      if (!trigger) throw new Refused("invalid_trigger_id");
      if (trigger.used) throw new Refused("exchanged_trigger_id");
      if (now() - trigger.at > lifeMs) throw new Refused("expired_trigger_id");
      return trigger;
    },
  };
};

// Expired ids and addresses are removed.

/** Removes what was issued before the moment. The map is in the order of issue. */
export const forgetBefore = (issued: Map<string, { readonly at: number }>, moment: number): void => {
  for (const [key, { at }] of issued) {
    if (at >= moment) return;
    issued.delete(key);
  }
};
