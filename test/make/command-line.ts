// The command lines of the campaigns and benchmarks, all of one kind.

import { parseArgs, type ParseArgsOptionsConfig } from "node:util";

/**
 * What the options of this process say. `read` makes of it what the program needs, and throws what is wrong with it. With `--help` the
 * usage is printed and the process ends well; with anything wrong it ends with code 2.
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

/** Throws unless it is a whole number from 1, which the option is told to take. */
export function wholeNumber(option: string, given: string): number {
  const number = Number(given);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${option} takes a whole number from 1`);
  return number;
}
