// Plays one scene at a time, prepares the world before it and restores the world after it.

import { randomUUID } from "node:crypto";
import { createChanges } from "../base/changes.ts";
import type { Caption, SceneState } from "../page/base/parts.ts";
import type { Stage } from "./stage.ts";
import { pause, type Say } from "./watch.ts";

export type Scenes = {
  readonly state: () => SceneState;
  /** Returns the id of this play. Throws an error with a message for people if the scene is unknown or another one is playing. */
  readonly play: (name: string) => string;
  /** Resolves when the scene has ended and the world is restored. */
  readonly stop: () => Promise<void>;
  readonly onChange: (listener: () => void) => () => void;
};

/** A scene is a scripted story that plays on the real bot, with captions. */
export type Scene = {
  /** The name that the act `scene.play` takes. */
  readonly name: string;
  readonly title: string;
  readonly what: string;
  /** One or two sentences about what the scene shows, displayed after the last caption. */
  readonly lesson: string;
  /** What a new user is invited to try, if the scene shows exactly that. */
  readonly dare?: string;
  /** Resolves to the last caption, which says what was observed. Rejects if anything that the scene claims is not true. */
  readonly play: (stage: Stage) => Promise<string>;
};

/** What one scene plays on. */
export type Played = {
  readonly stage: Stage;
  /** Called before the scene. Resolves to what its first caption must say about the world. Empty if there is nothing to say. */
  readonly prepare: () => Promise<string>;
  /** Called after the scene, however it ended. */
  readonly restore: () => Promise<void>;
};

export type SceneParts = {
  readonly scenes: readonly Scene[];
  readonly now: () => number;
  /** How long a caption is shown before the scene continues (ms). */
  readonly paceMs: (words: string) => number;
  readonly stageFor: (signal: AbortSignal, say: Say) => Played;
};

type Playing = NonNullable<SceneState["playing"]>;

export function createScenes(parts: SceneParts): Scenes {
  const changes = createChanges();
  const scenes = parts.scenes.map(({ play: _play, dare = null, ...shown }) => ({ ...shown, dare }));
  const done = new Set<string>();
  let playing: Playing | null = null;
  let current: { readonly stop: AbortController; readonly over: Promise<void> } | null = null;
  const update = (next: Playing): void => {
    playing = next;
    if (next.ended === "done") done.add(next.name);
    changes.changed();
  };
  return {
    state: () => ({ scenes, playing, done }),
    play: (name) => {
      const scene = parts.scenes.find((one) => one.name === name);
      if (scene === undefined)
        throw new Error(
          `There is no scene "${name}". Known scenes: ${scenes.map((one) => one.name).join(", ")}.`,
        );
      if (current !== null)
        throw new Error(`"${playing?.name ?? "a scene"}" is playing. Wait until it ends, or stop it.`);
      const stop = new AbortController();
      const id = randomUUID();
      const begun: Playing = { id, name: scene.name, captions: [], ended: null };
      const over = playOnce(parts, { scene, begun }, stop.signal, (next) => {
        if (next.ended !== null) current = null;
        update(next);
      });
      current = { stop, over };
      return id;
    },
    stop: async () => {
      current?.stop.abort();
      await current?.over;
    },
    onChange: changes.subscribe,
  };
}

/** Reports each caption. The last caption is reported after the world is restored. */
async function playOnce(
  parts: SceneParts,
  { scene, begun }: { readonly scene: Scene; readonly begun: Playing },
  signal: AbortSignal,
  report: (playing: Playing) => void,
): Promise<void> {
  let playing = begun;
  const caption = (said: Omit<Caption, "at">, ended: Playing["ended"] = null): void => {
    playing = { ...playing, ended, captions: [...playing.captions, { at: parts.now(), ...said }] };
    report(playing);
  };
  let note = "";
  const say: Say = async (words, eyes = null, spot = null) => {
    signal.throwIfAborted();
    const text = note === "" ? words : `${note} ${words}`;
    note = "";
    caption({ text, eyes, spot });
    await pause(parts.paceMs(text), signal);
  };
  report(playing);
  const played = parts.stageFor(signal, say);
  const prepare = async (): Promise<string> => (note = await played.prepare());
  const { ended, words } = await perform(scene, { ...played, prepare }, signal);
  caption({ text: words, eyes: null, spot: null }, ended);
}

type End = { readonly ended: "done" | "failed" | "stopped"; readonly words: string };

/** Never rejects. */
async function perform(scene: Scene, played: Played, signal: AbortSignal): Promise<End> {
  const end = await play(scene, played, signal);
  try {
    await played.restore();
  } catch (error) {
    return failed(`the sandbox could not be reset. ${wordsOf(error)}`);
  }
  return end;
}

async function play(scene: Scene, { stage, prepare }: Played, signal: AbortSignal): Promise<End> {
  try {
    await prepare();
    return { ended: "done", words: await scene.play(stage) };
  } catch (error) {
    if (signal.aborted) return { ended: "stopped", words: "Stopped. The sandbox is reset." };
    return failed(wordsOf(error));
  }
}

const failed = (why: string): End => ({ ended: "failed", words: `This scene failed: ${why}` });
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
