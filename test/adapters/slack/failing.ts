/** What a promise is rejected with; a promise that resolves is a failed test. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ resolved: value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome) return outcome.error;
  throw new Error(`resolved instead: ${JSON.stringify(outcome.resolved)}`);
}
