import type { Clock } from "../../engine/clock.ts";

/** Forgets the oldest beyond this many: a workspace has more people than we need to remember. */
const MOST_KEPT = 5_000;

/**
 * Asks once for many: an answer up to `maxAgeMs` old is shared, one under way too (it is newer than any finished one).
 * Ages are taken by the monotonic clock, so that no step of the wall clock makes an old answer fresh. Failures are not kept.
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
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry.answer;
  };
}
