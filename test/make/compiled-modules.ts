// Node writes its compile cache when a process exits normally, so a bot that is killed never writes it. One start before all tests, which
// fails at once for lack of configuration, halves the start time of the hundreds of later starts.

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
