// Watches everything that the processes of a test run print. A secret in it fails the run.

import { canaryIn } from "./canary.ts";

/** How much of the previous piece is kept (characters). It is longer than a secret, because a secret may arrive in two pieces. */
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
    throw new Error(`The output of this run contains ${found.length} secrets. The first is: ${found[0]}`);
  };
}
