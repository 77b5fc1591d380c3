// Loops of the bot read the same again and again. While nothing was written in between, a repeated read gets the answer of the first one,
// which makes histories several times faster and changes none of them.

import type { Store } from "#src/ports/store.ts";

/** What they find depends on nothing but what is written: not on the time, nor on who asks. */
const READS: ReadonlySet<string> = new Set([
  "auditAfter",
  "auditEntry",
  "auditHead",
  "byButton",
  "byRunId",
  "channelsInUse",
  "decidedBefore",
  "document",
  "form",
  "list",
  "load",
  "notification",
  "notifications",
  "provenEntry",
  "settledAfter",
]);
/** It writes the lease alone. */
const UNSEEN: ReadonlySet<string> = new Set(["extend"]);
const LOCAL: ReadonlySet<string> = new Set([
  "macOf",
  "auditPublicKey",
  "hearTampering",
  "onPassedOn",
  "close",
]);

type Method = (...given: unknown[]) => unknown;

export class RepeatedReads {
  readonly #known = new Map<string, Promise<unknown>>();
  readonly #held = new Map<string, string>();
  /** Raised by every write. */
  #version = 0;

  forget(): void {
    this.#version += 1;
    this.#known.clear();
  }

  /** All stores of a database must go through the same one of these. */
  over(store: Store, owner: string): Store {
    const through: Record<string, unknown> = {};
    for (const [name, method] of Object.entries(store) as [string, Method][])
      through[name] = LOCAL.has(name) || UNSEEN.has(name) ? method : this.#through(name, method, owner);
    return through as Store;
  }

  #through(name: string, method: Method, owner: string): Method {
    if (READS.has(name)) return (...given) => this.#read(`${name} ${JSON.stringify(given)}`, method, given);
    if (name === "claim") return (...given) => this.#claim(owner, method, given);
    if (name === "renew") return (...given) => this.#renew(owner, method, given);
    return (...given) => this.#write(method, given);
  }

  #read(key: string, method: Method, given: readonly unknown[]): Promise<unknown> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = Promise.resolve(method(...given));
    this.#known.set(key, found);
    found.catch(() => this.#known.delete(key));
    return found;
  }

  async #write(method: Method, given: readonly unknown[]): Promise<unknown> {
    try {
      return await method(...given);
    } finally {
      this.forget();
    }
  }

  /** Where there was nothing to claim, there is nothing until something is written. */
  async #claim(owner: string, method: Method, given: readonly unknown[]): Promise<unknown> {
    const key = `claim ${owner}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const version = this.#version;
    const claimed = (await method(...given)) as readonly unknown[];
    if (claimed.length > 0) this.forget();
    else if (version === this.#version) this.#known.set(key, Promise.resolve(claimed));
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
