// The bench builds its own engine, so a change of how processes hold runs can stop it from measuring anything.

import { expect, test } from "vitest";
import { pollRatio } from "../bench/poll-ratio.ts";

test("the bench of polls reaches the service on both sides", async () => {
  const { ours, plain } = await pollRatio({ runs: 20, engine: 1, roundMs: 50 });
  expect(ours).toBeGreaterThan(0);
  expect(plain).toBeGreaterThan(0);
});
