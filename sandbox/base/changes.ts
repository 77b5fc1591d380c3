// Waits for a condition. It checks after every change, and never sleeps.

export type Wait = { readonly timeoutMs?: number };

export type Changes = {
  readonly changed: () => void;
  readonly subscribe: (listener: () => void) => () => void;
  /** Resolves with the first answer of `probe` that is not undefined; rejects with `describe()` when that takes too long. */
  readonly until: <T>(probe: () => T | undefined, describe: () => string, wait?: Wait) => Promise<T>;
};

const patienceMs = 5_000;

export function createChanges(): Changes {
  const listeners = new Set<() => void>();

  function subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  function until<T>(probe: () => T | undefined, describe: () => string, wait: Wait = {}): Promise<T> {
    const timeoutMs = wait.timeoutMs ?? patienceMs;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        unsubscribe();
        reject(new Error(`not within ${timeoutMs} ms; ${describe()}`));
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
    });
  }

  return {
    changed() {
      for (const listener of Array.from(listeners)) listener();
    },
    subscribe,
    until,
  };
}
