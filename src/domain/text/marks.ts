// What lists and cards say about a request beside what it asks for: its risk, and where it happens. Both are claims of the service.

export type RiskLevel = "critical" | "high" | "medium" | "low" | "other";
/** `words` (drawn): a level such as "high", or what the service wrote if we do not know that level. */
export type Risk = { readonly level: RiskLevel; readonly words: string };

export type Marks = {
  /** The highest risk that the service states. */
  readonly risk: Risk | null;
  /** Where it happens, such as "production". */
  readonly where: readonly string[];
};
