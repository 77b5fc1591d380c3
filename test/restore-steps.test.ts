// Runs the shell lines with which docs/backup.md replaces the database by a copy, in a folder of its own instead of /data.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";

const page = readFileSync(new URL("../docs/backup.md", import.meta.url), "utf8");
const LINES = /```sh\n(\s*broken=.*?)```/s.exec(page)?.[1] ?? "";

let folder = "";
let data = "";
let copy = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-restore-"));
  [data, copy] = [join(folder, "private"), join(folder, "copy.db")];
  mkdirSync(data);
  write(copy, "the copy");
  crash("the old database");
  writeFileSync(join(data, "countersign.db.audit-key"), "key");
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(file: string, words: string): DatabaseSync {
  const db = new DatabaseSync(file);
  db.exec(`pragma journal_mode = wal; create table said (words text); insert into said values ('${words}')`);
  if (file === copy) db.close();
  return db;
}

/** Leaves a database as a bot does that was killed: what it wrote last is only in the log of SQLite. */
function crash(words: string): void {
  const live = join(folder, "live.db");
  const db = write(live, words);
  for (const end of ["", "-wal", "-shm"]) copyFileSync(live + end, join(data, `countersign.db${end}`));
  db.close();
}

function wordsIn(file: string): unknown {
  const db = new DatabaseSync(file);
  try {
    return db.prepare("select words from said").get()?.["words"];
  } finally {
    db.close();
  }
}

/** `at`: the folder that the operator writes instead of /data. */
function restore(at: string, path = process.env["PATH"] ?? ""): string {
  const lines = LINES.replaceAll(/\/backup\/\S+\.db/g, copy).replaceAll("/data", at);
  return execFileSync("sh", ["-c", `exec 2>&1\n${lines}`], { encoding: "utf8", env: { PATH: path } });
}

const broken = (): string => {
  const [name = ""] = readdirSync(data).filter((each) => each.startsWith("broken-"));
  return join(data, name);
};

function expectRestored(): void {
  expect(readdirSync(broken()).toSorted()).toEqual([
    "countersign.db",
    "countersign.db-shm",
    "countersign.db-wal",
  ]);
  expect(wordsIn(join(broken(), "countersign.db"))).toBe("the old database");
  expect(readFileSync(join(data, "countersign.db.audit-key"), "utf8")).toBe("key");
  expect(existsSync(join(data, "countersign.db-wal"))).toBe(false);
  expect(wordsIn(join(data, "countersign.db"))).toBe("the copy");
}

test("the documented lines move the old database away with its log, and put the copy in its place", () => {
  restore(data);
  expectRestored();
});

test("they do the same if the folder is a link, as under the systemd unit", () => {
  const link = join(folder, "countersign");
  symlinkSync(data, link);
  restore(link);
  expectRestored();
});

test.each(["countersign.db", "countersign.db-wal"])(
  "they copy nothing and say so if %s cannot be moved",
  (name) => {
    const [programs, path] = [join(folder, "programs"), process.env["PATH"] ?? ""];
    mkdirSync(programs);
    const mv = `#!/bin/sh\ncase "$1" in */${name}) exit 1;; *) PATH='${path}' exec mv "$@";; esac\n`;
    writeFileSync(join(programs, "mv"), mv);
    chmodSync(join(programs, "mv"), 0o755);
    const before = readFileSync(join(data, name));
    expect(restore(data, `${programs}:${path}`)).toContain("NOT RESTORED");
    expect(readFileSync(join(data, name))).toEqual(before);
    expect(
      readdirSync(data)
        .filter((each) => each.startsWith("countersign.db"))
        .toSorted(),
    ).toEqual([name, "countersign.db.audit-key"].toSorted());
  },
);
