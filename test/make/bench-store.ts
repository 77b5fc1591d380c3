// What tests do with the store of a bench.

import type { RunKey } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { type Bench, failure } from "./bot.ts";

/** Rejects if there is no such run. */
export async function loaded({ store }: Bench, key: RunKey): Promise<Run> {
  const found = await store.load(key);
  if (found === null) throw new Error(`no run ${key}`);
  return found.run;
}

/** Makes every call to the store fail, until the returned function is called. */
export function breakStore({ store }: Bench): () => void {
  const works = { ...store };
  const fails = () => Promise.reject(failure("store_unreachable"));
  for (const name of ["load", "save", "document", "putDocument", "eachRun", "renew", "extend", "claim"])
    Object.assign(store, { [name]: fails });
  return () => void Object.assign(store, works);
}
