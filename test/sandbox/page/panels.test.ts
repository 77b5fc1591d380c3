import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { begin, end, newRun } from "#sandbox/service/service-run.ts";
import type { Run } from "#sandbox/service/service-run.ts";
import { plainProfile } from "#sandbox/service/profile.ts";
import { createFakePanelState, createJudge, serveWithControl } from "./fake-panel-state.ts";
import { createStage, HOSTILE, OPS, servePage } from "./stage.ts";

let stage: ReturnType<typeof createStage>;
let fake: ReturnType<typeof createFakePanelState>;
let served: Awaited<ReturnType<typeof serveWithControl>>;

beforeEach(async () => {
  stage = createStage();
  fake = createFakePanelState();
  served = await serveWithControl({ ...stage.parts, panelState: fake.panelState });
});
afterEach(() => served.close());

const at = async (path: string): Promise<string> => (await fetch(served.url + path)).text();
const channel = `/as/U0ANA/${OPS}`;
const service = (): Promise<string> => at(`${channel}?panel=service`);
const scenes = (): Promise<string> => at(`${channel}?panel=scenes`);

const ENTITIES: Record<string, string> = { "&quot;": '"', "&amp;": "&", "&#39;": "'", "&lt;": "<" };
const plain = (markup: string): string =>
  markup.replace(/&(?:quot|amp|#39|lt);/g, (one) => ENTITIES[one] ?? one);

describe("addresses", () => {
  test("each panel has one, and the old one of the traffic still works", async () => {
    expect(await at(`${channel}?panel=traffic`)).toContain('data-has-panel="traffic"');
    expect(await at(`${channel}?traffic`)).toContain('data-has-panel="traffic"');
    expect(await service()).toContain('data-has-panel="service"');
    expect(await scenes()).toContain('data-has-panel="scenes"');
  });

  test("an unknown panel opens none", async () => {
    expect(await at(`${channel}?panel=nothing`)).not.toContain("data-has-panel");
  });

  test("a panel stays open when the place or the person changes", async () => {
    const body = await scenes();
    expect(body).toContain(`href="/as/U0BEN/${OPS}?panel=scenes"`);
    expect(body).toContain('href="/as/U0ANA/C0RELEASES?panel=scenes"');
  });

  test("without a sandbox, the page offers only the traffic", async () => {
    const alone = await servePage(stage.parts);
    const body = await (await fetch(`${alone.url}/as/U0ANA/C0RELEASES?panel=service`)).text();
    await alone.close();
    expect(body).toContain("This panel needs the full sandbox.");
    expect(body).not.toContain("panel=scenes");
    expect(body).not.toContain("watch a scene");
  });

  test("a newcomer is pointed to the scenes", async () => {
    expect(await at("/as/U0ANA/C0RELEASES")).toContain('href="/as/U0ANA/C0RELEASES?panel=scenes"');
  });
});

describe("the service panel", () => {
  test("shows the state of the service, the gateway, the key, the bot and the clock", async () => {
    expect(await service()).toContain("Answers as fast as it can");
    fake.service({
      up: false,
      gatewayUp: false,
      slowMs: 2000,
      key: "rotated",
      bot: "stopped",
      clockAheadMs: 90 * 60_000,
      faults: ["the next request for decide: HTTP 500"],
    });
    const body = await service();
    for (const words of [
      "Down: connections are refused",
      "Every answer comes 2 s late",
      "is refused with 401",
      "Restart the bot with the new key",
      "Stopped until you start it",
      "1 h 30 min ahead",
      "the next request for decide: HTTP 500",
      "Clear these",
    ]) {
      expect(body).toContain(words);
    }
  });

  test("says that the bot's clock has not arrived yet where the sandbox's clock is", async () => {
    fake.service({ clockAheadMs: 10 * 60_000, isClockMoving: true });
    expect(await service()).toContain("clock is on its way");
    fake.service({ isClockMoving: false });
    expect(await service()).not.toContain("on its way");
  });

  test("shows a gateway that is slow or calls itself unhealthy, and Slack's faults, limits and scopes", async () => {
    const healthy = await service();
    expect(healthy).toContain("Works as usual");
    expect(healthy).not.toMatch(/gateway\.(slow|status)|slack\.(clearFaults|rateLimits)/);
    fake.service({
      gatewaySlowMs: 1500,
      gatewayStatus: { status: "degraded", message: "Billing is late." },
      slack: {
        faults: ["chat.update, 2 calls: HTTP 503"],
        rateLimits: false,
        missingScopes: ["files:write", "users:read"],
      },
    });
    const body = plain(await service());
    for (const words of [
      "Every answer comes 1.5 s late",
      'Says that it is "degraded": Billing is late.',
      'data-args="{"status":"ok"}"',
      "chat.update, 2 calls: HTTP 503",
      "Rate limits are off",
      "The app lacks files:write, users:read.",
      "slack.clearFaults",
      'data-args="{"on":true}"',
    ]) {
      expect(body).toContain(words);
    }
  });

  test("does not offer what cannot be done now", async () => {
    expect(await service()).not.toContain("Clear these");
    expect(await service()).not.toContain("bot.start");
    fake.service({ bot: "stopped", up: false });
    expect(await service()).not.toContain("bot.kill");
    expect(await service()).not.toContain('data-control="service.down"');
  });

  test("describes a run's script, its requests and how it ended", async () => {
    const body = plain(await service());
    expect(body).toMatch(/Script of .fail if denied./);
    expect(body).toContain('asks for approval: "Deploy billing-api to production"');
    expect(body).toContain("Not in the freeze.");
    expect(body).toContain("It was denied.");
  });

  test("offers only to hide a run that has ended, and to show it again", async () => {
    const over = newRun("run_over", "just say hi", 1);
    const begun = begin(over);
    const ended = begun.ok ? end(begun.run, { type: "succeeded", output: "hi" }, 2) : begun;
    if (!ended.ok) throw new Error(ended.because);
    fake.service({ runs: [ended.run] });
    const body = await service();
    expect(body).toContain("service.vanish");
    expect(body).not.toContain("service.finish");
    fake.service({ vanished: ["run_over"] });
    expect(await service()).toContain("service.reappear");
    expect(await service()).not.toContain("service.vanish");
  });

  test("shows hostile text as text, and a long text in full when it is opened", async () => {
    const task = `${HOSTILE} ${"x".repeat(1000)} the end`;
    fake.service({ runs: [newRun("run_bad", task, 1)] });
    const body = await service();
    expect(body).not.toContain("<script>alert");
    expect(body).toContain(`All ${task.length} characters`);
    expect(body).toContain("the end");
  });

  test("shows the newest of many runs and counts the others", async () => {
    const runs: Run[] = Array.from({ length: 70 }, (_, i) => newRun(`run_${i}`, "x", 1));
    fake.service({ runs });
    const body = await service();
    expect(body).toContain("20 older runs are not shown.");
    expect(body).not.toContain("run_50<");
  });

  test("shows the default of a changed setting, and all can be reset", async () => {
    expect(await service()).toContain("all defaults");
    fake.service({ profile: { ...plainProfile, denyWord: "reject", staleReads: 2 } });
    const body = plain(await service());
    expect(body).toContain("2 changed");
    expect(body).toContain("default: deny");
    expect(body).toContain('data-args="{"denyWord":"deny","staleReads":0}"');
  });
});

test("every button of the panels requests an existing act with valid arguments", async () => {
  const judge = await createJudge(fake.panelState);
  const faults: (string | null)[] = [];
  const look = async (): Promise<void> => {
    for (const body of [await service(), await scenes()]) {
      const found = [...body.matchAll(/type="button"[^>]*?data-control="([^"]+)"\s+data-args="([^"]*)"/g)];
      expect(found.length).toBeGreaterThan(0);
      for (const [, act = "", args = ""] of found) {
        faults.push(judge.fault({ act, args: JSON.parse(plain(args)) as Record<string, unknown> }));
      }
    }
  };
  await look();
  fake.service({ up: false, gatewayUp: false, key: "rotated", bot: "stopped", vanished: ["run_done"] });
  fake.service({ gatewaySlowMs: 1, gatewayStatus: { status: "degraded", message: "" } });
  fake.service({ slack: { faults: ["x"], rateLimits: false, missingScopes: [] } });
  fake.service({
    faults: ["x", "gateway, y"],
    profile: { ...plainProfile, idStyle: "odd", runningState: null },
  });
  fake.play({ name: "four-eyes", captions: [], ended: null });
  await look();
  await judge.stop();
  expect(faults.filter((one) => one !== null)).toEqual([]);
});

describe("scenes", () => {
  const first = { at: 1_000, text: "Ana asks.", eyes: null, spot: null };
  const second = { at: 3_500, text: "Ben decides.", eyes: "U0BEN", spot: null };

  test("are listed with what they show", async () => {
    const body = await scenes();
    expect(body).toContain("Four eyes");
    expect(body).toContain("Nothing is lost, and nothing is sent twice.");
    expect(body).not.toContain("data-caption=");
  });

  test("show their captions with times while they play, and the newest caption on every page", async () => {
    fake.play({ name: "four-eyes", captions: [first, second], ended: null });
    const body = await scenes();
    expect(body).toContain("+2.5 s");
    expect(body).toContain("Playing…");
    const elsewhere = await at("/as/U0BEN/home");
    expect(elsewhere).toContain("<p data-words>Ben decides.</p>");
    expect(elsewhere).toContain("scene.stop");
  });

  test("lead people to the window that a caption is about", async () => {
    fake.play({ name: "four-eyes", captions: [first, second], ended: null });
    expect(await scenes()).toContain(
      `<p data-words>Ben decides. <a href="/as/U0BEN/C0OPSAGENTS?panel=scenes">See it as Ben Okafor</a></p>`,
    );
    fake.play({ name: "four-eyes", captions: [first], ended: null });
    expect(await scenes()).not.toContain("See it as");
  });

  test("cannot be started while one plays", async () => {
    fake.play({ name: "four-eyes", captions: [], ended: null });
    const play = (await scenes()).split("data-scene").find((one) => one.includes("The service goes down"));
    expect(play).toContain(" disabled");
  });

  test.each([
    ["done", "Done"],
    ["failed", "Failed"],
    ["stopped", "Stopped"],
  ] as const)("show that one is %s, and it can be played again", async (ended, words) => {
    fake.play({ name: "four-eyes", captions: [first], ended });
    const body = await scenes();
    expect(body).toContain(`<p data-state="${ended}">${words}</p>`);
    expect(body).toContain("Play again");
    expect(body).toContain(`<b>${words}</b>`);
  });
});
