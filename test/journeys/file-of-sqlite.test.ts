// The SQLite file is removed or locked while the bot runs.

import { renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { modalSays } from "../make/journey-sight.ts";
import { becomes, ready } from "../make/own-pages.ts";
import { ana, aWorld, ben, opsAgents } from "../make/world.ts";

const TASK = "deploy billing-api to production";

describe.concurrent("the SQLite file", () => {
  test("if removed, fails /readyz, and a decision is neither acknowledged nor sent", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const { id } = await world.openForm(ben, card, "Approve");
    const path = world.database.place;
    renameSync(path, `${path}.gone`);
    const { status, checks } = await ready(world);
    expect([status, checks["store"]]).toEqual([
      503,
      expect.stringContaining("its file was deleted or replaced"),
    ]);
    await world.fillModal(ben, "fine");
    const form = world.slack.workspace.viewById(id);
    expect(form !== undefined && modalSays(form, "error:decision-not-recorded")).toBe(true);
    expect(world.decisionPosts()).toEqual([]);
    renameSync(`${path}.gone`, path);
    await world.fillModal(ben, "fine");
    await world.until(() => world.decisionPosts().length === 1);
  });

  test("if locked against writes, makes the bot not ready, although it can be read", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const path = world.database.place;
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    expect(await becomes(world, "store", /another process is using it/)).toMatchObject({ status: 503 });
    other.exec("rollback");
    other.close();
    await becomes(world, "store", /^ok$/);
    expect(
      await becomes(world, "store_calls", /failed within the last minute, the last with store_busy/),
    ).toMatchObject({
      status: 200,
      says: "degraded",
    });
  });
});
