// Acts on the bot's process and on the clock.

import { z } from "zod";
import type { SandboxClock } from "../base/clock.ts";
import type { BotKeeper } from "../bot/bot-keeper.ts";
import type { PolicySwitch } from "../bot/policy-switch.ts";
import { type ControlAct, controlAct, type ControlRead, plainRead } from "./control-api.ts";

const nothing = z.strictObject({});
/** A year (ms): far above every time-out and retention there is. */
const LONGEST_MS = 366 * 24 * 3_600_000;

export function botActs(bot: BotKeeper): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "bot.kill",
        what: "SIGKILL, at once; the bot comes back by itself after a second",
        args: nothing,
      },
      bot.kill,
    ),
    controlAct(
      { name: "bot.stop", what: "SIGTERM; the bot stays away until it is started", args: nothing },
      () => {
        if (bot.state() === "stopped") throw new Error("Countersign is stopped already.");
        return bot.stop();
      },
    ),
    controlAct(
      { name: "bot.start", what: "answers when the bot is ready, at once if it is already", args: nothing },
      bot.start,
    ),
    controlAct(
      {
        name: "bot.restart",
        what: "stops and starts the bot, which gets the key that is right now; answers when it is ready",
        args: nothing,
      },
      bot.restart,
    ),
  ];
}

export function policyAct({ state, change }: PolicySwitch): ControlAct {
  return controlAct(
    {
      name: "bot.policy",
      what: "restarts the bot with another policy; if it does not start, it gets the former one again",
      args: z.strictObject({ name: z.enum(state().policies.map(({ name }) => name)) }),
    },
    ({ name }) => change(name),
  );
}

export function botRead(bot: BotKeeper, policy: PolicySwitch): ControlRead {
  const what =
    "whether the bot is running, starting or stopped, why it does not start, its policy and the one for its next start";
  return plainRead("/control/bot", what, () => {
    const { chosen, inForce, fault } = policy.state();
    return {
      state: bot.state(),
      fault: bot.fault(),
      policy: {
        chosen: chosen.name,
        inForce: inForce === null ? null : { name: inForce.policy.name, since: inForce.since },
        fault,
      },
    };
  });
}

export function clockActs(clock: SandboxClock): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "clock.advance",
        what: "lets time pass at once for Slack and the service, not for the bot",
        args: z.strictObject({ ms: z.number().int().min(1).max(LONGEST_MS) }),
      },
      ({ ms }) => {
        clock.advance(ms);
        return { aheadMs: clock.aheadMs() };
      },
    ),
  ];
}
