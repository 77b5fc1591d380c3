// Runs the commands by which docs/deploy.md archives the audit in Kubernetes. A stand-in for kubectl runs them on folders of its own.

import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { inheritedEnv } from "./make/child-env.ts";
import { anAuditEntry, aRun, NOON } from "./make/run.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const page = readFileSync(join(ROOT, "docs/deploy.md"), "utf8");
const COMMANDS = [...page.matchAll(/^```sh\n(.*?)^```/gms)]
  .map(([, text = ""]) => text)
  .filter((text) => text.includes("kubectl") && text.includes("audit.ts archive"))
  .join("")
  .replace(/--before \S+/, "--before 2100-01-01");

/** Answers as kubectl does about one pod, whose /tmp and /data are folders in `$POD`. The programs of the pod are ours. */
const KUBECTL = `#!/bin/sh
in_pod() { printf %s "$1" | sed "s|^countersign-commands:||; s|^/tmp/|$POD/tmp/|; s|^/data/|$POD/data/|"; }
case "$1" in
  cp)
    case "$FAULT" in
      "no copy") exit 1 ;;
      "half a copy") head -c 100 "$(in_pod "$2")" > "$3" ;;
      *) cp "$(in_pod "$2")" "$3" ;;
    esac ;;
  delete) rm -r "$POD/tmp" ;;
  exec)
    shift
    [ "$1" = -i ] && shift
    command="$3"; shift 3
    for each; do shift; set -- "$@" "$(in_pod "$each")"; done
    cd "$ROOT" && "$command" "$@" ;;
esac
`;

let folder = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-pod-"));
  for (const name of ["bin", "here", "pod", "pod/tmp", "pod/data"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "bin", "kubectl"), KUBECTL);
  chmodSync(join(folder, "bin", "kubectl"), 0o755);
  const store = await openStore({ url: `sqlite:${join(folder, "bot.db")}`, owner: "test" });
  await store.audit([1, 2, 3].map(() => anAuditEntry(aRun(), { what: "opened", at: NOON })));
  await store.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

const podIsThere = (): boolean => existsSync(join(folder, "pod", "tmp"));
const copy = (): string => join(folder, "here", "old.jsonl");

/** Resolves to the exit code of the commands. */
async function archive(fault = ""): Promise<number> {
  const path = `${join(folder, "bin")}:${join(process.execPath, "..")}:${process.env["PATH"] ?? ""}`;
  const database = { DATABASE_URL: `sqlite:${join(folder, "bot.db")}` };
  const env = { ...inheritedEnv(), ...database, PATH: path, POD: join(folder, "pod"), ROOT, FAULT: fault };
  return new Promise((resolve) => {
    execFile("sh", ["-c", COMMANDS], { cwd: join(folder, "here"), env }, (error) =>
      resolve(typeof error?.code === "number" ? error.code : error === null ? 0 : -1),
    );
  });
}

test("the commands bring a copy of the archive, and then delete the pod", async () => {
  expect(await archive()).toBe(0);
  expect(readFileSync(copy(), "utf8")).toContain("opened");
  expect(podIsThere()).toBe(false);
});

test.for(["no copy", "half a copy"])(
  "if the archive does not arrive whole (%s), the pod stays, and the commands fail",
  async (fault) => {
    expect(await archive(fault)).not.toBe(0);
    expect(podIsThere()).toBe(true);
  },
);

test("if the archive fails, the pod stays, and the commands fail", async () => {
  rmSync(join(folder, "bot.db"));
  expect(await archive()).not.toBe(0);
  expect(podIsThere()).toBe(true);
});

test("with SQLite, the archive is on the volume, which outlives the pod", async () => {
  await archive();
  expect(existsSync(join(folder, "pod", "data", "old.jsonl"))).toBe(true);
});
