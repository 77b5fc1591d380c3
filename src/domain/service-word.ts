// The service's word (untrusted) for what became of a request, such as "expired".

/** An answer to a decision that names another outcome. `said`: the service's word. Earlier releases stored only `words`, our sentence. */
export type OtherOutcome = { readonly words: string; readonly said?: string };

const STORED_SENTENCE = /^The agent service says of this approval: ([^]*?)\.?$/;

/** Returns the word in a sentence that an earlier release stored in its place. Null for any other text. */
export const wordInStoredSentence = (text: string): string | null => STORED_SENTENCE.exec(text)?.[1] ?? null;

/** The service's words for a request that ended without a decision, as our sentences continue after "the request". */
const ENDS_WITHOUT_DECISION: { readonly [word: string]: string } = {
  expired: "has expired",
  withdrawn: "was withdrawn",
  canceled: "was canceled",
  cancelled: "was canceled",
};

/** Returns how the request ended without a decision, such as "has expired". Null if the service says anything else. */
export function endWithoutDecision({ words, said }: OtherOutcome): string | null {
  const word = said ?? wordInStoredSentence(words) ?? "";
  return Object.hasOwn(ENDS_WITHOUT_DECISION, word) ? (ENDS_WITHOUT_DECISION[word] ?? null) : null;
}
