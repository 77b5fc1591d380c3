// Runs acts with the same key one after the other, in the order of their calls.

type KeyedLock = (<T>(key: string, act: () => Promise<T>) => Promise<T>) & {
  /** Resolves when the acts with this key have ended. Null if there are none. */
  readonly whenFree: (key: string) => Promise<unknown> | null;
};

export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();
  const inTurn = async <T>(key: string, act: () => Promise<T>): Promise<T> => {
    const previous = tails.get(key) ?? Promise.resolve();
    const result = previous.then(act, act);
    const tail = result.catch(() => undefined);
    tails.set(key, tail);
    try {
      return await result;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
  return Object.assign(inTurn, { whenFree: (key: string) => tails.get(key) ?? null });
}
