/** Time, handed in: the real one in `app.ts`, a hand-turned one in tests. */
export type Clock = {
  /** Wall time (ms since 1970), for what people and auditors read. It can jump either way. */
  now(): number;
  /** For intervals (ms): starts anywhere, never goes back, and means nothing in another process. */
  monotonic(): number;
  /** Calls `what` once after `ms`; the function returned cancels it. */
  after(ms: number, what: () => void): () => void;
};
