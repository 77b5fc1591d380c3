// The headline: what is asked, in one line of plain text.

import type { Request } from "../approval.ts";
import { lineExcerpt } from "./excerpt.ts";

/** The marks of Countersign's own titles, and every other symbol. The service must not be able to set any in a title. */
const SYMBOLS = /\p{So}|\p{Extended_Pictographic}|\u2713|\u2717|\uFE0F|\u200D/gu;

export const withoutSymbols = (text: string): string =>
  text.replace(SYMBOLS, "").replace(/ {2,}/g, " ").trim();

/** `whole`: the headline says everything that the action says. */
export type Headline = { readonly text: string; readonly whole: boolean };

export function headline({ action }: Pick<Request, "action">, max: number): Headline {
  if (action === null) return { text: "The service did not say what for", whole: true };
  const { text, hidden } = lineExcerpt(action, max, "masked");
  const shown = withoutSymbols(text);
  if (shown === "") return { text: "See the request below", whole: false };
  return { text: shown, whole: hidden === 0 && shown === action };
}

/** The longest headline in most messages (characters). */
export const HEADLINE_CHARS = 150;

/** The headline alone, for places that need not say whether it is whole. */
export const askedIn = (request: Pick<Request, "action">, max = HEADLINE_CHARS): string =>
  headline(request, max).text;
