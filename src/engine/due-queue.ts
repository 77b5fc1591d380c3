import TinyQueue from "tinyqueue";
import { type Alarm, type Clock, createAlarm } from "./clock.ts";

type Due<Key> = { readonly at: number; readonly key: Key };

/**
 * Calls `act` for each key when it is due, at most `maxAtOnce` at the same time and never twice at the same time for one key.
 * A key is due again only after another `put`. `act` must not reject.
 */
export class DueQueue<Key> {
  readonly #clock: Clock;
  readonly #maxAtOnce: number;
  readonly #act: (key: Key) => Promise<void>;
  readonly #due = new Map<Key, number>();
  readonly #busy = new Set<Key>();
  /** May hold outdated times; `#due` has the valid one. */
  readonly #order = new TinyQueue<Due<Key>>([], (a, b) => a.at - b.at);
  readonly #alarm: Alarm;
  #stopped = false;

  constructor(clock: Clock, maxAtOnce: number, act: (key: Key) => Promise<void>) {
    this.#clock = clock;
    this.#alarm = createAlarm(clock, () => this.#pump());
    this.#maxAtOnce = maxAtOnce;
    this.#act = act;
  }

  get busy(): number {
    return this.#busy.size;
  }

  /** For how long (ms) the key that waits longest for a free place has been due. */
  get lagMs(): number {
    let first = Infinity;
    for (const [key, at] of this.#due) if (!this.#busy.has(key)) first = Math.min(first, at);
    return Math.max(this.#clock.monotonic() - first, 0);
  }

  /** Makes `key` due at `at` (monotonic), in place of any earlier time. During its own act this takes effect when the act ends. */
  put(key: Key, at: number): void {
    this.#due.set(key, at);
    if (this.#busy.has(key)) return;
    this.#order.push({ at, key });
    this.#pump();
  }

  /** Like `put`, but never makes a key due later than it is. */
  advance(key: Key, at: number): void {
    const due = this.#due.get(key);
    if (due === undefined || at < due) this.put(key, at);
  }

  stop(): void {
    this.#stopped = true;
    this.#alarm.cancel();
  }

  #pump(): void {
    if (this.#stopped) return;
    const now = this.#clock.monotonic();
    for (let next = this.#order.peek(); next !== undefined; next = this.#order.peek()) {
      const stale = this.#busy.has(next.key) || this.#due.get(next.key) !== next.at;
      if (!stale && (next.at > now || this.#busy.size >= this.#maxAtOnce)) break;
      this.#order.pop();
      if (!stale) void this.#start(next.key);
    }
    const next = this.#order.peek();
    if (next !== undefined && this.#busy.size < this.#maxAtOnce) this.#alarm.setBy(next.at);
  }

  async #start(key: Key): Promise<void> {
    this.#busy.add(key);
    this.#due.delete(key);
    await this.#act(key);
    this.#busy.delete(key);
    const at = this.#due.get(key);
    if (at !== undefined) this.#order.push({ at, key });
    this.#pump();
  }
}
