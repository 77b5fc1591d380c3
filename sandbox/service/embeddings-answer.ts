// Vectors in the words of the first convention.

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
