// The entry point of `npm start`. To print the version or the help, Node loads nothing but this file.

import { refuseArguments } from "./program-options.ts";

refuseArguments(`Usage: npm start
Starts Countersign. Environment variables configure it: docs/reference.md lists them, and npm run doctor checks them.
  --version  prints the version
  --help     prints this text`);

await import("./start-bot.ts");
