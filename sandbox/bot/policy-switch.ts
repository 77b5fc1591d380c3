// Switches the policy of a kept bot. The bot learns the name of its policy file only from its environment, so a switch restarts it. If
// the bot does not start with the new policy, it gets the former one again.

import { createChanges } from "../base/changes.ts";
import type { BotState } from "./bot-keeper.ts";
import { type BotPolicy, policiesWith } from "./policies.ts";
import type { Bot } from "./replicas.ts";

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
  readonly keep: (env: () => { readonly POLICY_FILE?: string }) => Bot;
};

export function createPolicySwitch({ own, now, keep }: PolicySwitchOptions) {
  const changes = createChanges();
  const policies = policiesWith(own);
  const [first] = policies;
  if (first === undefined) throw new Error("there is no policy to start with");
  let chosen = first;
  let fault: string | null = null;
  const bot = keep(() => (chosen.file === null ? {} : { POLICY_FILE: chosen.file }));
  const since = readySince(bot, now);
  const choose = (policy: BotPolicy, why: string | null = null): void => {
    [chosen, fault] = [policy, why];
    changes.changed();
  };
  const change = async (name: string): Promise<void> => {
    const next = policies.find((one) => one.name === name);
    if (next === undefined) throw new Error(`There is no policy "${name}".`);
    if (next === chosen) return;
    const before = chosen;
    next.write?.(now());
    choose(next);
    const failed = await restartFault(bot);
    if (failed === null) return;
    const words = `The bot did not start with ${next.title}, so ${before.title} is back. ${failed}`;
    choose(before, words);
    await restart(bot);
    throw new Error(words);
  };
  const inTurn = createTurns();
  const policy: PolicySwitch = {
    state: () => ({ policies, chosen, inForce: inForce({ bot, policies, since: since() }), fault }),
    change: (name) => inTurn(() => change(name)),
    reset: () => inTurn(() => change(first.name)),
    onChange: changes.subscribe,
  };
  return { bot, policy };
}

/** When the bot was ready after it had been away. Of several replicas one that comes later starts no new time. */
function readySince(bot: Bot, now: () => number): () => number {
  let since = 0;
  let ran = false;
  bot.onChange(() => {
    const runs = RUNS.includes(bot.state());
    if (runs && !ran) since = now();
    ran = runs;
  });
  return () => since;
}

/** The states of a process that has read its policy. */
const RUNS: readonly BotState[] = ["running", "paused"];

/** A replica that someone keeps stopped stays so, and gets the new policy when it is started. */
async function restart({ replicas }: Bot): Promise<void> {
  const restarted = replicas.filter(({ state }) => state() !== "stopped").map((each) => each.restart());
  const failed = (await Promise.allSettled(restarted)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** Null: it is running again, or someone keeps it stopped. */
async function restartFault(bot: Bot): Promise<string | null> {
  if (bot.state() === "stopped") return null;
  try {
    await restart(bot);
    return null;
  } catch (error) {
    if (bot.state() === "stopped") return null;
    return bot.fault() ?? (error instanceof Error ? error.message : String(error));
  }
}

type InForce = Pick<PolicyState, "policies"> & { readonly bot: Bot; readonly since: number };

/** By what the process was given, whatever is chosen for the next one. */
function inForce({ bot, policies, since }: InForce): PolicyState["inForce"] {
  if (!RUNS.includes(bot.state())) return null;
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
