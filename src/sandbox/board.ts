// What the page's Service and Scenes panels show.

import type { BotKeeper } from "./bot-keeper.ts";
import type { ServiceGround } from "./control/ground.ts";
import { serverState } from "./control/service-reads.ts";
import type { Board, ServiceState } from "./page/parts.ts";
import type { Scenes } from "./scenes/engine.ts";

export type BoardParts = {
  readonly service: ServiceGround;
  readonly bot: BotKeeper;
  readonly scenes: Scenes;
  readonly onChange: (listener: () => void) => () => void;
};

export function createBoard({ service, bot, scenes, onChange }: BoardParts): Board {
  return {
    service: (): ServiceState => ({
      ...serverState(service),
      key: bot.given()["AGENT_API_KEY"] === service.service.apiKey ? "right" : "rotated",
      bot: bot.state(),
      runs: service.service.runs.all().toReversed(),
    }),
    scenes: scenes.state,
    onChange,
  };
}
