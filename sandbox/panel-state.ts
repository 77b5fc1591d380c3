// What the page's Service and Scenes panels show.

import type { BotKeeper } from "./bot-keeper.ts";
import type { ServiceContext } from "./control/service-context.ts";
import { serverState } from "./control/service-reads.ts";
import type { PanelState, ServiceState } from "./page/parts.ts";
import type { Scenes } from "./scenes/engine.ts";

export type PanelStateParts = {
  readonly service: ServiceContext;
  readonly bot: BotKeeper;
  readonly scenes: Scenes;
  readonly onChange: (listener: () => void) => () => void;
};

export function createPanelState({ service, bot, scenes, onChange }: PanelStateParts): PanelState {
  return {
    bot: bot.state,
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
