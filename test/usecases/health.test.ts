// What `/agent health` is told.

import { expect, test } from "vitest";
import { healthReport } from "#src/adapters/slack/blocks/health-answer.ts";
import type { Asker } from "#src/usecases/access.ts";
import { printedMessage } from "../adapters/slack/blocks/printed.ts";
import { ADMIN, createBench, failure } from "../make/bot.ts";
import { APPROVER, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY: Asker = { team: TEAM, user: REQUESTER, channel: CHANNEL };

test("health reports the service, the gateway, the poller and the store, and the store's failure", async () => {
  const bench = await createBench();
  await bench.withCard();
  await bench.clock.pass(5_000);
  expect(await bench.flow.queries.health(ADMIN)).toMatchObject({
    service: { ok: true },
    gateway: { ok: true },
    poller: { watched: 1, inFlight: 0, service: { type: "answers" } },
    store: { ok: true },
  });
  bench.store.ping = () => Promise.reject(failure("database_failed"));
  expect(await bench.flow.queries.health(ADMIN)).toMatchObject({ store: { ok: false } });
});

test("health says what the service says about the key now, not what it said before", async () => {
  const bench = await createBench();
  await bench.withCard();
  const key = async () => (await bench.flow.queries.health(ADMIN)).key;
  expect(await key()).toBe("accepted");
  bench.agents.beforeLook = () => Promise.reject(failure("refused_connection"));
  expect(await key()).toBe("unknown");
  bench.agents.beforeLook = () => Promise.reject(failure("http_401"));
  expect(await key()).toBe("refused");
  bench.agents.beforeLook = () => Promise.reject(failure("http_429", { retryAfterMs: 60_000 }));
  expect(await key()).toBe("paused");
  expect(await key()).toBe("paused");
});

test("health counts the decisions and the starts that wait for the service", async () => {
  const bench = await createBench();
  const { click } = await bench.withCard();
  bench.agents.create = () => Promise.reject(failure("refused_connection"));
  bench.agents.answer = () => Promise.resolve({ type: "later", afterMs: null, why: "down" });
  await bench.restart();
  await bench.flow.startRun.start(BY, { input: "deploy", intention: "command 1", answerUrl: null });
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go");
  await bench.clock.pass(2_000);
  expect((await bench.flow.queries.health(ADMIN)).waiting).toMatchObject({
    decisions: { count: 1, late: 0 },
    starts: 1,
  });
});

test("health names a policy file that cannot be used, and everything else answers", async () => {
  const bench = await createBench();
  await bench.withCard();
  await bench.clock.pass(5_000);
  const report = async () => {
    const { text, blocks } = healthReport(await bench.flow.queries.health(ADMIN), bench.clock.now());
    return { text, shown: printedMessage({ text, blocks }) };
  };
  expect((await report()).text).toBe("Everything answers");
  bench.policyReading = "faulty";
  const { text, shown } = await report();
  expect(text).toBe("Something is wrong");
  expect(shown).toContain("the old policy stays in force");
  bench.policyReading = "in force";
  expect((await report()).shown).not.toContain("Policy");
});
