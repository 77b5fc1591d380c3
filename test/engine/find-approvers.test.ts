// The count of the people who can approve a request.

import { expect, test } from "vitest";
import { createBench } from "../make/bot.ts";
import { REQUESTER } from "../make/run.ts";

test("in a private channel, inviting people helps if the rule lets anyone approve", async () => {
  const bench = await createBench();
  bench.people.isPublic = () => Promise.resolve(false);
  bench.people.membersOf = () => Promise.resolve([REQUESTER]);
  const { id } = await bench.withCard();
  await bench.clock.pass(30_000);
  expect((await bench.run(id)).approvals[0]?.approverCount).toMatchObject({ able: 0, grows: true });
  expect(bench.chat.told).toMatchObject([
    { to: REQUESTER, says: { type: "nobody-can-approve", grows: true } },
  ]);
});
