// Puts the world in order before and after every scene: there are no faults, service and gateway are up and healthy, Slack limits the rates,
// and the bot runs with the right key. The scene plays under the policy that scenes are written for. The user's own choice returns after the scene.

import type { Lent, PolicySwitch } from "../bot/policy-switch.ts";
import type { Replica } from "../bot/replicas.ts";
import { HEALTHY } from "../service/start-gateway.ts";
import type { Played } from "./engine.ts";
import type { Stage } from "./stage.ts";
import type { StageParts } from "./watch.ts";

type OrderParts = Pick<StageParts, "slack" | "service" | "bot"> & {
  readonly policy: Pick<PolicySwitch, "lend">;
  readonly stage: Pick<Stage, "undo">;
};

/** Keeps order around one scene. */
export function createOrder(parts: OrderParts): Pick<Played, "prepare" | "restore"> {
  const { policy, stage } = parts;
  let lent: Lent | null = null;
  return {
    prepare: async () => {
      await removeFaults(parts);
      lent = await policy.lend();
      await startBot(parts);
      return lent === null ? "" : switchWords(lent, waitingRequests(parts));
    },
    restore: async () => {
      try {
        await removeFaults(parts);
        await startBot(parts);
        await stage.undo();
      } finally {
        await lent?.giveBack();
      }
    },
  };
}

async function removeFaults({ slack, service }: OrderParts): Promise<void> {
  slack.faults.clear();
  slack.rateLimits.reset();
  service.gateway.control.status(HEALTHY);
  for (const controller of [service.serviceController, service.gatewayController]) {
    controller.clearFaults();
    controller.slow(0);
    await controller.up();
  }
}

async function startBot({ bot, service }: OrderParts): Promise<void> {
  const hasRightKey = ({ given }: Replica): boolean => given()["AGENT_API_KEY"] === service.service.apiKey;
  await Promise.all(
    bot.replicas.map((replica) => (hasRightKey(replica) ? replica.start() : replica.restart())),
  );
}

/** Counts the requests that wait, of the runs that the app shows. */
function waitingRequests({ slack, service: { service } }: OrderParts): number {
  const waiting = service.runs
    .all()
    .map(({ id, approvals }) => ({
      id,
      count: approvals.filter(({ state }) => state.type === "pending").length,
    }))
    .filter(({ count }) => count > 0);
  if (waiting.length === 0) return 0;
  const shown = JSON.stringify(slack.workspace.messages.map(({ blocks }) => blocks));
  return waiting.reduce((sum, { id, count }) => (shown.includes(id) ? sum + count : sum), 0);
}

function switchWords({ before }: Lent, waiting: number): string {
  const requests = waiting === 1 ? "the request that waits" : `the ${waiting} requests that wait`;
  return `${before.title} is off until the scene ends${waiting === 0 ? "" : `, also for ${requests}`}.`;
}
