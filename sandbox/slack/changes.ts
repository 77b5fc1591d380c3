// Who is told that something is different now, and how a state that is to come is waited for.

import type { Change } from "./model.ts";

export const createChanges = () => {
  const listeners = new Set<(change: Change) => void>();
  const onChange = (listener: (change: Change) => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const changed = (change: Change): void => {
    for (const listener of listeners) listener(change);
  };
  /** The first truthy value of `predicate`, looked at now and after every change. */
  const until = <T>(
    predicate: () => T | undefined | null | false,
    { timeoutMs = 2000, what = "the expected state" }: { timeoutMs?: number; what?: string } = {},
  ): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const look = (): void => {
      try {
        const value = predicate();
        if (value) settle(() => resolve(value));
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      stop();
      end();
    };
    const stop = onChange(look);
    const late = (): void =>
      settle(() => reject(new Error(`the workspace did not reach ${what} within ${timeoutMs} ms`)));
    const timer = setTimeout(late, timeoutMs);
    look();
    return promise;
  };
  return { onChange, changed, until };
};
