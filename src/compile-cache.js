// @ts-check
// `node --import=./src/compile-cache.js src/main.ts`: Node keeps what it has compiled, which halves the time of a start. This file is plain
// JavaScript, as Node would load its TypeScript parser for anything else, which takes 30 ms and 20 MB.

import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Beside the packages: who can write there can change the code itself, which is not so in a folder for temporary files. Where nothing can
// be written, as in an image or under systemd, Node goes without what is not there already. NODE_COMPILE_CACHE names another folder.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/node-compile", import.meta.url)));
