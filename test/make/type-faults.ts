// Compiles a source text that a test creates, for example a document that is checked against published types.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const OPTIONS = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig", "--module", "nodenext"];

/** Returns the compiler's errors. Empty if the source compiles. */
export function typeFaults(source: string): string {
  // The folder is inside the repository, so that the compiler finds the packages.
  const folder = mkdtempSync(join(ROOT, "node_modules/.types-"));
  const file = join(folder, "document.ts");
  writeFileSync(file, source);
  try {
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    execFileSync(process.execPath, [tsc, ...OPTIONS, file], { encoding: "utf8", stdio: "pipe" });
    return "";
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
