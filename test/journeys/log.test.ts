// What an operator finds in the log about one decision, and about a service that fails.

import { describe, expect, test } from "vitest";
import { ana, aWorld, ben, opsAgents, type Stage } from "../make/world.ts";

const TASK = "deploy billing-api to production";

type Line = { readonly [field: string]: unknown };

const lines = (world: Stage): Line[] => world.logged.map((line) => JSON.parse(line) as Line);

/** Returns the lines that contain the id, like `grep`. */
const about = (world: Stage, id: string): Line[] =>
  world.logged.filter((line) => line.includes(id)).map((line) => JSON.parse(line) as Line);

const approvalIn = (world: Stage): string =>
  String(lines(world).find(({ event }) => event === "opened")?.["approval"]);

describe.concurrent("the log", () => {
  test("traces one decision from the click to the confirmation, by the id of its approval", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.isRefused(ana, card, "Approve", "requester");
    await world.decide(ben, card, "Approve", "a very private reason");
    await world.saidIn(opening, "outcome:succeeded");
    const found = about(world, approvalIn(world)).filter(({ event }) => event !== undefined);
    expect(found.map(({ event }) => event)).toEqual(["refused", "opened", "decided", "sent", "settled"]);
    const [refused, opened, decided, , settled] = found;
    expect(refused).toMatchObject({ level: "info", by: ana, step: "click", refusal: "requester" });
    expect(opened).toMatchObject({ level: "info", by: ben, verdict: "approve" });
    expect(decided).toMatchObject({ by: ben, verdict: "approve", run: opened?.["run"] });
    expect(settled).toMatchObject({ by: ben, outcome: "confirmed" });
    for (const text of [TASK, "very private", "billing-api", "rolling"])
      expect(world.logged.join("\n")).not.toContain(text);
  });

  test("says why a decision does not arrive, with its attempt and the next one, once a minute", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const fault = world.service.control.fault(
      { route: "decide" },
      {
        type: "answer",
        status: 429,
        body: { error: { code: "slow_down", message: "quoted text" } },
        headers: { "retry-after": "1" },
      },
      2,
    );
    await world.decide(ben, card, "Approve", "fine");
    await world.until(() => fault.hits() === 2);
    await world.becomes(card, "approved");
    const failed = about(world, approvalIn(world)).filter(({ level }) => level === "warn");
    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatchObject({
      code: "http_429",
      approval: approvalIn(world),
      outcome: "later",
      try: 1,
      msg: "effect failed",
    });
    expect(failed[0]?.["nextTryMs"]).toBeGreaterThan(0);
    expect(failed[0]).toHaveProperty("run");
    expect(world.logged.join("\n")).not.toContain("quoted text");
  });

  test("says why a recorded decision is not even attempted: the key is refused", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    world.service.control.rotateKey();
    await world.decide(ben, card, "Approve", "fine");
    await world.until(() =>
      lines(world).some(({ approval, code }) => approval !== undefined && code === "http_401"),
    );
    expect(lines(world).filter(({ effect, code }) => effect === "poll" && code === "http_401")).toHaveLength(
      1,
    );
  });

  test("contains Slack's error code for a message that cannot be posted", async (context) => {
    const world = await aWorld(context, { troubled: true });
    world.slack.faults.next("chat.postMessage", { error: "token_revoked" }, 1);
    await world.command(ana, opsAgents, `run ${TASK}`);
    await world.until(() => lines(world).some(({ code }) => code === "token_revoked"));
    const failed = lines(world).filter(({ code }) => code === "token_revoked");
    expect(failed[0]).toMatchObject({ level: "warn", effect: "post opening", outcome: "later", try: 1 });
  });
});
