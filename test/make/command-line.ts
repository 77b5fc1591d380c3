// Reads the command lines of the campaigns and benchmarks.

import { parseArgs, type ParseArgsOptionsConfig } from "node:util";

/**
 * Reads the options of this process. `read` converts them, and throws an error if they are invalid. With `--help`, prints the usage and
 * exits with 0. With invalid options, exits with 2.
 */
export function readCommandLine<Options extends ParseArgsOptionsConfig, Wanted>(
  usage: string,
  options: Options,
  read: (values: ReturnType<typeof parseArgs<{ options: Options }>>["values"]) => Wanted,
): Wanted {
  if (process.argv.includes("--help")) {
    console.log(`Usage: ${usage}`);
    process.exit(0);
  }
  try {
    return read(parseArgs({ options }).values);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\nUsage: ${usage}`);
    process.exit(2);
  }
}

/** Reads a whole number of at least 1. Throws an error that names the option if the text is not such a number. */
export function wholeNumber(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${option} takes a whole number from 1`);
  return number;
}
