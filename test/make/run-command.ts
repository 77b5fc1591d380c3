// Runs a command of `src/cli` as an operator does, in a process of its own.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { inheritedEnv } from "./child-env.ts";

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

type Env = { readonly [name: string]: string };

/** `name`: the file in `src/cli`, without its ending. `to`: a file for the output, instead of `out`. */
export async function runCommand(
  name: string,
  args: readonly string[],
  { env = {}, to }: { readonly env?: Env; readonly to?: string } = {},
): Promise<Ended> {
  const program = fileURLToPath(new URL(`../../src/cli/${name}.ts`, import.meta.url));
  const line = to === undefined ? '"$0" "$@"' : `"$0" "$@" > "${to}"`;
  const child = spawn("sh", ["-c", `exec ${line}`, process.execPath, program, ...args], {
    env: { ...inheritedEnv(), ...env },
  });
  const seen = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (seen.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (seen.err += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, ...seen };
}
