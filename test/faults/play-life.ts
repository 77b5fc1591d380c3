// One life with one fault. People do what the bot tells them: they type a command again, and press a button again.

import type { Lane } from "../crash/lane.ts";
import { type Before, type Life, live, newLife, openingsOf } from "../crash/life.ts";
import { watch, type Witness } from "../crash/verdict.ts";
import { says } from "../make/message-id.ts";

/** `from`: the fault is laid just before people do this. */
export type Disturbed = {
  readonly name: string;
  readonly from: "command" | "click" | "submit";
  readonly task?: string;
};

/** Lays the fault; calls `onStrike` when it has struck. Resolves to what ends it; that resolves once everything is as before. */
export type Lay = (onStrike: () => void) => Promise<() => Promise<void>>;

export type Played = {
  readonly witness: Witness;
  readonly life: Life;
  readonly struck: boolean;
  /** Null: it came to rest. */
  readonly stuck: string | null;
};

export async function playLife(lane: Lane, { name, from, task }: Disturbed, lay: Lay): Promise<Played> {
  const life = newLife(lane.world, name, task ?? "deploy billing", { verdict: "approve" });
  const witness = watch(lane.world, life);
  let struck = false;
  const ends: (() => Promise<void>)[] = [];
  const before: Before = async (act) => {
    if (ends.length === 0 && act === from) ends.push(await lay(() => (struck = true)));
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

/** A start that the service refused is over; its requester asks again, which is another intention. */
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
