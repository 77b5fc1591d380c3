// Runs the commands by which docs/backup.md copies the database out of a pod. A stand-in for kubectl runs them in a folder of its own.

import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { inheritedEnv } from "./make/child-env.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const page = readFileSync(join(ROOT, "docs/backup.md"), "utf8");
const [COMMANDS = "echo 'the page has no commands' && exit 9"] = [...page.matchAll(/^```sh\n(.*?)^```/gms)]
  .map(([, text = ""]) => text)
  .filter((text) => text.includes("kubectl cp"));

/** Answers as kubectl does about one pod. The pod's /tmp is `$POD_TMP`, and its programs are ours. */
const KUBECTL = `#!/bin/sh
in_pod() { printf %s "$1" | sed "s|^$POD:||; s|^/tmp/|$POD_TMP/|"; }
case "$1" in
  get) echo "$POD" ;;
  cp) [ -z "$CANNOT_COPY" ] && cp "$(in_pod "$2")" "$3" ;;
  exec)
    [ "$2 $3" = "$POD --" ] || exit 1
    command="$4"; shift 4
    for each; do shift; set -- "$@" "$(in_pod "$each")"; done
    cd "$ROOT" && exec "$command" "$@" ;;
esac
`;

let folder = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-pod-"));
  for (const name of ["bin", "tmp", "here"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "bin", "kubectl"), KUBECTL);
  writeFileSync(join(folder, "bin", "date"), `#!/bin/sh\necho "$NOW"\n`);
  for (const name of ["kubectl", "date"]) chmodSync(join(folder, "bin", name), 0o755);
  await (await openStore({ url: `sqlite:${join(folder, "bot.db")}`, owner: "test" })).close();
});
afterEach(() => rmSync(folder, { recursive: true }));

const inPod = (): string[] => readdirSync(join(folder, "tmp"));
const copies = (): string[] => readdirSync(join(folder, "here"));

/** Resolves to the exit code of the commands. */
async function backUp(more: { readonly [name: string]: string } = {}): Promise<number> {
  const path = `${join(folder, "bin")}:${join(process.execPath, "..")}:${process.env["PATH"] ?? ""}`;
  const pod = { POD: "countersign-7d4f", POD_TMP: join(folder, "tmp"), ROOT };
  const env = {
    ...inheritedEnv(),
    ...pod,
    PATH: path,
    DATABASE_URL: `sqlite:${join(folder, "bot.db")}`,
    ...more,
  };
  return new Promise((resolve) => {
    execFile("sh", ["-c", COMMANDS], { cwd: join(folder, "here"), env }, (error) =>
      resolve(typeof error?.code === "number" ? error.code : error === null ? 0 : -1),
    );
  });
}

test("each run of the commands brings a copy of its own, and leaves none in the pod", async () => {
  expect(await backUp({ NOW: "2026-11-22T201700" })).toBe(0);
  expect(await backUp({ NOW: "2026-11-22T211700" })).toBe(0);
  expect(copies()).toHaveLength(2);
  expect(inPod()).toEqual([]);
});

test("if the pod makes no copy, the commands bring none and fail", async () => {
  expect(await backUp({ DATABASE_URL: "sqlite:/nowhere/bot.db" })).not.toBe(0);
  expect(copies()).toEqual([]);
});

test("if the copy does not arrive, it stays in the pod, and the commands fail", async () => {
  expect(await backUp({ CANNOT_COPY: "true" })).not.toBe(0);
  expect(copies()).toEqual([]);
  expect(inPod()).toHaveLength(1);
});
