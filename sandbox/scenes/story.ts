// A story that plays by itself on the real bot, with captions for whoever watches.

import type { Stage } from "./stage.ts";

export type Story = {
  /** As the act `scene.play` takes it. */
  readonly name: string;
  readonly title: string;
  readonly what: string;
  /** One or two sentences on what it shows, read after what was seen in the end. */
  readonly lesson: string;
  /** What a newcomer is dared to try, when the story shows just that. */
  readonly dare?: string;
  /** Resolves to what was seen in the end, which is the last caption. Rejects when anything it claims is not so. */
  readonly play: (stage: Stage) => Promise<string>;
};
