import { readFileSync } from "node:fs";

/** This program's version, from package.json. */
export function programVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
