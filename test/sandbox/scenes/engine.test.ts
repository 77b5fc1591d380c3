import { expect, test } from "vitest";
import {
  createScenes,
  type Played,
  type SceneParts,
  type Scenes,
  type Scene,
} from "#sandbox/scenes/engine.ts";
import type { Stage } from "#sandbox/scenes/stage.ts";

/** The stories of these tests use only the captions of the stage. */
type Told = Pick<Stage, "say">;

const story = (name: string, play: (stage: Told) => Promise<string>): Scene => ({
  name,
  title: name,
  what: `plays ${name}`,
  lesson: `shows ${name}`,
  play,
});

type Asked = Partial<Pick<SceneParts, "paceMs"> & Pick<Played, "prepare" | "restore">>;

function engine(scenes: readonly Scene[], { prepare, restore, ...parts }: Asked = {}): Scenes {
  const stageFor: SceneParts["stageFor"] = (_signal, say): Played => ({
    stage: { say } as Stage,
    prepare: prepare ?? (() => Promise.resolve("")),
    restore: restore ?? (() => Promise.resolve()),
  });
  return createScenes({ scenes, now: () => 7, paceMs: () => 0, stageFor, ...parts });
}

/** Resolves to how the play ended. */
function ended(scenes: Scenes): Promise<[ended: string, captions: string[]]> {
  const { promise, resolve } = Promise.withResolvers<[string, string[]]>();
  const look = (): void => {
    const { playing } = scenes.state();
    if (playing !== null && playing.ended !== null)
      resolve([playing.ended, playing.captions.map(({ text }) => text)]);
  };
  const stop = scenes.onChange(look);
  look();
  return promise.finally(stop);
}

const short = story("short", async (stage) => {
  await stage.say("one");
  return "two";
});

/** Repeats its caption until it is stopped. */
const endless = story("endless", async (stage) => {
  for (;;) await stage.say("again");
});

test("a scene shows its captions in turn, and ends with its summary", async () => {
  const scenes = engine([short]);
  expect(scenes.state()).toEqual({
    scenes: [{ name: "short", title: "short", what: "plays short", lesson: "shows short", dare: null }],
    done: new Set(),
    playing: null,
  });
  scenes.play("short");
  expect(scenes.state().playing).toMatchObject({ name: "short", ended: null });
  expect(await ended(scenes)).toEqual(["done", ["one", "two"]]);
  expect([...scenes.state().done]).toEqual(["short"]);
  expect(scenes.state().playing?.captions[0]).toEqual({ at: 7, text: "one", eyes: null, spot: null });
});

test("a scene fails if an expectation does not hold, and says which", async () => {
  const scenes = engine([story("wrong", () => Promise.reject(new Error("there were two cards.")))]);
  scenes.play("wrong");
  expect(await ended(scenes)).toEqual(["failed", ["This scene failed: there were two cards."]]);
});

test("the world is prepared before the scene and restored after it, however it ends", async () => {
  const order: string[] = [];
  const prepare = () => Promise.resolve(order.push("prepared").toString());
  const restore = () => Promise.resolve(void order.push("restored"));
  const broken = story("broken", () => {
    order.push("played");
    return Promise.reject(new Error("x"));
  });
  const scenes = engine([broken, endless], { prepare, restore, paceMs: () => 60_000 });
  scenes.play("broken");
  await ended(scenes);
  expect(order).toEqual(["prepared", "played", "restored"]);
  scenes.play("endless");
  await scenes.stop();
  expect(order).toHaveLength(5);
});

test("the first caption, and no other, says what the preparation changed for others", async () => {
  const two = story("two", async (stage) => {
    await stage.say("one");
    await stage.say("two");
    return "three";
  });
  const scenes = engine([two], { prepare: () => Promise.resolve("Strict is off.") });
  scenes.play("two");
  expect(await ended(scenes)).toEqual(["done", ["Strict is off. one", "two", "three"]]);
});

test("a world that cannot be prepared or restored is a failure, says why, and is restored all the same", async () => {
  let restored = 0;
  const fail = () => Promise.reject(new Error("The bot does not start."));
  const restore = () => Promise.resolve(void (restored += 1));
  for (const parts of [{ prepare: fail, restore }, { restore: fail }]) {
    const scenes = engine([short], parts);
    scenes.play("short");
    const [how, captions] = await ended(scenes);
    expect(how).toBe("failed");
    expect(captions.at(-1)).toContain("The bot does not start.");
  }
  expect(restored).toBe(1);
});

test("a scene can be stopped in the middle of a caption, and stop resolves when it has ended", async () => {
  const scenes = engine([endless], { paceMs: () => 60_000 });
  scenes.play("endless");
  await scenes.stop();
  expect(scenes.state().playing).toMatchObject({ ended: "stopped" });
  expect(scenes.state().playing?.captions.at(-1)?.text).toContain("Stopped");
});

test("one scene plays at a time, and the next can start when it has ended", async () => {
  const scenes = engine([short, endless], { paceMs: (words) => (words === "again" ? 60_000 : 0) });
  scenes.play("endless");
  expect(() => scenes.play("short")).toThrow('"endless" is playing');
  await scenes.stop();
  scenes.play("short");
  expect(await ended(scenes)).toEqual(["done", ["one", "two"]]);
});

test("an unknown scene is refused with a list of the scenes, and stopping without a scene does nothing", async () => {
  const scenes = engine([short]);
  expect(() => scenes.play("shrot")).toThrow('There is no scene "shrot". Known scenes: short.');
  await scenes.stop();
  expect(scenes.state().playing).toBeNull();
});
