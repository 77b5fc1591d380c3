// A very small deterministic model that runs on this machine and says so: it repeats, it does not think.

export type Completion = { readonly words: readonly string[]; readonly cutOff: boolean };

export const localModelName = "local-echo-1";

/** Words and signs, near enough to what real models count. */
export function countTokens(text: string): number {
  return text.match(/[\p{L}\p{M}]+|\p{N}+|[^\s\p{L}\p{M}\p{N}]/gu)?.length ?? 0;
}

/** The answer in pieces that can be streamed; together they are the whole text. */
export function complete(lastMessage: string, maxTokens: number): Completion {
  const said = lastMessage.trim().replaceAll(/\s+/g, " ");
  const quoted = said.length > 400 ? `${said.slice(0, 400)}…` : said;
  const answer =
    "I am the sandbox’s local model: a few lines of code that repeat what they are told, not a language model. " +
    `You wrote ${countTokens(lastMessage)} tokens: “${quoted}”`;
  const words = answer.match(/\S+\s*/g) ?? [];
  const kept: string[] = [];
  let used = 0;
  for (const word of words) {
    used += countTokens(word);
    if (used > maxTokens) return { words: kept, cutOff: true };
    kept.push(word);
  }
  return { words: kept, cutOff: false };
}

/**
 * Feature hashing over words and their letter trigrams, of unit length: texts that share words or parts of words lie
 * near each other. It knows nothing of meaning.
 */
export function embed(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  for (const word of words) {
    addFeature(vector, `word ${word}`, 1);
    const padded = `^${word}$`;
    for (let at = 0; at + 3 <= padded.length; at += 1) addFeature(vector, padded.slice(at, at + 3), 0.5);
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

function addFeature(vector: number[], feature: string, weight: number) {
  const hash = fnv1a(feature);
  const at = hash % vector.length;
  // The sign keeps two features that fall on one place from always adding up.
  vector[at] = (vector[at] ?? 0) + (hash >= 0x80000000 ? -weight : weight);
}

/** FNV-1a, 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
