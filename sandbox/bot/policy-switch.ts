// Switches the policy of a bot of the sandbox. The bot gets the name of its policy file only from its environment, so a switch restarts it.
// If the bot does not start with the new policy, the switch puts the previous policy back.

import { createChanges } from "../base/changes.ts";
import type { BotState } from "./bot-keeper.ts";
import { type BotPolicy, policiesWith } from "./policies.ts";
import type { Bot } from "./replicas.ts";

export type PolicyState = {
  readonly policies: readonly BotPolicy[];
  /** The policy for the next start. */
  readonly chosen: BotPolicy;
  /** The policy that the running process has read, and when it became ready. Null while no bot is ready. */
  readonly inForce: { readonly policy: BotPolicy; readonly since: number } | null;
  /** Why the latest switch failed, with what the bot printed. */
  readonly fault: string | null;
};

export type PolicySwitch = {
  readonly state: () => PolicyState;
  /** Resolves when the new policy is in force, or at once if the bot is stopped. Rejects if the previous policy was put back. */
  readonly change: (name: string) => Promise<void>;
  /** Switches to the policy that scenes play under. Resolves to null if it, or the built-in policy, is chosen already. */
  readonly lend: () => Promise<Lent | null>;
  readonly onChange: (listener: () => void) => () => void;
};

/** `giveBack` switches back to `before`, unless someone has chosen another policy since. */
export type Lent = { readonly before: BotPolicy; readonly giveBack: () => Promise<void> };

export type PolicySwitchOptions = {
  /** The operator's own policy file. */
  readonly own: string | null;
  readonly now: () => number;
  /** Creates the bot. `env` returns the variables for its policy, and is called at each start. */
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
    chosen = policy;
    fault = why;
    changes.changed();
  };
  const choice: Choice = { chosen: () => chosen, choose, bot };
  const change = async (name: string): Promise<void> => {
    const next = policies.find((one) => one.name === name);
    if (next === undefined) throw new Error(`There is no policy "${name}".`);
    if (next !== chosen) next.write?.(now());
    await switchTo(next, choice);
  };
  const inTurn = createTurns();
  const lend = async (): Promise<Lent | null> => {
    const before = chosen;
    if (before === first || before.file === null) return null;
    await switchTo(first, choice);
    const giveBack = async (): Promise<void> => {
      if (chosen === first) await switchTo(before, choice);
    };
    return { before, giveBack: () => inTurn(giveBack) };
  };
  const policy: PolicySwitch = {
    state: () => ({ policies, chosen, inForce: inForce({ bot, policies, since: since() }), fault }),
    change: (name) => inTurn(() => change(name)),
    lend: () => inTurn(lend),
    onChange: changes.subscribe,
  };
  return { bot, policy };
}

type Choice = {
  readonly chosen: () => BotPolicy;
  readonly choose: (policy: BotPolicy, why?: string | null) => void;
  readonly bot: Bot;
};

/** Chooses the policy and restarts the bot. Rejects if the bot does not start with it, after the previous policy was put back. */
async function switchTo(next: BotPolicy, { chosen, choose, bot }: Choice): Promise<void> {
  const before = chosen();
  if (next === before) return;
  choose(next);
  const failed = await restartFault(bot);
  if (failed === null) return;
  const words = `The bot did not start with ${next.title}, so ${before.title} is back. ${failed}`;
  choose(before, words);
  await restart(bot);
  throw new Error(words);
}

/** Returns when the bot became ready. A replica that becomes ready while others run does not change the time. */
function readySince(bot: Bot, now: () => number): () => number {
  let since = 0;
  let wasRunning = false;
  bot.onChange(() => {
    const isRunning = RUNNING.includes(bot.state());
    if (isRunning && !wasRunning) since = now();
    wasRunning = isRunning;
  });
  return () => since;
}

/** The states of a process that has read its policy. */
const RUNNING: readonly BotState[] = ["running", "paused"];

/** Restarts all replicas except those that someone has stopped. They get the new policy when they are started. */
async function restart({ replicas }: Bot): Promise<void> {
  const restarted = replicas.filter(({ state }) => state() !== "stopped").map((replica) => replica.restart());
  const failed = (await Promise.allSettled(restarted)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** Restarts the bot, and returns why it did not start. Returns null if it runs again, or if someone has stopped it. */
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

/** Determined by the environment of the running process, not by the policy for the next start. */
function inForce({ bot, policies, since }: InForce): PolicyState["inForce"] {
  if (!RUNNING.includes(bot.state())) return null;
  const file = bot.given()["POLICY_FILE"] ?? null;
  const policy = policies.find((one) => one.file === file);
  return policy === undefined ? null : { policy, since };
}

/** Runs switches one after another, because two people may switch at the same time. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
