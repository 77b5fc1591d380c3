// What a scene is given, and how it waits for a state.

import type { Bot } from "../bot/replicas.ts";
import type { ServiceContext } from "../control/servers.ts";
import type { UserActions } from "../control/user-actions.ts";
import type { Spot } from "../page/base/parts.ts";
import type { PersonId } from "../slack/model.ts";
import type { Slack } from "../slack/server.ts";

/** Shows a caption. Resolves when there was time to read it. `eyes`: whose view it describes. `spot`: where that is. */
export type Say = (words: string, eyes?: PersonId | null, spot?: Spot | null) => Promise<void>;

export type StageParts = {
  readonly slack: Slack;
  readonly service: ServiceContext;
  readonly bot: Bot;
  readonly userActions: UserActions;
  /** Calls the listener after anything has changed anywhere. */
  readonly onChange: (listener: () => void) => () => void;
  readonly signal: AbortSignal;
  readonly say: Say;
};

/** The first truthy answer, asked now and after every change. Rejects after a timeout, or if the scene is stopped. */
export type Until = <T>(what: string, probe: () => T | undefined | null | false, ms?: number) => Promise<T>;

/** Only a fault of ours takes longer (ms). The slowest is a bot that finds a service up again. */
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
    const late = (): void => reject(new Error(`${Math.round(ms / 1_000)} s were not enough for ${what}.`));
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

/** Counts how often Slack refuses a call with this word from now on, also in lines that the log forgets meanwhile. */
export function countRefused({ onLine }: Pick<Slack["traffic"], "onLine">, word: string) {
  let count = 0;
  const end = onLine(({ refused }) => {
    if (refused === word) count += 1;
  });
  return { count: (): number => count, end };
}

/** Rejects as soon as the scene is stopped. */
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
