// What all our programs share: options, and how a command ends. Each program imports this file first. With `--version`, it prints the version and exits before
// anything is read or opened.

import { programVersion } from "./version.ts";

const args = process.argv.slice(2);
const [first] = args;

if (first === "--version") {
  process.stdout.write(`Countersign ${programVersion()}\n`);
  process.exit(0);
}

/** With `--help` or `-h` anywhere before `--`, prints the usage and exits. Call this before anything is read. */
export function answerHelp(usage: string): void {
  const options = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  if (!options.includes("--help") && !options.includes("-h")) return;
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}

/** For a program that takes no arguments. Any argument prints the usage and exits: with code 2, unless it asks for help. */
export function refuseArguments(usage: string): void {
  answerHelp(usage);
  if (first === undefined) return;
  process.stderr.write(`This command takes no arguments, so "${first}" was not understood.\n${usage}\n`);
  process.exit(2);
}

/**
 * Makes a command exit with 2 if its output is lost. `console.log` ignores a full disk. The returned function says whether an error is that
 * of the output, which is reported already. A reader that ends early, such as `head`, needs no explanation, unless the command changed
 * something: `stands` then says so, and where to see it.
 */
export function failOnLostOutput(stands = ""): (error: unknown) => boolean {
  let lost: Error | null = null;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    lost = error;
    if (error.code !== "EPIPE" || stands !== "")
      process.stderr.write(`The output could not be written: ${error.message}${stands && `. ${stands}`}\n`);
    process.once("exit", () => (process.exitCode ||= 2));
  });
  return (error) => error === lost;
}

/** A signal makes a command exit in the normal way, so that its temporary files are removed. Once the command is done, its exit code stays. */
export function exitOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => process.exit(process.exitCode ?? 2));
}
