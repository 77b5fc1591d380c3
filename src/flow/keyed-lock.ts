/** Makes acts with the same key wait for each other, in the order they came. */
export function createKeyedLock(): <T>(key: string, act: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, act) => {
    const before = tails.get(key) ?? Promise.resolve();
    const mine = before.then(act, act);
    const tail = mine.catch(() => undefined);
    tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
