// One life with one fault. People do what the bot tells them: they type a command again, and press a button again.

import type { Lane } from "../crash/lane.ts";
import { type Before, type Life, live, newLife, openingsOf } from "../crash/life.ts";
import { watch, type Witness } from "../crash/verdict.ts";
import { says } from "../make/message-id.ts";

/** A life with a fault. The fault is set up just before people do `from`. */
export type FaultCase = {
  readonly name: string;
  readonly from: "command" | "click" | "submit";
  readonly task?: string;
  /** Whether the approver decides all requests in one form, opened from the Home tab. */
  readonly together?: boolean;
  /** How long the approver reads the form before the first submit (ms). */
  readonly readsMs?: number;
  /** Whether the fault takes effect surely only with one process. */
  readonly alone?: boolean;
  /** The channel whose members may decide, if the rule names one. */
  readonly joins?: string;
};

/**
 * Sets up the fault, and calls `onStrike` when it takes effect. Resolves to a function that ends the fault and resolves once everything is
 * as before.
 */
export type SetUpFault = (onStrike: () => void, life: Life) => Promise<() => Promise<void>>;

export type Played = {
  readonly witness: Witness;
  readonly life: Life;
  readonly struck: boolean;
  /** Why the life did not end. Null if it did. */
  readonly stuck: string | null;
};

const DEPLOY = "deploy billing";

export async function playLife(
  lane: Lane,
  { name, from, task = DEPLOY, joins, ...intent }: FaultCase,
  setUpFault: SetUpFault,
): Promise<Played> {
  const life = newLife(lane.world, name, task, { verdict: "approve", ...intent });
  if (joins !== undefined) lane.world.slack.faults.addToChannel(joins, life.approver);
  const witness = watch(lane.world, life);
  let struck = false;
  const ends: (() => Promise<void>)[] = [];
  const before: Before = async (act) => {
    if (ends.length === 0 && act === from) ends.push(await setUpFault(() => (struck = true), life));
  };
  const stopRetyping = typeAgainIfRefused(lane, life);
  const stuck = await live(lane, life, before).then(
    () => null,
    (error: unknown) => String(error),
  );
  stopRetyping();
  for (const end of ends) await end();
  return { witness, life, struck, stuck };
}

/** If the service refuses a start, it is over. The requester types the command again, which counts as another request for a run. */
function typeAgainIfRefused({ world }: Lane, life: Life): () => void {
  const answered = new Set<string>();
  return world.slack.workspace.onChange(({ kind, channel }) => {
    if (kind !== "message" || channel !== life.channel) return;
    const refused = openingsOf(world, life).find(
      (each) => says("run:not-started", each) && !answered.has(each.ts),
    );
    if (refused === undefined) return;
    answered.add(refused.ts);
    life.again += 1;
    void world.slack.acts.command(life.requester, life.channel, "/agent", `run ${life.task}`);
  });
}
