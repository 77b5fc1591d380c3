// Reads along whatever a run of the tests writes out, of all its processes. A secret in it fails the run.

import { canaryIn } from "./canary.ts";

/** Longer than a secret and its prefix, because it may come in two pieces (characters). */
const KEPT_CHARS = 400;

export default function watch(): () => void {
  const found: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    let kept = "";
    stream.write = (chunk: string | Uint8Array, ...rest: []): boolean => {
      const text = kept + (typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
      const canary = canaryIn(text);
      if (canary !== null) found.push(canary);
      kept = canary === null ? text.slice(-KEPT_CHARS) : "";
      return write(chunk, ...rest);
    };
  }
  return () => {
    if (found.length === 0) return;
    throw new Error(`${found.length} secrets stand in the output of this run, the first here: ${found[0]}`);
  };
}
