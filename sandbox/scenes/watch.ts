// What a scene works with, and how it waits for a state.

import type { Bot } from "../bot/replicas.ts";
import type { ServiceContext } from "../control/servers.ts";
import type { UserActions } from "../control/user-actions.ts";
import type { Spot } from "../page/base/parts.ts";
import type { PersonId } from "../slack/model.ts";
import type { Slack } from "../slack/start-slack.ts";

/** Shows a caption, and resolves after the time it takes to read. `eyes` is the person whose view it describes, `spot` is where to look. */
export type Say = (words: string, eyes?: PersonId | null, spot?: Spot | null) => Promise<void>;

export type StageParts = {
  readonly slack: Slack;
  readonly service: ServiceContext;
  readonly bot: Bot;
  readonly userActions: UserActions;
  /** Calls the listener after every change in the sandbox. */
  readonly onChange: (listener: () => void) => () => void;
  readonly signal: AbortSignal;
  readonly say: Say;
};

/** Calls `probe` now and after every change, and resolves to its first truthy result. Rejects on a timeout, or if the scene is stopped. */
export type Until = <T>(what: string, probe: () => T | undefined | null | false, ms?: number) => Promise<T>;

/** A time limit that only a bug exceeds (ms). The slowest wait is for a bot to notice that the service is up again. */
const PATIENCE_MS = 90_000;

export function createUntil({ onChange, signal }: Pick<StageParts, "onChange" | "signal">): Until {
  return <T>(what: string, probe: () => T | undefined | null | false, ms = PATIENCE_MS) => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const look = (): void => {
      try {
        const found = probe();
        if (found) resolve(found);
      } catch (error) {
        reject(error);
      }
    };
    const stopped = (): void => reject(new Error("stopped"));
    const late = (): void => reject(new Error(`waited ${Math.round(ms / 1_000)} s for ${what}.`));
    const timer = setTimeout(late, ms);
    const end = onChange(look);
    signal.addEventListener("abort", stopped, { once: true });
    if (signal.aborted) stopped();
    else look();
    return promise.finally(() => {
      clearTimeout(timer);
      end();
      signal.removeEventListener("abort", stopped);
    });
  };
}

/** Counts how often Slack refuses a call with this error from now on, including lines that the traffic log has dropped since. */
export function countRefused({ onLine }: Pick<Slack["traffic"], "onLine">, word: string) {
  let count = 0;
  const end = onLine(({ refused }) => {
    if (refused === word) count += 1;
  });
  return { count: (): number => count, end };
}

/** Waits `ms`. Rejects as soon as the scene is stopped. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms === 0) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stopped = (): void => reject(new Error("stopped"));
  signal.addEventListener("abort", stopped, { once: true });
  await promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stopped);
  });
}
