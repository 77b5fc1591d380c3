import { afterAll, beforeAll, expect, test } from "vitest";
import { says } from "#sandbox/scenes/says.ts";
import { allScenes } from "#sandbox/scenes/all-scenes.ts";
import { type Controlled, QUICK, startControlled } from "../control/controlled.ts";
import { PATIENT } from "../../make/patient.ts";

let sandbox: Controlled;

beforeAll(async () => {
  sandbox = await startControlled({ bot: QUICK, slack: { timing: PATIENT } });
  await sandbox.world.bot?.ready();
});
afterAll(() => sandbox.stop());

const RUNNING = {
  state: "running",
  fault: null,
  policy: { chosen: "built-in", inForce: { name: "built-in" }, fault: null },
};

type Play = { readonly name: string; readonly ended: string; readonly captions: { readonly text: string }[] };

/** Plays a scene like a script does: starts it, and waits for its end. */
async function play(name: string): Promise<Play> {
  await sandbox.act("scene.play", { name });
  const [played] = await sandbox.read("/control/scenes", { playing: "false", wait: "60" });
  return played as Play;
}

const last = ({ captions }: Play): string => captions.at(-1)?.text ?? "";

// The storm takes two minutes, as with Slack, so it has its own file.
test.for(allScenes.filter(({ name }) => name !== "storm").map(({ name }) => name))(
  '"%s" succeeds with the real bot, and leaves the sandbox in order',
  async (name) => {
    const played = await play(name);
    expect(last(played)).not.toContain("failed");
    expect(played).toMatchObject({ name, ended: "done" });
    expect(played.captions.length).toBeGreaterThan(3);

    expect((await sandbox.send("/control/service")).body).toMatchObject({ up: true, slowMs: 0, faults: [] });
    expect((await sandbox.send("/control/bot")).body).toMatchObject(RUNNING);
    expect(await sandbox.read("/control/views")).toEqual([]);
    for (const { ending } of sandbox.world.service.runs.all()) expect(ending).not.toBeNull();
  },
);

test("a scene first resets the servers and Slack, and starts a bot that is down", async () => {
  await sandbox.act("service.down");
  await sandbox.act("service.slow", { ms: 60_000 });
  await sandbox.act("service.rotateKey");
  await sandbox.act("bot.stop");
  await sandbox.act("slack.fault", { method: "chat.postMessage", fault: { http: 500 }, times: 9 });
  await sandbox.act("slack.rateLimits", { on: false });
  await sandbox.act("gateway.status", { status: "degraded" });
  await sandbox.act("gateway.slow", { ms: 60_000 });
  expect(await play("race")).toMatchObject({ ended: "done" });
  expect((await sandbox.send("/control/world")).body).toMatchObject({ faults: [], rateLimits: true });
  const gateway = { gatewayUp: true, gatewaySlowMs: 0, gatewayStatus: { status: "ok" } };
  expect((await sandbox.send("/control/service")).body).toMatchObject(gateway);
});

test("a card that claims too much, even briefly, fails the scene in which the service dies", async () => {
  const { workspace } = sandbox.world.slack;
  const stop = workspace.onChange(({ message }) => {
    const { now: card } = message ?? {};
    const isChecked = card?.broadcast === true && says("state:checking", card);
    if (card === undefined || !isChecked) return;
    stop();
    const { blocks } = card;
    const lie = {
      type: "section",
      block_id: "state:approved:v1",
      text: { type: "plain_text", text: "It is approved." },
    };
    workspace.edit(card, { blocks: [lie] });
    workspace.edit(card, { blocks });
  });
  const played = await play("service-dies");
  expect(played).toMatchObject({ ended: "failed" });
  expect(last(played)).toContain('never claims more than is known, but it said "approved"');
});

test("an open page does not disturb the sandbox while the bot stops and starts", async () => {
  const live = await fetch(new URL("page/live", sandbox.world.slack.url));
  await sandbox.act("bot.stop");
  await sandbox.act("bot.start");
  expect((await sandbox.send("/control/bot")).body).toMatchObject(RUNNING);
  await live.body?.cancel();
});

test("a scene does not start while another plays, and an unknown one never does", async () => {
  await sandbox.act("scene.play", { name: "approve" });
  expect(await sandbox.refusal("scene.play", { name: "deny" })).toContain('"approve" is playing');
  await sandbox.act("scene.stop");
  expect(await sandbox.refusal("scene.play", { name: "comedy" })).toMatch(/^400 .*"storm"/);
});

test("a scene that is stopped midway leaves no run, window or fault behind", async () => {
  await sandbox.act("scene.play", { name: "storm" });
  await sandbox.read("/control/runs", { task: "50 tenants", phase: "awaiting_approval", wait: "20" });
  await sandbox.act("scene.stop");
  const [stopped] = await sandbox.read("/control/scenes", { playing: "false" });
  expect(stopped).toMatchObject({ name: "storm", ended: "stopped" });
  expect(await sandbox.read("/control/runs", { phase: "awaiting_approval" })).toEqual([]);
  expect(await sandbox.read("/control/runs", { task: "50 tenants", phase: "canceled" })).toHaveLength(1);
  expect(await sandbox.read("/control/views")).toEqual([]);
});

test("a scene fails if someone cannot do what they should, and says why", async () => {
  await sandbox.act("slack.deactivate", { person: "cat" });
  const played = await play("deny");
  expect(played).toMatchObject({ ended: "failed" });
  expect(last(played)).toBe("This scene failed: This account is deactivated.");
});
