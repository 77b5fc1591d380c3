// A database with a standby that lacks the newest entries when it takes over, as after the loss of a primary that does not wait for it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import type { Store } from "#src/ports/store.ts";
import { NOON } from "./run.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");

export type TakeOver = {
  /** Leads to the primary, and after `takeOver` to the standby. */
  readonly store: Store;
  /** From here on, the standby gets no more. */
  readonly fallBehind: () => void;
  readonly takeOver: () => Promise<void>;
};

export async function withStandby(): Promise<TakeOver> {
  const folder = mkdtempSync(join(tmpdir(), "standby-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [primary, standby] = ["primary.db", "standby.db"].map((name) => join(folder, name)) as [
    string,
    string,
  ];
  const open = async (file: string): Promise<Store> => {
    const opened = await openStore({
      url: `sqlite:${file}`,
      owner: "test",
      now: () => NOON,
      auditKey: AUDIT_KEY,
    });
    onTestFinished(() => opened.close());
    return opened;
  };
  let current = await open(primary);
  return {
    store: new Proxy({} as Store, { get: (_, name) => current[name as keyof Store] }),
    fallBehind() {
      const database = new DatabaseSync(primary);
      database.exec(`vacuum into '${standby}'`);
      database.close();
    },
    async takeOver() {
      current = await open(standby);
    },
  };
}
