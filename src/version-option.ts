// Every program of ours imports this first: with `--version` it prints the version and ends, before anything is read or opened.

import { programVersion } from "./version.ts";

if (process.argv[2] === "--version") {
  process.stdout.write(`Countersign ${programVersion()}\n`);
  process.exit(0);
}
