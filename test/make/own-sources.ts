// Our own code, for tests about the code itself.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Maps the path of each file, relative to the top of the repository, to its text. */
export type Sources = ReadonlyMap<string, string>;

const TOP = fileURLToPath(new URL("../../", import.meta.url));

/** Reads every file of `src` and `sandbox` with TypeScript or JavaScript. */
export function ownSources(): Sources {
  const read = (folder: string): (readonly [string, string])[] =>
    readdirSync(join(TOP, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.[jt]s$/.test(path))
      .map((path) => [`${folder}/${path}`, readFileSync(join(TOP, folder, path), "utf8")] as const);
  return new Map(["src", "sandbox"].flatMap(read));
}
