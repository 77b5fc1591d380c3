// A rule that wants approvals from two parts, and a person who changes from one to the other after approving.

import { expect, test } from "vitest";
import { GroupId, UserId } from "#src/domain/ids.ts";
import { createBench } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { TEAM } from "../make/run.ts";

const [SRE, SEC] = [GroupId("S0SRE"), GroupId("S0SEC")];
const [ANA, BEN] = [UserId("U0ANA"), UserId("U0BEN")];
const part = (group: GroupId) => ({ users: [], groups: [group], channels: [] });
const policy = aPolicy({
  name: "both",
  needs: 2,
  parts: [part(SRE), part(SEC)],
  approvers: { users: [], groups: [SRE, SEC], channels: [] },
});

test("Ana moved to security after her approval, so Ben of operations completes it", async () => {
  const bench = await createBench();
  bench.policy = policy;
  const put = (ana: GroupId) =>
    (bench.people.ownSets = new Map([
      [ANA, new Set([ana])],
      [BEN, new Set([SRE])],
    ]));
  put(SRE);
  const { click } = await bench.withCard();
  const approve = async (user: UserId) => {
    const opened = await bench.flow.openForm.open({ ...click, user }, "approve");
    if (!opened.ok) return opened.error.refusal.type;
    const done = await bench.flow.submitDecision({ team: TEAM, user }, opened.value.ticket.nonce, "go");
    return done.ok ? "ok" : done.error.refusal.type;
  };
  expect(await approve(ANA)).toBe("ok");
  put(SEC);
  await bench.clock.pass(10 * 60_000);
  expect({ ben: await approve(BEN), ana: await approve(ANA) }).toEqual({ ben: "ok", ana: "already-decided" });
});
