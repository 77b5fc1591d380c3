// An attempt to act on a run that retention deletes while Slack is asked who the person is.

import { expect, test } from "vitest";
import { UserId } from "#src/domain/ids.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { APPROVER, type aRunId, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER };

const refusals = ({ store }: Bench) => store.auditAfter(0, ["refused"], 100);

/** The run ends. It is deleted at the next look-up of a person. */
async function endAndDelete(bench: Bench, id: ReturnType<typeof aRunId>): Promise<void> {
  bench.agents.statuses.set(id, "succeeded");
  bench.agents.pending.delete(id);
  await bench.clock.pass(120_000);
  bench.people.before = async () => void (await bench.store.forget(Number.MAX_SAFE_INTEGER));
}

test("a form that is submitted for it is refused, counted and in the audit", async () => {
  const bench = await createBench();
  const { id, click } = await bench.withCard();
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error("no form");
  await endAndDelete(bench, id);
  const submitted = await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go");
  expect(submitted).toMatchObject({ error: { refusal: { type: "unknown" }, run: null } });
  expect(await bench.store.byRunId(id)).toBeNull();
  expect(await refusals(bench)).toMatchObject([
    {
      entry: {
        what: "refused",
        refusal: "unknown",
        step: "submit",
        verdict: "approve",
        reason: "go",
        by: BY,
      },
    },
  ]);
  expect(bench.refusals).toEqual(["unknown"]);
});

test("a press on its card that is refused is in the audit", async () => {
  const bench = await createBench();
  const { id, click } = await bench.withCard();
  await endAndDelete(bench, id);
  bench.people.facts = { kind: "guest", seesChannel: false };
  const by = { team: TEAM, user: UserId("U0GUEST") };
  const read = await bench.flow.openForm.read({ ...click, ...by }, () => Promise.resolve(true));
  expect(read.ok).toBe(false);
  expect(await bench.store.byRunId(id)).toBeNull();
  expect(await refusals(bench)).toMatchObject([{ entry: { what: "refused", by } }]);
});
