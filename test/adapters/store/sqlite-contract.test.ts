import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { storeContract } from "../../contract/store.ts";
import { type Place, sealContract } from "../../contract/store-seals.ts";

const folder = mkdtempSync(join(tmpdir(), "store-"));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true }));

function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

storeContract("SQLite in memory", ({ now }) => openStore({ url: "sqlite::memory:", owner: "test", now }));

storeContract("SQLite in a file", ({ now }) => openStore({ url: `sqlite:${newFile()}`, owner: "test", now }));

sealContract("SQLite", async (): Promise<Place> => {
  const file = newFile();
  return {
    open: ({ now }) => openStore({ url: `sqlite:${file}`, owner: "test", now }),
    async run(sql, ...values) {
      const raw = new DatabaseSync(file);
      for (const { name } of raw.prepare("select name from sqlite_schema where type = 'trigger'").all())
        raw.exec(`drop trigger ${String(name)}`);
      const rows = raw.prepare(sql).all(...values);
      raw.close();
      return rows;
    },
    remove: () => Promise.resolve(),
  };
});
