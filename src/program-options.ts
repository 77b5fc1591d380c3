// Every program of ours imports this first. With `--version` it prints the version and ends, before anything is read or opened.

import { programVersion } from "./version.ts";

const [, , first] = process.argv;

if (first === "--version") {
  process.stdout.write(`Countersign ${programVersion()}\n`);
  process.exit(0);
}

/** With `--help` or `-h`, prints the usage and ends the program. To be called before anything is read. */
export function answerHelp(usage: string): void {
  if (first !== "--help" && first !== "-h") return;
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}

/** For a program without arguments: any of them prints the usage and ends it, as a mistake unless it asks for help. */
export function refuseArguments(usage: string): void {
  answerHelp(usage);
  if (first === undefined) return;
  process.stderr.write(`There is no "${first}" here.\n${usage}\n`);
  process.exit(2);
}
