// `npm start`. This file is all that Node loads before it uses its cache of compiled modules, which halves the time of the start.

import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { refuseArguments } from "./program-options.ts";

refuseArguments(`Usage: npm start
Starts Countersign. Environment variables configure it: docs/reference.md lists them, and npm run doctor checks them.
  --version  prints the version
  --help     prints this text`);

// Beside the packages: who can write there can change the code itself, which is not so in a folder for temporary files. Where nothing can
// be written, as in an image or under systemd, Node goes without what is not there already. NODE_COMPILE_CACHE names another folder.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/node-compile", import.meta.url)));

await import("./start-bot.ts");
