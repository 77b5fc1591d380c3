// A request that ended at the service without a decision, as the service's answer to our decision says.

/** How the service adapter writes the service's word for an approval. */
export const SAYS = /^The agent service says of this approval: ([^]*)$/;

/** The service's words for a request that ended without a decision, as our sentences continue after "the request". */
const LAPSES: { readonly [word: string]: string } = {
  expired: "has expired",
  withdrawn: "was withdrawn",
  canceled: "was canceled",
  cancelled: "was canceled",
};

/** Returns how the request ended, such as "has expired", or null if the service says anything else. */
export function lapseIn(words: string): string | null {
  const word = SAYS.exec(words)?.[1]?.replace(/\.$/, "") ?? "";
  return Object.hasOwn(LAPSES, word) ? (LAPSES[word] ?? null) : null;
}
