// What the page's Service and Scenes panels show.

import type { Bot } from "../bot/replicas.ts";
import type { PolicySwitch } from "../bot/policy-switch.ts";
import { shownReplicas } from "../control/process-acts.ts";
import type { ServiceContext } from "../control/servers.ts";
import { serverState } from "../control/service-reads.ts";
import type { PanelState } from "../page/base/parts.ts";
import type { Scenes } from "../scenes/engine.ts";
import { createServicePanel } from "../service-panel/service-panel.ts";
import type { ServiceState, ShownSlack } from "../service-panel/shown-state.ts";

export type PanelStateParts = {
  readonly service: ServiceContext;
  readonly slack: () => ShownSlack;
  readonly bot: Bot;
  readonly policy: Pick<PolicySwitch, "state">;
  readonly scenes: Scenes;
  readonly onChange: (listener: () => void) => () => void;
};

type WithService = PanelState & { readonly service: () => ServiceState };

export function createPanelState({
  service: context,
  slack,
  bot,
  policy,
  scenes,
  onChange,
}: PanelStateParts): WithService {
  const service = (): ServiceState => ({
    ...serverState(context),
    slack: slack(),
    key: bot.replicas.every(({ given }) => given()["AGENT_API_KEY"] === context.service.apiKey)
      ? "right"
      : "rotated",
    bot: bot.state(),
    botFault: bot.fault(),
    replicas: shownReplicas(bot.replicas),
    policy: policy.state(),
    isClockMoving: bot.isClockMoving(),
    runs: context.service.runs.all().toReversed(),
  });
  return {
    bot: bot.state,
    replicas: () => bot.replicas.map(({ state }) => state()),
    service,
    servicePanel: createServicePanel(service),
    scenes: scenes.state,
    onChange,
  };
}
