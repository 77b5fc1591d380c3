// Switches the policy of a kept bot. The bot learns the name of its policy file only from its environment, so a switch restarts it. If
// the bot does not start with the new policy, it gets the former one again.

import { createChanges } from "../base/changes.ts";
import type { BotKeeper } from "./bot-keeper.ts";
import { type BotPolicy, policiesWith } from "./policies.ts";

export type PolicyState = {
  readonly policies: readonly BotPolicy[];
  /** The policy of the next start. */
  readonly chosen: BotPolicy;
  /** What the running process has read, and when it was ready. Null while no bot is ready. */
  readonly inForce: { readonly policy: BotPolicy; readonly since: number } | null;
  /** Why the newest switch failed, with what the bot printed. */
  readonly fault: string | null;
};

export type PolicySwitch = {
  readonly state: () => PolicyState;
  /** Resolves when the new policy is in force, at once if the bot is stopped. Rejects, in words, when the former one was put back. */
  readonly change: (name: string) => Promise<void>;
  /** Back to the policy that the sandbox was started with. */
  readonly reset: () => Promise<void>;
  readonly onChange: (listener: () => void) => () => void;
};

export type PolicySwitchOptions = {
  /** The operator's own policy file. */
  readonly own: string | null;
  readonly now: () => number;
  /** Creates the bot. `env` tells it the policy at each start. */
  readonly keep: (env: () => { readonly POLICY_FILE?: string }) => BotKeeper;
};

export function createPolicySwitch({ own, now, keep }: PolicySwitchOptions) {
  const changes = createChanges();
  const policies = policiesWith(own);
  const [first] = policies;
  if (first === undefined) throw new Error("there is no policy to start with");
  let chosen = first;
  let fault: string | null = null;
  let since = 0;
  const bot = keep(() => (chosen.file === null ? {} : { POLICY_FILE: chosen.file }));
  bot.onChange(() => {
    if (bot.state() === "running") since = now();
  });
  const choose = (policy: BotPolicy, why: string | null = null): void => {
    [chosen, fault] = [policy, why];
    changes.changed();
  };
  const change = async (name: string): Promise<void> => {
    const next = policies.find((one) => one.name === name);
    if (next === undefined) throw new Error(`There is no policy "${name}".`);
    if (next === chosen) return;
    const before = chosen;
    choose(next);
    const failed = await restartFault(bot);
    if (failed === null) return;
    const words = `The bot did not start with ${next.title}, so ${before.title} is back. ${failed}`;
    choose(before, words);
    await bot.restart();
    throw new Error(words);
  };
  const inTurn = createTurns();
  const policy: PolicySwitch = {
    state: () => ({ policies, chosen, inForce: inForce({ bot, policies, since }), fault }),
    change: (name) => inTurn(() => change(name)),
    reset: () => inTurn(() => change(first.name)),
    onChange: changes.subscribe,
  };
  return { bot, policy };
}

/** Null: it is running again, or somebody keeps it stopped. */
async function restartFault(bot: BotKeeper): Promise<string | null> {
  if (bot.state() === "stopped") return null;
  try {
    await bot.restart();
    return null;
  } catch (error) {
    if (bot.state() === "stopped") return null;
    return bot.fault() ?? (error instanceof Error ? error.message : String(error));
  }
}

type InForce = Pick<PolicyState, "policies"> & { readonly bot: BotKeeper; readonly since: number };

/** By what the process was given, whatever is chosen for the next one. */
function inForce({ bot, policies, since }: InForce): PolicyState["inForce"] {
  if (bot.state() !== "running") return null;
  const file = bot.given()["POLICY_FILE"] ?? null;
  const policy = policies.find((one) => one.file === file);
  return policy === undefined ? null : { policy, since };
}

/** Two people may switch at once: one after the other. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
