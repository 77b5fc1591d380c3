// One completion and what it cost, and a stream in which each piece knows how many tokens it carries.

import type { Completion } from "./local-model.ts";

export type Told = {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970, as the first convention has it. */
  readonly created: number;
  readonly completion: Completion;
  readonly inputTokens: number;
};

export type Piece = { readonly text: string; readonly tokens: 0 | 1 };

export const textOf = ({ completion }: Told): string => completion.pieces.join("");
export const outputTokens = ({ completion }: Told): number => completion.pieces.length;
