// The words that a person must type to approve. If several rules apply, they type the words of all.

/** Returns whether `typed` contains each word of `asked`. */
export function holdsWords(typed: string | null, asked: string | null): boolean {
  const words = new Set(typed?.split(" "));
  return asked === null || asked.split(" ").every((word) => words.has(word));
}

/** Returns a text with the words of both. */
export function bothWords(a: string | null, b: string | null): string | null {
  if (a === null || holdsWords(b, a)) return b;
  return b === null || holdsWords(a, b) ? a : `${a} ${b}`;
}

/** Returns whether the person typed what is asked. Case does not count, because the keyboard of a phone begins a line with a capital. */
export function isTyped(asked: string, typed: string): boolean {
  return typed.trim().toLowerCase() === asked.toLowerCase();
}
