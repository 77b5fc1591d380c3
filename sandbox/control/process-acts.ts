// Acts on the bot's process and on the clock.

import { z } from "zod";
import type { SandboxClock } from "../base/sandbox-clock.ts";
import type { BotKeeper, BotState } from "../bot/bot-keeper.ts";
import type { PolicySwitch } from "../bot/policy-switch.ts";
import { type Bot, replicaCalled } from "../bot/replicas.ts";
import { type ControlAct, controlAct, type ControlRead, listRead, plainRead } from "./control-api.ts";

/** A year (ms), far longer than any timeout or retention period. */
const LONGEST_MS = 366 * 24 * 3_600_000;

const which = {
  replica: z.string().exactOptional().describe("the replica's name, such as `replica 2`; default: all"),
};
export function botActs(bot: Bot): readonly ControlAct[] {
  const of = (replica: string | undefined): BotKeeper =>
    replica === undefined ? bot : replicaCalled(bot, replica);
  const act = (name: string, what: string, run: (bot: BotKeeper, replica?: string) => unknown): ControlAct =>
    controlAct({ name, what, args: z.strictObject(which) }, ({ replica }) => run(of(replica), replica));
  const back = z.boolean().default(true).describe("false: the bot stays down until it is started");
  return [
    controlAct(
      {
        name: "bot.kill",
        what: "kills the bot with SIGKILL; it comes back by itself after a second",
        args: z.strictObject({ ...which, back }),
      },
      (args) => kill(of(args.replica), args.back),
    ),
    act("bot.stop", "stops the bot with SIGTERM; it stays down until it is started", (one, replica) => {
      if (one.state() === "stopped") throw new Error(`${nameOf(bot, replica)} is already stopped.`);
      return one.stop();
    }),
    act("bot.start", "starts the bot, or resumes a paused one; answers when it is ready", (one) =>
      one.start(),
    ),
    act(
      "bot.restart",
      "stops and starts the bot, which then uses the current key; answers when it is ready",
      (one) => one.restart(),
    ),
    act(
      "bot.pause",
      "pauses the bot with SIGSTOP: it does nothing until `bot.start`, but keeps its connections",
      (one) => one.pause(),
    ),
  ];
}

/** If `back` is false, the bot stays down, as if its machine had died. */
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
      what: "restarts the bot with another policy; if it does not start, switches back to the previous policy",
      args: z.strictObject({ name: z.enum(state().policies.map(({ name }) => name)) }),
    },
    ({ name }) => change(name),
  );
}

export function botRead(bot: Bot, policy: PolicySwitch): ControlRead {
  const what =
    "whether the bot is running, starting, paused or stopped (for several replicas, the best of these states), why it does not start, its policy, and the policy of its next start";
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
    name: z.string().exactOptional().describe("only this replica, such as `replica 2`"),
    state: z.enum(["running", "starting", "paused", "stopped"] satisfies BotState[]).exactOptional(),
  });
  const named = {
    path: "/control/replicas",
    what: "the processes of the bot, each with its state, its port, its process id and why it does not start",
    query,
  };
  return listRead(named, "replicas", ({ name, state }) => {
    const wanted = name === undefined ? replicas : [replicaCalled({ replicas }, name)];
    return shownReplicas(wanted).filter((replica) => state === undefined || replica.state === state);
  });
}

/** The replicas as scripts and the page see them. */
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
        what: "moves the time forward: at once for Slack and the service, and 200 times as fast as normal for the bot",
        args: z.strictObject({ ms: z.number().int().min(1).max(LONGEST_MS) }),
      },
      ({ ms }) => {
        clock.advance(ms);
        return { aheadMs: clock.aheadMs() };
      },
    ),
  ];
}
