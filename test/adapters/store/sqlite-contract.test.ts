import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { storeContract } from "../../contract/store.ts";

const folder = mkdtempSync(join(tmpdir(), "store-"));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true }));

storeContract("SQLite in memory", ({ now }) => openStore({ url: "sqlite::memory:", owner: "test", now }));

storeContract("SQLite in a file", ({ now }) => {
  files += 1;
  return openStore({ url: `sqlite:${join(folder, `${files}.db`)}`, owner: "test", now });
});
