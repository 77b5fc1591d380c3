// Loops of the bot read the same data again and again. As long as nothing was written to what a read depends on, a repeated read gets the
// first answer, which makes histories several times faster. With `distrustful`, the database is asked anyway and the answers are compared.
// A test plays some histories like that, because a write that is listed wrongly below would hide bugs.

import { isDeepStrictEqual } from "node:util";
import type { Notification } from "#src/ports/notification.ts";
import type { Store } from "#src/ports/store.ts";

/** A part of the database. "claims": which runs wait for a process to claim them. */
type Area = "runs" | "claims" | "channels" | "buttons" | "forms" | "audit" | "notifications" | "documents";

/** What each read depends on. Its answer depends on nothing else: neither on the time nor on who asks. */
const READS: { readonly [method: string]: readonly Area[] } = {
  auditAfter: ["audit"],
  auditEntry: ["audit"],
  auditHead: ["audit"],
  byButton: ["buttons"],
  byIntention: ["runs"],
  byRunId: ["runs"],
  channelsInUse: ["channels"],
  decidedBefore: ["audit"],
  disputedAt: ["audit"],
  document: ["documents"],
  form: ["forms"],
  list: ["runs"],
  load: ["runs"],
  notification: ["notifications"],
  numbersAfter: ["audit"],
  provenEntry: ["audit"],
  settledAfter: ["audit"],
};

type Written = (args: readonly unknown[], answer: unknown) => readonly Area[];

/** What each write changes if it succeeds. A write that fails or is not listed may have changed everything. */
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
  // Writes only the lease.
  extend: () => [],
};
/** Methods that do not use the database, and the read whose answers go to a callback. */
const PASSED: ReadonlySet<string> = new Set([
  "macOf",
  "auditPublicKey",
  "onTampering",
  "onPassedOn",
  "close",
  "eachRun",
]);

type Method = (...args: unknown[]) => unknown;
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

  /** Wraps a store. All stores of a database must be wrapped by the same instance. */
  over(store: Store, owner: string): Store {
    const through: Record<string, unknown> = {};
    for (const [name, method] of Object.entries(store) as [string, Method][])
      through[name] = PASSED.has(name) ? method : this.#through(name, method, owner);
    return through as Store;
  }

  #through(name: string, method: Method, owner: string): Method {
    const looksAt = READS[name];
    if (looksAt !== undefined)
      return (...args) => this.#read(`${name} ${JSON.stringify(args)}`, looksAt, () => method(...args));
    if (name === "notifications") return (...args) => this.#notifications(method, args);
    if (name === "claim") return (...args) => this.#claim(owner, method, args);
    if (name === "renew") return (...args) => this.#renew(owner, method, args);
    return (...args) => this.#write(WRITES[name] ?? null, method, args);
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
    const [remembered, fresh] = [await known.found, await ask()];
    const isStill = this.#known.get(key) === known;
    if (isStill && !isDeepStrictEqual(remembered, fresh))
      throw new Error(`a repeated read is out of date: ${key}`);
    return remembered;
  }

  async #write(written: Written | null, method: Method, args: readonly unknown[]): Promise<unknown> {
    let areas: readonly Area[] | null = null;
    try {
      const answer = await method(...args);
      areas = written?.(args, answer) ?? null;
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

  /** Which of them are wanted depends on the time and on who asks, so all are read, and the wanted ones picked out each time. */
  async #notifications(method: Method, args: readonly unknown[]): Promise<unknown> {
    const [limit, isWanted = () => true] = args as Parameters<Store["notifications"]>;
    const all = () => method(Number.MAX_SAFE_INTEGER);
    const found = await this.#read("notifications", ["notifications"], all);
    return (found as readonly Notification[]).filter(isWanted).slice(0, limit);
  }

  /** If there was nothing to claim, there is nothing until something is written. */
  async #claim(owner: string, method: Method, args: readonly unknown[]): Promise<unknown> {
    const key = `claim ${owner}`;
    const known = this.#known.get(key);
    if (known !== undefined) return this.#answer(key, known, () => method(...args));
    const claimable = this.#claimable;
    const claimed = (await method(...args)) as readonly unknown[];
    if (claimed.length > 0) this.#forgetAbout(["runs", "claims"]);
    else if (claimable === this.#claimable)
      this.#known.set(key, { found: Promise.resolve(claimed), looksAt: ["claims"] });
    return claimed;
  }

  /** A renewal that finds the same shards changes nothing for readers, unless it begins a new lease, which releases the owner's runs. */
  async #renew(owner: string, method: Method, args: readonly unknown[]): Promise<unknown> {
    const key = `renew ${owner}`;
    const [now, leaseMs, onLapsed] = args as [number, number, (() => void) | undefined];
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
