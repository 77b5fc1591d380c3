// One call to Slack for all who ask the same at about the same time.

import type { Clock } from "../../engine/clock.ts";

/** The oldest answers go when there are more than this. */
const MAX_KEPT = 5_000;

export type SharedAnswers<Key, Value> = {
  (key: Key, maxAgeMs: number): Promise<Value>;
  /** Would it share a call that has begun already? */
  readonly has: (key: Key, maxAgeMs: number) => boolean;
};

/**
 * Shares one call among many callers: each gets the answer of a call that began at most `maxAgeMs` ago, finished or not. Ages are
 * measured by the monotonic clock, so no step of the wall clock makes an old answer fresh. Failures are not kept.
 */
export function createSharedAnswers<Key, Value>(
  { monotonic }: Pick<Clock, "monotonic">,
  ask: (key: Key) => Promise<Value>,
): SharedAnswers<Key, Value> {
  const kept = new Map<Key, { readonly at: number; readonly answer: Promise<Value> }>();
  const young = (key: Key, maxAgeMs: number): Promise<Value> | null => {
    const known = kept.get(key);
    return known !== undefined && monotonic() - known.at <= maxAgeMs ? known.answer : null;
  };
  const answer = (key: Key, maxAgeMs: number): Promise<Value> => {
    const known = young(key, maxAgeMs);
    if (known !== null) return known;
    const entry = { at: monotonic(), answer: ask(key) };
    kept.delete(key);
    kept.set(key, entry);
    entry.answer.catch(() => kept.get(key) === entry && kept.delete(key));
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry.answer;
  };
  return Object.assign(answer, { has: (key: Key, maxAgeMs: number) => young(key, maxAgeMs) !== null });
}
