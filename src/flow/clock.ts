/** Time, handed in: the real one in `app.ts`, a hand-turned one in tests. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `what` once after `ms`; the function returned cancels it. */
  after(ms: number, what: () => void): () => void;
};
