// The world as every scene finds and leaves it: nothing stands against anybody, service and gateway are up, and the bot runs with the right key.

import type { Stage } from "./stage.ts";
import type { StageParts } from "./watch.ts";

type Tidied = Pick<StageParts, "slack" | "service" | "bot"> & { readonly stage: Pick<Stage, "undo"> };

export function createTidy({ slack, service, bot, stage }: Tidied): () => Promise<void> {
  return async () => {
    slack.faults.clear();
    for (const hand of [service.serviceHand, service.gatewayHand]) {
      hand.clearFaults();
      hand.slow(0);
      await hand.up();
    }
    if (bot.given()["AGENT_API_KEY"] === service.service.apiKey) await bot.start();
    else await bot.restart();
    await stage.undo();
  };
}
