// A tiny deterministic model that runs on this machine. It only repeats its input, and says so.

export type Completion = {
  /** The tokens. Together they are the whole text. */
  readonly pieces: readonly string[];
  readonly ended:
    | { readonly by: "itself" | "limit" }
    | { readonly by: "sequence"; readonly sequence: string };
};

export type Limits = { readonly maxTokens: number; readonly stopAt: readonly string[] };

/** Words, numbers and symbols, roughly as real models count them. White space belongs to the token before it. */
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
  let first: string | null = null;
  let end = text.length;
  for (const sequence of sequences) {
    const at = text.indexOf(sequence);
    if (at < 0 || at >= end) continue;
    first = sequence;
    end = at;
  }
  return { text: text.slice(0, end), sequence: first };
}

// A completion with its cost, and the pieces of a stream with their token counts.

export type ModelReply = {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970, as in the first convention. */
  readonly created: number;
  readonly completion: Completion;
  readonly inputTokens: number;
};

export type StreamPiece = { readonly text: string; readonly tokens: 0 | 1 };

export const textOf = ({ completion }: ModelReply): string => completion.pieces.join("");
export const outputTokens = ({ completion }: ModelReply): number => completion.pieces.length;

// The model names that a client can request. The answer always names the local model.

export const localModels = { text: "local-echo-1", embedding: "local-hashing-1" } as const;

/** The model names of the two conventions are aliases of the local models, so that clients work without changes. */
const aliases: Readonly<Record<keyof typeof localModels, RegExp>> = {
  text: /^(gpt-|chatgpt-|o\d|claude-)/,
  embedding: /^text-embedding-/,
};

/** Returns the local model for a requested name, or null if there is no such model of this kind. */
export function modelFor(kind: keyof typeof localModels, requested: string): string | null {
  const local = localModels[kind];
  return requested === local || aliases[kind].test(requested) ? local : null;
}
