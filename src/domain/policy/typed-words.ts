// The words that a rule asks a person to type before they approve. Of several rules, all of them.

/** Who types `typed` types each word of `asked`. */
export function holdsWords(typed: string | null, asked: string | null): boolean {
  const words = new Set(typed?.split(" "));
  return asked === null || asked.split(" ").every((word) => words.has(word));
}

/** What holds the words of both. */
export function bothWords(a: string | null, b: string | null): string | null {
  if (a === null || holdsWords(b, a)) return b;
  return b === null || holdsWords(a, b) ? a : `${a} ${b}`;
}
