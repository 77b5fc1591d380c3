// Loops of the bot read the same again and again. While nothing was written to what a read looks at, a repeated one gets the answer of
// the first, which makes histories several times faster. `distrustful` asks the database all the same, and compares: a test plays some
// histories so, as a write that is not listed right would hide faults of the bot.

import { isDeepStrictEqual } from "node:util";
import type { Store } from "#src/ports/store.ts";

/** A part of the database. "claims": which runs wait for a process to look after them. */
type Area = "runs" | "claims" | "channels" | "buttons" | "forms" | "audit" | "notifications" | "documents";

/** What they look at. Their answers depend on nothing else: not on the time, nor on who asks. */
const READS: { readonly [method: string]: readonly Area[] } = {
  auditAfter: ["audit"],
  auditEntry: ["audit"],
  auditHead: ["audit"],
  byButton: ["buttons"],
  byRunId: ["runs"],
  channelsInUse: ["channels"],
  decidedBefore: ["audit"],
  document: ["documents"],
  form: ["forms"],
  list: ["runs"],
  load: ["runs"],
  notification: ["notifications"],
  notifications: ["notifications"],
  provenEntry: ["audit"],
  settledAfter: ["audit"],
};

type Written = (given: readonly unknown[], answer: unknown) => readonly Area[];

/** What they change when they succeed. A write that is not listed, and one that fails, may have changed everything. */
const WRITES: { readonly [method: string]: Written } = {
  save: ([, , facts], answer) => [
    "runs",
    "buttons",
    ...((facts as { readonly audit?: readonly unknown[] }).audit?.length === 0 ? [] : (["audit"] as const)),
    ...(answer === "saved" ? [] : (["claims"] as const)),
  ],
  saveForm: () => ["forms", "audit"],
  audit: () => ["audit"],
  addNotifications: () => ["notifications"],
  saveNotification: () => ["notifications"],
  putDocument: () => ["documents"],
  auditText: () => [],
  checkAudit: () => [],
  // It writes the lease alone.
  extend: () => [],
};
const LOCAL: ReadonlySet<string> = new Set([
  "macOf",
  "auditPublicKey",
  "hearTampering",
  "onPassedOn",
  "close",
]);

type Method = (...given: unknown[]) => unknown;
type Known = { readonly found: Promise<unknown>; readonly looksAt: readonly Area[] };

export class RepeatedReads {
  readonly #known = new Map<string, Known>();
  readonly #held = new Map<string, string>();
  readonly #isDistrustful: boolean;
  /** Raised by every write that may leave something to claim. */
  #claimable = 0;

  constructor({ distrustful = false } = {}) {
    this.#isDistrustful = distrustful;
  }

  forget(): void {
    this.#claimable += 1;
    this.#known.clear();
  }

  /** All stores of a database must go through the same one of these. */
  over(store: Store, owner: string): Store {
    const through: Record<string, unknown> = {};
    for (const [name, method] of Object.entries(store) as [string, Method][])
      through[name] = LOCAL.has(name) ? method : this.#through(name, method, owner);
    return through as Store;
  }

  #through(name: string, method: Method, owner: string): Method {
    const looksAt = READS[name];
    if (looksAt !== undefined)
      return (...given) => this.#read(`${name} ${JSON.stringify(given)}`, looksAt, () => method(...given));
    if (name === "claim") return (...given) => this.#claim(owner, method, given);
    if (name === "renew") return (...given) => this.#renew(owner, method, given);
    return (...given) => this.#write(WRITES[name] ?? null, method, given);
  }

  #read(key: string, looksAt: readonly Area[], ask: () => unknown): Promise<unknown> {
    const known = this.#known.get(key);
    if (known !== undefined) return this.#answer(key, known, ask);
    const found = Promise.resolve(ask());
    this.#known.set(key, { found, looksAt });
    found.catch(() => this.#known.delete(key));
    return found;
  }

  #answer(key: string, known: Known, ask: () => unknown): Promise<unknown> {
    return this.#isDistrustful ? this.#compared(key, known, ask) : known.found;
  }

  async #compared(key: string, known: Known, ask: () => unknown): Promise<unknown> {
    const [given, fresh] = [await known.found, await ask()];
    const isStill = this.#known.get(key) === known;
    if (isStill && !isDeepStrictEqual(given, fresh))
      throw new Error(`a repeated read is out of date: ${key}`);
    return given;
  }

  async #write(written: Written | null, method: Method, given: readonly unknown[]): Promise<unknown> {
    let areas: readonly Area[] | null = null;
    try {
      const answer = await method(...given);
      areas = written?.(given, answer) ?? null;
      return answer;
    } finally {
      if (areas === null) this.forget();
      else this.#forgetAbout(areas);
    }
  }

  #forgetAbout(areas: readonly Area[]): void {
    if (areas.length === 0) return;
    if (areas.includes("claims")) this.#claimable += 1;
    for (const [key, { looksAt }] of this.#known)
      if (looksAt.some((area) => areas.includes(area))) this.#known.delete(key);
  }

  /** Where there was nothing to claim, there is nothing until something is written. */
  async #claim(owner: string, method: Method, given: readonly unknown[]): Promise<unknown> {
    const key = `claim ${owner}`;
    const known = this.#known.get(key);
    if (known !== undefined) return this.#answer(key, known, () => method(...given));
    const claimable = this.#claimable;
    const claimed = (await method(...given)) as readonly unknown[];
    if (claimed.length > 0) this.#forgetAbout(["runs", "claims"]);
    else if (claimable === this.#claimable)
      this.#known.set(key, { found: Promise.resolve(claimed), looksAt: ["claims"] });
    return claimed;
  }

  /** It shows no reader anything new while it finds the same shards, unless it has begun a new lease: that frees the owner's runs. */
  async #renew(owner: string, method: Method, given: readonly unknown[]): Promise<unknown> {
    const key = `renew ${owner}`;
    const [now, leaseMs, onLapsed] = given as [number, number, (() => void) | undefined];
    const lapsed = (): void => {
      this.#held.delete(key);
      onLapsed?.();
    };
    const held = (await method(now, leaseMs, lapsed)) as { readonly shards: readonly number[] };
    const shards = held.shards.join();
    if (this.#held.get(key) !== shards) this.forget();
    this.#held.set(key, shards);
    return held;
  }
}
