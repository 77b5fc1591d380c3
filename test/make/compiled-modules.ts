// Node writes what it has compiled when a process exits, and a bot that is killed never does so. One start before all tests, which lacks its
// configuration and ends at once, spares the hundreds of others half of their work.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inheritedEnv } from "./child-env.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

export default function compileOnce(): void {
  const cache = process.env["NODE_COMPILE_CACHE"];
  if (cache === undefined || existsSync(cache)) return;
  spawnSync(process.execPath, [MAIN], { env: inheritedEnv() });
}
