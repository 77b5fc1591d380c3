// A standby that takes over may lack the entry of a freeze.

import { expect, test } from "vitest";
import { UserId } from "#src/domain/ids.ts";
import { ADMIN } from "../make/bot.ts";
import { CHANNEL, TEAM } from "../make/run.ts";
import { withFile } from "../make/spoilt-database.ts";

const SECOND = UserId("U0SECONDADMIN");
const asker = (user: UserId) => ({ team: TEAM, user, channel: CHANNEL });

async function lostFreeze() {
  const { bench, spoil } = await withFile();
  bench.policy = { ...bench.policy, freezers: { users: [SECOND], groups: [], channels: [] } };
  await bench.flow.freeze.freeze(asker(ADMIN), CHANNEL, "it loops");
  spoil("delete from audit where what = 'frozen'");
  return bench;
}

test("a channel whose freeze is lost can be frozen again", async () => {
  const { flow, store } = await lostFreeze();
  expect(await flow.freeze.freeze(asker(SECOND), CHANNEL, "again")).toMatchObject({ ok: true });
  expect(await flow.freeze.look(asker(ADMIN))).toMatchObject({ value: [{ why: "again", by: SECOND }] });
  expect(await flow.freeze.freeze(asker(ADMIN), CHANNEL, "x")).toMatchObject({ ok: false });
  expect(await store.auditAfter(0, ["frozen"], 9)).toMatchObject([{ entry: { reason: "again" } }]);
  expect(await flow.freeze.lift(asker(ADMIN), null, "over")).toMatchObject({ value: { still: null } });
  expect(await flow.freeze.look(asker(ADMIN))).toMatchObject({ value: [] });
});

test("a second person lifts a lost freeze, and the entry names no entry that may be another one", async () => {
  const { flow, store } = await lostFreeze();
  expect(await flow.freeze.lift(asker(ADMIN), null, "")).toMatchObject({ error: { type: "own-freeze" } });
  expect(await flow.freeze.lift(asker(SECOND), null, "over")).toMatchObject({ value: { still: null } });
  expect(await flow.freeze.look(asker(ADMIN))).toMatchObject({ value: [] });
  const [end] = await store.auditAfter(0, ["freeze-lifted"], 9);
  expect(end?.entry).toMatchObject({ channel: CHANNEL, by: { user: SECOND } });
  expect(end?.entry.refers).toBeUndefined();
});
