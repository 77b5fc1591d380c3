// Trigger ids: proof that a person has just done something, good for one view.

import { randomBytes } from "node:crypto";
import { Refused } from "./errors.ts";
import type { PersonId } from "./model.ts";

/** `view`: the modal the person acted in, when it was one. */
type Trigger = {
  readonly person: PersonId;
  readonly view: string | null;
  readonly at: number;
  used: boolean;
};

/** For so long an expired trigger is told from one that never was (ms). */
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
    /** Looked at before the view is checked, spent only when it opens: whether Slack spends it on a refused view is not known. */
    look: (id: string): Trigger => {
      const trigger = issued.get(id);
      if (!trigger) throw new Refused("invalid_trigger_id");
      if (trigger.used) throw new Refused("exchanged_trigger_id");
      if (now() - trigger.at > lifeMs) throw new Refused("expired_trigger_id");
      return trigger;
    },
  };
};

// What was handed out to people and apps, and is long over.

/** Of a map in the order of handing out. */
export const forgetBefore = (issued: Map<string, { readonly at: number }>, moment: number): void => {
  for (const [key, { at }] of issued) {
    if (at >= moment) return;
    issued.delete(key);
  }
};
