// The doctor looks for a running bot at HOST and PORT.

import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { readinessOf, startHttp } from "#src/adapters/http/server.ts";
import { findRunningBot } from "#src/cli/doctor/check-port.ts";
import { createPartsBeforeSlack } from "#src/engine/health.ts";
import { createHandClock } from "../make/clock.ts";
import { config, SOCKET } from "../make/config.ts";

afterEach(() => void vi.useRealTimers());

test("a bot whose database does not answer is recognized, and says so", async () => {
  const clock = createHandClock();
  const asked = Promise.withResolvers<void>();
  const parts = createPartsBeforeSlack({ store: { ping: () => new Promise(() => undefined) }, clock });
  const server = await startHttp({
    host: "127.0.0.1",
    port: 0,
    live: () => true,
    ready: async () => {
      asked.resolve();
      return readinessOf(await parts(), "1.2.3");
    },
    metrics: () => Promise.resolve({ contentType: "text/plain", body: "" }),
  });
  onTestFinished(() => server.close());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const found = findRunningBot(config({ ...SOCKET, PORT: String(server.port) }));
  await asked.promise;
  await vi.advanceTimersByTimeAsync(3_000);
  await clock.pass(3_000);
  expect(await found).toEqual({
    url: server.url,
    troubles: ["store: the database did not answer within 3 s", "slack: not reached yet"],
  });
});
