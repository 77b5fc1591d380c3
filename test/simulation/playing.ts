// What the acts of a random history share: how they choose a process, a run, a card or a person.

import type { RunKey } from "#src/domain/ids.ts";
import { OPENING } from "#src/domain/slot.ts";
import type { Chance } from "../make/chance.ts";
import { APPROVERS, EVERYONE } from "./cast.ts";
import type { SimulatedProcess } from "./process.ts";
import type { ServiceRun } from "./service.ts";
import type { Message } from "./slack.ts";
import type { SimulatedWorld } from "./world.ts";

export type Playing = {
  readonly world: SimulatedWorld;
  readonly chance: Chance;
  /** How many runs and starts belong to earlier days, and are left alone. */
  readonly old: { readonly runs: number; readonly starts: number };
  contents: number;
};
export type Act = (playing: Playing) => void;

export function pick<Item>(chance: Chance, items: Iterable<Item>): Item | null {
  const all = [...items];
  return all[chance.below(Math.max(all.length, 1))] ?? null;
}

/** Picks an item, most likely one of the newest. */
export function recent<Item>(chance: Chance, items: readonly Item[]): Item | null {
  return items[items.length - 1 - Math.min(chance.below(3), chance.below(Math.max(items.length, 1)))] ?? null;
}

export const someone = ({ chance }: Playing) => chance.of([...APPROVERS, ...APPROVERS, ...EVERYONE]);

export function withProcess(
  { world, chance }: Playing,
  act: (at: SimulatedProcess) => Promise<unknown>,
): void {
  const at = pick(
    chance,
    world.processes.filter(({ alive, ready }) => alive && ready),
  );
  if (at === null) return;
  act(at).catch((error: unknown) => world.judge.must("crash", false, `an act failed: ${String(error)}`));
}

export function withRun({ world, chance, old }: Playing, act: (run: ServiceRun, now: number) => void): void {
  const run = pick(chance, [...world.service.runs.values()].slice(old.runs));
  if (run !== null) act(run, world.timeline.now);
}

export function withCard(playing: Playing, act: (card: Message) => void): void {
  const card = recent(
    playing.chance,
    playing.world.slack.cards().map(({ message }) => message),
  );
  if (card !== null) act(card);
}

export function withKey({ world, chance }: Playing, act: (message: Message, key: RunKey) => void): void {
  const message = pick(
    chance,
    world.slack.messages.filter(({ slot }) => slot === OPENING),
  );
  if (message !== null) act(message, message.key);
}
