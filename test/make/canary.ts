// The tokens and keys of the sandbox and of tests contain the word "canary". Wherever one appears, a secret has leaked.

const CANARY = /canary-[\w-]{16,}/;

/** Returns the first canary in the text, with its context and without its end, so that the report is not another leak. */
export function canaryIn(text: string): string | null {
  const at = text.search(CANARY);
  return at < 0 ? null : `${text.slice(Math.max(at - 60, 0), at + 10)}…`;
}

export function expectNoCanary(where: string, text: string): void {
  const found = canaryIn(text);
  if (found !== null) throw new Error(`a secret has leaked ${where}: ${found}`);
}
