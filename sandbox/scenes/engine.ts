// Plays one story at a time, and leaves the world in order whatever becomes of it.

import type { Caption, SceneState } from "../page/base/parts.ts";
import { createChanges } from "../base/changes.ts";
import type { Stage } from "./stage.ts";
import type { Story } from "./story.ts";
import { pause, type Say } from "./watch.ts";

export type Scenes = {
  readonly state: () => SceneState;
  /** Throws, in words for people, when there is no such story or one is playing. */
  readonly play: (name: string) => void;
  /** Resolves when the story that plays has ended and the world is in order. */
  readonly stop: () => Promise<void>;
  readonly onChange: (listener: () => void) => () => void;
};

/** What one play of a story happens on. `tidy` puts the world in order, before and after. */
export type Played = { readonly stage: Stage; readonly tidy: () => Promise<void> };

export type SceneParts = {
  readonly stories: readonly Story[];
  readonly now: () => number;
  /** How long a caption stands before the story goes on (ms). */
  readonly paceMs: (words: string) => number;
  readonly stageFor: (signal: AbortSignal, say: Say) => Played;
};

type Playing = NonNullable<SceneState["playing"]>;

export function createScenes(parts: SceneParts): Scenes {
  const changes = createChanges();
  const scenes = parts.stories.map(({ play: _play, dare = null, ...told }) => ({ ...told, dare }));
  const done = new Set<string>();
  let playing: Playing | null = null;
  let current: { readonly stop: AbortController; readonly over: Promise<void> } | null = null;
  const tell = (next: Playing): void => {
    playing = next;
    if (next.ended === "done") done.add(next.name);
    changes.changed();
  };
  return {
    state: () => ({ scenes, playing, done }),
    play: (name) => {
      const story = parts.stories.find((one) => one.name === name);
      if (story === undefined)
        throw new Error(`There is no scene «${name}». Known: ${scenes.map((one) => one.name).join(", ")}.`);
      if (current !== null)
        throw new Error(`«${playing?.name ?? "a scene"}» is playing. Wait for its end, or stop it.`);
      const stop = new AbortController();
      const over = playOnce(parts, story, stop.signal, (next) => {
        if (next.ended !== null) current = null;
        tell(next);
      });
      current = { stop, over };
    },
    stop: async () => {
      current?.stop.abort();
      await current?.over;
    },
    onChange: changes.subscribe,
  };
}

/** Tells how the scene goes, caption by caption; the last one comes when the world is in order again. */
async function playOnce(
  parts: SceneParts,
  story: Story,
  signal: AbortSignal,
  tell: (playing: Playing) => void,
): Promise<void> {
  let told: Playing = { name: story.name, captions: [], ended: null };
  const caption = (said: Omit<Caption, "at">, ended: Playing["ended"] = null): void => {
    told = { ...told, ended, captions: [...told.captions, { at: parts.now(), ...said }] };
    tell(told);
  };
  const say: Say = async (text, eyes = null, spot = null) => {
    signal.throwIfAborted();
    caption({ text, eyes, spot });
    await pause(parts.paceMs(text), signal);
  };
  tell(told);
  const { ended, words } = await perform(story, parts.stageFor(signal, say), signal);
  caption({ text: words, eyes: null, spot: null }, ended);
}

type End = { readonly ended: "done" | "failed" | "stopped"; readonly words: string };

/** Never rejects. */
async function perform(story: Story, { stage, tidy }: Played, signal: AbortSignal): Promise<End> {
  const end = await played(story, { stage, tidy }, signal);
  try {
    await tidy();
  } catch (error) {
    return failed(`the sandbox could not be put in order. ${wordsOf(error)}`);
  }
  return end;
}

async function played(story: Story, { stage, tidy }: Played, signal: AbortSignal): Promise<End> {
  try {
    await tidy();
    return { ended: "done", words: await story.play(stage) };
  } catch (error) {
    if (signal.aborted) return { ended: "stopped", words: "Stopped. The sandbox is in order again." };
    return failed(wordsOf(error));
  }
}

const failed = (why: string): End => ({ ended: "failed", words: `This scene failed: ${why}` });
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
