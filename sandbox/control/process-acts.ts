// Acts on the bot's process and on the clock.

import { z } from "zod";
import type { SandboxClock } from "../base/clock.ts";
import type { BotKeeper, BotState } from "../bot/bot-keeper.ts";
import type { PolicySwitch } from "../bot/policy-switch.ts";
import { type Bot, replicaCalled } from "../bot/replicas.ts";
import { type ControlAct, controlAct, type ControlRead, listRead, plainRead } from "./control-api.ts";

/** A year (ms): far above every time-out and retention there is. */
const LONGEST_MS = 366 * 24 * 3_600_000;

const which = {
  replica: z.string().exactOptional().describe("its name, such as `replica 2`; without it, all"),
};
export function botActs(bot: Bot): readonly ControlAct[] {
  const of = (replica: string | undefined): BotKeeper =>
    replica === undefined ? bot : replicaCalled(bot, replica);
  const act = (name: string, what: string, run: (bot: BotKeeper, replica?: string) => unknown): ControlAct =>
    controlAct({ name, what, args: z.strictObject(which) }, ({ replica }) => run(of(replica), replica));
  const back = z.boolean().default(true).describe("false: it stays away until it is started");
  return [
    controlAct(
      {
        name: "bot.kill",
        what: "SIGKILL, at once; the bot comes back by itself after a second",
        args: z.strictObject({ ...which, back }),
      },
      (args) => kill(of(args.replica), args.back),
    ),
    act("bot.stop", "SIGTERM; the bot stays away until it is started", (one, replica) => {
      if (one.state() === "stopped") throw new Error(`${nameOf(bot, replica)} is stopped already.`);
      return one.stop();
    }),
    act("bot.start", "answers when the bot is ready, at once if it is already; a paused one goes on", (one) =>
      one.start(),
    ),
    act(
      "bot.restart",
      "stops and starts the bot, which gets the key that is right now; answers when it is ready",
      (one) => one.restart(),
    ),
    act("bot.pause", "SIGSTOP: the bot does nothing until `bot.start`, and keeps its connections", (one) =>
      one.pause(),
    ),
  ];
}

/** With `back` false it is stopped like one that its machine took along. */
function kill(bot: BotKeeper, back: boolean): Promise<void> {
  return back || bot.pid() === null ? bot.kill() : bot.stop("SIGKILL");
}

function nameOf(bot: Bot, replica: string | undefined): string {
  if (replica === undefined) return "Countersign";
  const { name } = replicaCalled(bot, replica);
  return name.charAt(0).toUpperCase() + name.slice(1);
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

export function botRead(bot: Bot, policy: PolicySwitch): ControlRead {
  const what =
    "whether the bot is running, starting, paused or stopped (of several replicas, the best of these), why it does not start, its policy and the one for its next start";
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

export function replicasRead({ replicas }: Bot): ControlRead {
  const query = z.strictObject({
    name: z.string().exactOptional().describe("only this one, such as `replica 2`"),
    state: z.enum(["running", "starting", "paused", "stopped"] satisfies BotState[]).exactOptional(),
  });
  const named = {
    path: "/control/replicas",
    what: "the processes of the bot, each with its state, port, process id and why it does not start",
    query,
  };
  return listRead(named, "replicas", ({ name, state }) => {
    const asked = name === undefined ? replicas : [replicaCalled({ replicas }, name)];
    return shownReplicas(asked).filter((each) => state === undefined || each.state === state);
  });
}

/** As scripts and the page see them. */
export const shownReplicas = (replicas: Bot["replicas"]) =>
  replicas.map(({ name, state, port, pid, fault }) => ({
    name,
    state: state(),
    port,
    pid: pid(),
    fault: fault(),
  }));

export function clockActs(clock: SandboxClock): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "clock.advance",
        what: "lets time pass: at once for Slack and the service, and for the bot, which lives through it 200 times as fast",
        args: z.strictObject({ ms: z.number().int().min(1).max(LONGEST_MS) }),
      },
      ({ ms }) => {
        clock.advance(ms);
        return { aheadMs: clock.aheadMs() };
      },
    ),
  ];
}
