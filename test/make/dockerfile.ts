// What the Dockerfile says, read without Docker.

import { readFileSync } from "node:fs";

type Instruction = { readonly verb: string; readonly rest: string };

export const dockerfile: readonly Instruction[] = readFileSync(
  new URL("../../Dockerfile", import.meta.url),
  "utf8",
)
  .replace(/^\s*#.*\n/gm, "")
  .replace(/\\\n\s*/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => {
    const [, verb = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
    return { verb: verb.toUpperCase(), rest };
  });

/** Returns the arguments of all lines with this instruction. */
export const linesOf = (verb: string): string[] =>
  dockerfile.filter((each) => each.verb === verb).map(({ rest }) => rest);

/** The variables that every container of the image has. What a deployment sets replaces them one by one, and removes none. */
export const imageEnv: { readonly [name: string]: string } = Object.fromEntries(
  linesOf("ENV")
    .flatMap((line) => line.trim().split(/\s+/))
    .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
);
