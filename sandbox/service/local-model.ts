// A very small deterministic model that runs on this machine and says so: it repeats, it does not think.

export type Completion = {
  /** One token each; together they are the whole text. */
  readonly pieces: readonly string[];
  readonly ended:
    | { readonly by: "itself" | "limit" }
    | { readonly by: "sequence"; readonly sequence: string };
};

export type Limits = { readonly maxTokens: number; readonly stopAt: readonly string[] };

/** Words, numbers and signs, about as real models count. White space counts with the token before it. */
const token = /(?:[\p{L}\p{M}]+|\p{N}+|[^\s\p{L}\p{M}\p{N}])\s*/gu;

export const countTokens = (text: string): number => text.match(token)?.length ?? 0;

const mostQuoted = 400;

export function complete(lastMessage: string, { maxTokens, stopAt }: Limits): Completion {
  const said = Array.from(lastMessage.trim().replaceAll(/\s+/g, " "));
  const quoted = said.length > mostQuoted ? `${said.slice(0, mostQuoted).join("")}…` : said.join("");
  const answer =
    "I am the sandbox’s local model: a few lines of code that repeat what they are told, not a language model. " +
    `You wrote ${counted(countTokens(lastMessage))}: “${quoted}”`;
  const { text, sequence } = upToFirst(stopAt, answer);
  const pieces = text.match(token) ?? [];
  if (pieces.length > maxTokens) return { pieces: pieces.slice(0, maxTokens), ended: { by: "limit" } };
  return { pieces, ended: sequence === null ? { by: "itself" } : { by: "sequence", sequence } };
}

const counted = (tokens: number): string => `${tokens} token${tokens === 1 ? "" : "s"}`;

function upToFirst(sequences: readonly string[], text: string) {
  let [first, end]: [string | null, number] = [null, text.length];
  for (const sequence of sequences) {
    const at = text.indexOf(sequence);
    if (at >= 0 && at < end) [first, end] = [sequence, at];
  }
  return { text: text.slice(0, end), sequence: first };
}

// One completion and what it cost, and a stream in which each piece knows how many tokens it carries.

export type ModelReply = {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970, as the first convention has it. */
  readonly created: number;
  readonly completion: Completion;
  readonly inputTokens: number;
};

export type StreamPiece = { readonly text: string; readonly tokens: 0 | 1 };

export const textOf = ({ completion }: ModelReply): string => completion.pieces.join("");
export const outputTokens = ({ completion }: ModelReply): number => completion.pieces.length;

// The names a client may ask for. Whatever it asked for, the answer names the one that spoke.

export const localModels = { text: "local-echo-1", embedding: "local-hashing-1" } as const;

/** The model names of the two conventions mean the local one, so that a client works without changes. */
const standFor: Readonly<Record<keyof typeof localModels, RegExp>> = {
  text: /^(gpt-|chatgpt-|o\d|claude-)/,
  embedding: /^text-embedding-/,
};

/** Null: there is no such model for this. */
export function modelFor(kind: keyof typeof localModels, asked: string): string | null {
  const local = localModels[kind];
  return asked === local || standFor[kind].test(asked) ? local : null;
}
