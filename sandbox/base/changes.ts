// Notifies listeners of changes, and waits for a state. Waiting checks after every change and never polls.

export type Wait = { readonly timeoutMs?: number };

export type Changes<Change = void> = {
  readonly changed: (change: Change) => void;
  readonly subscribe: (listener: (change: Change) => void) => () => void;
  /** Resolves to the first result of `probe` that is not undefined. Rejects with the message of `late` after the timeout. */
  readonly until: <T>(
    probe: () => T | undefined,
    late: (timeoutMs: number) => string,
    wait?: Wait,
  ) => Promise<T>;
};

const TIMEOUT_MS = 5_000;

export function createChanges<Change = void>(): Changes<Change> {
  const listeners = new Set<(change: Change) => void>();

  function subscribe(listener: (change: Change) => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  return {
    changed(change) {
      // Do not call a listener that an earlier listener has removed.
      for (const listener of Array.from(listeners)) if (listeners.has(listener)) listener(change);
    },
    subscribe,
    until: (probe, late, { timeoutMs = TIMEOUT_MS } = {}) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          unsubscribe();
          reject(new Error(late(timeoutMs)));
        }, timeoutMs);
        const unsubscribe = subscribe(look);
        look();

        function look() {
          try {
            const found = probe();
            if (found === undefined) return;
            resolve(found);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
          clearTimeout(timer);
          unsubscribe();
        }
      }),
  };
}
