// The planted bugs. Each is a patch; the lines before the diff say what it breaks and which test must catch it.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type PlantedBug = {
  readonly name: string;
  /** What the bug does, as a sentence. */
  readonly bug: string;
  /** The test file, and the title of the test in it or in a suite that it imports. */
  readonly test: string;
  readonly title: string;
  readonly patch: string;
};

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FOLDER = fileURLToPath(new URL("./", import.meta.url));

export function plantedBugs(): readonly PlantedBug[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".patch"))
    .sort()
    .map((file) => {
      const patch = `${FOLDER}${file}`;
      const [head = ""] = readFileSync(patch, "utf8").split("diff --git ");
      const line = (name: string): string => new RegExp(`^${name}: (.+)$`, "m").exec(head)?.[1] ?? "";
      return {
        name: file.replace(".patch", ""),
        bug: line("Bug"),
        test: line("Test"),
        title: line("Title"),
        patch,
      };
    });
}
