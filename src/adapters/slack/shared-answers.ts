import type { Clock } from "../../engine/clock.ts";

/** The oldest answers go when there are more than this. */
const MAX_KEPT = 5_000;

/**
 * Shares one call among many callers: each gets the answer of a call that began at most `maxAgeMs` ago, finished or not. Ages are
 * measured by the monotonic clock, so no step of the wall clock makes an old answer fresh. Failures are not kept.
 */
export function createSharedAnswers<Key, Value>(
  { monotonic }: Pick<Clock, "monotonic">,
  ask: (key: Key) => Promise<Value>,
): (key: Key, maxAgeMs: number) => Promise<Value> {
  const kept = new Map<Key, { readonly at: number; readonly answer: Promise<Value> }>();
  return (key, maxAgeMs) => {
    const known = kept.get(key);
    if (known !== undefined && monotonic() - known.at <= maxAgeMs) return known.answer;
    const entry = { at: monotonic(), answer: ask(key) };
    kept.delete(key);
    kept.set(key, entry);
    entry.answer.catch(() => kept.get(key) === entry && kept.delete(key));
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry.answer;
  };
}
