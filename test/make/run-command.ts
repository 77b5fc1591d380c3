// Runs a command of `src/cli` as an operator does, in a process of its own.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { inheritedEnv } from "./child-env.ts";

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

type Options = {
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
  /** A file for the output, instead of `out`. */
  readonly to?: string;
  /** No file that the command writes grows beyond this size (KiB), as on a disk that is almost full. */
  readonly filesUpTo?: number;
};

/** Half a KiB, the unit of `ulimit -f` in POSIX. */
const BLOCKS_PER_KIB = 2;

/** `name`: the file in `src/cli`, without its ending. */
export async function runCommand(
  name: string,
  args: readonly string[],
  { env = {}, cwd, to, filesUpTo }: Options = {},
): Promise<Ended> {
  const program = fileURLToPath(new URL(`../../src/cli/${name}.ts`, import.meta.url));
  const limit = filesUpTo === undefined ? "" : `trap "" XFSZ; ulimit -f ${filesUpTo * BLOCKS_PER_KIB}; `;
  const line = `${limit}exec "$0" "$@"${to === undefined ? "" : ` > "${to}"`}`;
  const child = spawn("sh", ["-c", line, process.execPath, program, ...args], {
    env: { ...inheritedEnv(), ...env },
    cwd,
  });
  const seen = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (seen.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (seen.err += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, ...seen };
}
