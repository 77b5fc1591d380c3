// Feature hashing over words, pairs of words and letter trigrams. Texts that share words or parts of words get similar vectors. The meaning
// plays no role.

const weights = { word: 1, pair: 0.4, trigram: 0.5 };
/** Words as short as "the" and "a" carry little information. */
const shortWord = { letters: 3, weight: 0.3 };

/** Returns a vector of unit length for any text. */
export function embed(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  const plain = text.normalize("NFKC").toLowerCase();
  const words = plain.match(/[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];
  for (const [index, word] of words.entries()) addWord(vector, word, words[index + 1]);
  const length = Math.hypot(...vector);
  // In the rare case that there are no features, or they cancel each other out, the whole text becomes the only feature.
  if (length < 1e-9) vector.fill(0)[fnv1a(text) % dimensions] = 1;
  // Rounded to 32 bits, because they may be sent as 32-bit floats.
  return vector.map((value) => Math.fround(length < 1e-9 ? value : value / length));
}

function addWord(vector: number[], word: string, next: string | undefined) {
  const letters = Array.from(word);
  const weight = letters.length <= shortWord.letters ? shortWord.weight : 1;
  addFeature(vector, `word ${word}`, weights.word * weight);
  if (next !== undefined) addFeature(vector, `pair ${word} ${next}`, weights.pair * weight);
  const padded = ["^", ...letters, "$"];
  for (let at = 0; at + 3 <= padded.length; at += 1) {
    addFeature(vector, padded.slice(at, at + 3).join(""), weights.trigram * weight);
  }
}

function addFeature(vector: number[], feature: string, weight: number) {
  const hash = fnv1a(feature);
  const at = hash % vector.length;
  // The sign prevents two features with the same position from always adding up.
  vector[at] = (vector[at] ?? 0) + (hash >= 0x80000000 ? -weight : weight);
}

/** FNV-1a, 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

// Embeddings in the format of the first convention (OpenAI).

type Cost = { readonly model: string; readonly tokens: number; readonly base64: boolean };

export function embeddingsAnswer(vectors: readonly number[][], { model, tokens, base64 }: Cost): object {
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: base64 ? littleEndian(vector) : vector,
  }));
  return { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** 32-bit floats, as clients of the first convention decode them. */
function littleEndian(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}
