/** Returns what a promise is rejected with. A promise that resolves fails the test. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ resolved: value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome) return outcome.error;
  throw new Error(`resolved instead: ${JSON.stringify(outcome.resolved)}`);
}
