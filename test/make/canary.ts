// The sandbox's tokens and keys say of themselves that they are canaries, and so do those that tests make up: where one is seen, a
// secret has got out.

const CANARY = /canary-[\w-]{16,}/;

/** The first one in the text, without its end, so that the report is not another leak. */
export function canaryIn(text: string): string | null {
  const at = text.search(CANARY);
  return at < 0 ? null : `${text.slice(Math.max(at - 60, 0), at + 10)}…`;
}

export function expectNoCanary(where: string, text: string): void {
  const found = canaryIn(text);
  if (found !== null) throw new Error(`a secret has got out, ${where}: ${found}`);
}
