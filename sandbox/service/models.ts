// The names a client may ask for. Whatever it asked for, the answer names the one that spoke.

export const localModels = { text: "local-echo-1", embedding: "local-hashing-1" } as const;

/** Names of the two conventions' own models stand for the local one, so that a client works as it is configured. */
const standFor: Readonly<Record<keyof typeof localModels, RegExp>> = {
  text: /^(gpt-|chatgpt-|o\d|claude-)/,
  embedding: /^text-embedding-/,
};

/** Null: there is no such model for this. */
export function modelFor(kind: keyof typeof localModels, asked: string): string | null {
  const local = localModels[kind];
  return asked === local || standFor[kind].test(asked) ? local : null;
}
