// Trigger ids. Each proves that a person has just acted, and can open one view.

import { randomBytes } from "node:crypto";
import { Refused } from "./errors.ts";
import type { PersonId } from "./model.ts";

/** `view` is the modal in which the person acted, if any. */
type Trigger = {
  readonly person: PersonId;
  readonly view: string | null;
  readonly at: number;
  used: boolean;
};

/** How long an expired trigger is kept (ms), so that it is reported as expired and not as invalid. */
const memoryMs = 10 * 60_000;

export type Triggers = ReturnType<typeof createTriggers>;

export function createTriggers({ now, lifeMs }: { now: () => number; lifeMs: number }) {
  const issued = new Map<string, Trigger>();
  let count = 0;
  return {
    issue: (person: PersonId, view: string | null = null): string => {
      forgetBefore(issued, now() - memoryMs);
      const id = `${Math.floor(now())}.${++count}.${randomBytes(8).toString("hex")}`;
      issued.set(id, { person, view, at: now(), used: false });
      return id;
    },
    /** Checks a trigger. The caller marks it as used when the view opens. It is unknown whether in Slack a refused view uses it up. */
    look: (id: string): Trigger => {
      const trigger = issued.get(id);
      if (!trigger) throw new Refused("invalid_trigger_id");
      if (trigger.used) throw new Refused("exchanged_trigger_id");
      if (now() - trigger.at > lifeMs) throw new Refused("expired_trigger_id");
      return trigger;
    },
  };
}

// Removal of expired ids and addresses.

/** Removes everything that was issued before the moment. The map must be in the order of issue. */
export function forgetBefore(issued: Map<string, { readonly at: number }>, moment: number): void {
  for (const [key, { at }] of issued) {
    if (at >= moment) return;
    issued.delete(key);
  }
}
