// The control API of the scenes.

import { z } from "zod";
import { type ControlAct, controlAct, type ControlRead, listRead } from "../control/control-api.ts";
import type { Scenes } from "./engine.ts";

export function sceneActs(scenes: Scenes): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "scene.play",
        what: "begins a scene in #ops-agents; one plays at a time",
        args: z.strictObject({ name: z.enum(scenes.state().scenes.map(({ name }) => name)) }),
      },
      ({ name }) => scenes.play(name),
    ),
    controlAct(
      {
        name: "scene.stop",
        what: "ends the scene that plays; answers when the sandbox is in order again",
        args: z.strictObject({}),
      },
      () => scenes.stop(),
    ),
  ];
}

export function sceneReads(scenes: Scenes): readonly ControlRead[] {
  const query = z.strictObject({
    playing: z
      .stringbool()
      .exactOptional()
      .describe("false: only one that has ended; true: only one that plays"),
  });
  const named = {
    path: "/control/scenes",
    what: "the scene that plays or played last, with its captions",
    query,
  };
  return [
    listRead(named, "scenes", ({ playing }) => {
      const last = scenes.state().playing;
      return last === null || (playing ?? last.ended === null) !== (last.ended === null) ? [] : [last];
    }),
  ];
}
