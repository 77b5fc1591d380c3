// The acts and reads of the scenes in the control API.

import { z } from "zod";
import { type ControlAct, controlAct, type ControlRead, listRead } from "../control/control-api.ts";
import type { Scenes } from "./engine.ts";

export function sceneActs(scenes: Scenes): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "scene.play",
        what: "starts a scene in #ops-agents, and answers its id; only one plays at a time",
        args: z.strictObject({ name: z.enum(scenes.state().scenes.map(({ name }) => name)) }),
      },
      ({ name }) => ({ id: scenes.play(name) }),
    ),
    controlAct(
      {
        name: "scene.stop",
        what: "stops the scene that is playing; answers when the sandbox is reset",
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
      .describe("false: only a scene that has ended; true: only a scene that is playing"),
  });
  const named = {
    path: "/control/scenes",
    what: "the scene that is playing or played last, with its captions",
    query,
  };
  return [
    listRead(named, "scenes", ({ playing }) => {
      const last = scenes.state().playing;
      return last === null || (playing ?? last.ended === null) !== (last.ended === null) ? [] : [last];
    }),
  ];
}
