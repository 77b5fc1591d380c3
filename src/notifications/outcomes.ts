// Stores what became of notifications. An outcome that the store does not take stays in memory and is stored later. Otherwise, the same
// message would be sent again in each round while the store takes no writes.

import { type Nonce, shardOfName } from "../domain/ids.ts";
import type { Clock } from "../engine/clock.ts";
import { createQuietErrors } from "../engine/logging.ts";
import type { EventLog } from "../ports.ts";
import type { Notification, NotificationStore } from "../ports/notification.ts";

type Deps = {
  readonly store: Pick<NotificationStore, "notification" | "saveNotification">;
  readonly engine: { readonly holdsShard: (shard: number) => boolean };
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Pick<EventLog, "error" | "debug">;
};

export type Outcomes = {
  /** Stores the notification with its outcome, or keeps it for `storeKept`. Never rejects. */
  save(notification: Notification, toDo: boolean): Promise<void>;
  /** Returns whether the store does not yet say what became of the notification. It must not be sent meanwhile. */
  isKept(id: Nonce): boolean;
  /** Stores what is kept. Forgets what another replica sends now, or has sent. Never rejects. */
  storeKept(): Promise<void>;
};

export function createOutcomes(deps: Deps): Outcomes {
  const kept = new Map<Nonce, readonly [notification: Notification, toDo: boolean]>();
  const logQuietly = createQuietErrors(deps);

  async function save(notification: Notification, toDo: boolean): Promise<void> {
    const { id, to, entry } = notification;
    try {
      await deps.store.saveNotification(notification, toDo);
      kept.delete(id);
    } catch (error) {
      kept.set(id, [notification, toDo]);
      const facts = { error, notification: notification.kind, entry, to };
      logQuietly("not stored", facts, "could not store what became of a notification; trying again");
    }
  }

  /** Another replica may have held the shard meanwhile, and may have sent the notification. Rejects if the store does not answer. */
  async function isOurs({ id, to }: Notification): Promise<boolean> {
    return deps.engine.holdsShard(shardOfName(to)) && (await deps.store.notification(id))?.post.type !== "up";
  }

  async function storeKept(): Promise<void> {
    for (const [notification, toDo] of kept.values())
      try {
        if (await isOurs(notification)) await save(notification, toDo);
        else kept.delete(notification.id);
      } catch (error) {
        const { kind, entry } = notification;
        logQuietly(
          "not read",
          { error, notification: kind, entry },
          "could not read a notification; trying again",
        );
      }
  }

  return { save, isKept: (id) => kept.has(id), storeKept };
}
