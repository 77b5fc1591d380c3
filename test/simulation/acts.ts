// The acts of a random history: what may happen next.

import type { ApprovalId, RunKey } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { OPENING } from "#src/domain/slot.ts";
import type { Chance } from "../make/chance.ts";
import { REQUESTER, TEAM } from "../make/run.ts";
import { ADMIN, APPROVALS, APPROVERS, CHANNELS, EVERYONE, LEAD } from "./cast.ts";
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
type Act = (playing: Playing) => void;

const HOUR_MS = 60 * 60_000;
const CUT_OFF_MS = [1_000, 20_000, 70_000] as const;

function pick<Item>(chance: Chance, items: Iterable<Item>): Item | null {
  const all = [...items];
  return all[chance.below(Math.max(all.length, 1))] ?? null;
}

/** Picks an item, most likely one of the newest. */
function recent<Item>(chance: Chance, items: readonly Item[]): Item | null {
  return items[items.length - 1 - Math.min(chance.below(3), chance.below(Math.max(items.length, 1)))] ?? null;
}

const someone = ({ chance }: Playing) => chance.of([...APPROVERS, ...APPROVERS, ...EVERYONE]);

function withProcess({ world, chance }: Playing, act: (at: SimulatedProcess) => Promise<unknown>): void {
  const at = pick(
    chance,
    world.processes.filter(({ alive, ready }) => alive && ready),
  );
  if (at === null) return;
  act(at).catch((error: unknown) => world.judge.must("crash", false, `an act failed: ${String(error)}`));
}

function withRun({ world, chance, old }: Playing, act: (run: ServiceRun, now: number) => void): void {
  const run = pick(chance, [...world.service.runs.values()].slice(old.runs));
  if (run !== null) act(run, world.timeline.now);
}

function withCard(playing: Playing, act: (card: Message) => void): void {
  const card = recent(
    playing.chance,
    playing.world.slack.cards().map(({ message }) => message),
  );
  if (card !== null) act(card);
}

function withKey({ world, chance }: Playing, act: (message: Message, key: RunKey) => void): void {
  const message = pick(
    chance,
    world.slack.messages.filter(({ slot }) => slot === OPENING),
  );
  if (message !== null) act(message, message.key);
}

const start: Act = (playing) =>
  withProcess(playing, (at) => {
    const { world, chance } = playing;
    const by = chance.of([REQUESTER, REQUESTER, ...EVERYONE]);
    return world.people.start(at, by, chance.of(CHANNELS));
  });

const startAgain: Act = (playing) => {
  const { world, chance, old } = playing;
  const before = pick(chance, world.records.starts.slice(old.starts));
  if (before !== null)
    withProcess(playing, (at) => world.people.start(at, before.by, before.channel, before));
};

const raise: Act = (playing) =>
  withRun(playing, (run, now) => {
    const { world, chance } = playing;
    playing.contents += 1;
    const id: ApprovalId = chance.of(APPROVALS);
    const content: Json = { action: "delete it", version: playing.contents };
    if (isOnItsWay(playing, run, id)) return;
    const form = world.records.forms.some((each) => each.run === run.id && each.approval === id);
    const waits = run.items.has(id) && isRecorded(world, run, id);
    if (!world.service.raise(run, id, content, now)) return;
    if (form) world.reached("a request changes while its form is open");
    if (waits) world.reached("a request changes after a decision on it, before one leaves");
  });

/**
 * Returns whether a decision has left and may still arrive. It cannot carry a condition in the service's interface, so it would be applied
 * to a changed request.
 */
const isOnItsWay = ({ world }: Playing, run: ServiceRun, id: ApprovalId): boolean =>
  world.records.sent.some(
    (each) => each.run === run.id && each.approval === id && each.arrivesBy > world.timeline.now,
  );

/** Returns whether someone was told that their decision or vote is recorded, and no decision on the approval has left. */
const isRecorded = ({ records }: SimulatedWorld, run: ServiceRun, id: ApprovalId): boolean => {
  const isOnIt = (each: { readonly run: ServiceRun["id"]; readonly approval: ApprovalId }): boolean =>
    each.run === run.id && each.approval === id;
  return (
    !records.sent.some(isOnIt) &&
    records.submits.some((each) => isOnIt(each) && each.told === "ok" && each.undoneAt === null)
  );
};

const list: Act = (playing) =>
  withRun(playing, (run, now) => {
    const item = pick(playing.chance, run.items.values());
    if (item !== null) playing.world.service.list(run, item.id, !item.listed, now);
  });

const elsewhere: Act = (playing) =>
  withRun(playing, (run, now) => {
    const { world, chance } = playing;
    const item = pick(chance, run.items.values());
    if (item !== null && world.service.resolveElsewhere(run, item.id, chance.of(["approve", "deny"]), now))
      world.reached("others resolve a request");
  });

const hide: Act = (playing) => withRun(playing, (run) => void (run.known = !run.known));
const end: Act = (playing) =>
  withRun(playing, (run, now) =>
    playing.world.service.end(run, playing.chance.of(["succeeded", "failed", "canceled"]), now),
  );

const open: Act = (playing) =>
  withCard(playing, (card) =>
    withProcess(playing, (at) =>
      playing.world.people.open(
        at,
        someone(playing),
        card,
        playing.chance.of(["approve", "approve", "deny"]),
      ),
    ),
  );

const submit: Act = (playing) => {
  const { world, chance } = playing;
  const form = recent(chance, world.records.forms);
  if (form !== null) withProcess(playing, (at) => world.people.submit(at, form));
};

/** Opens a form, thinks, and submits it, as people do. */
const decide: Act = (playing) =>
  withCard(playing, (card) =>
    withProcess(playing, async (at) => {
      const { world, chance } = playing;
      const by = chance.of(APPROVERS);
      const thinksMs = chance.of([50, 500, 3_000]);
      const form = await world.people.open(
        at,
        by,
        card,
        chance.of(["approve", "approve", "approve", "deny"]),
      );
      if (form === null) return;
      await world.timeline.wait(thinksMs);
      withProcess(playing, (then) => world.people.submit(then, form));
    }),
  );

const submitAgain: Act = (playing) => {
  const { world, chance } = playing;
  const before = recent(chance, world.records.submits);
  if (before === null) return;
  world.reached("a submit comes twice");
  withProcess(playing, (at) => world.people.submit(at, before, before));
};

const undo: Act = (playing) =>
  withCard(playing, (card) => {
    const last = playing.world.records.submits.at(-1);
    const by = last?.by ?? someone(playing);
    withProcess(playing, (at) => playing.world.people.undo(at, by, card));
  });

const handle: Act = (playing) =>
  withCard(playing, (card) =>
    withProcess(playing, async (at) => {
      const { people } = playing.world;
      const by = someone(playing);
      const click = people.clickOn(card, by);
      if (click === null) return;
      const what = playing.chance.of(["claim", "release", "extend"] as const);
      await people.other(at, `${by} ${what}s`, ({ claimRequest }) =>
        what === "extend" ? claimRequest.extend(click, 0) : claimRequest[what](click),
      );
    }),
  );

const ask: Act = (playing) =>
  withCard(playing, (card) =>
    withProcess(playing, async (at) => {
      const { people } = playing.world;
      const user = playing.chance.of(APPROVERS);
      const click = people.clickOn(card, user);
      if (click === null) return;
      await people.other(at, `${user} asks`, async ({ askRequester }) => {
        const opened = await askRequester.open(click);
        if (!opened.ok) return opened;
        return askRequester.ask({ team: TEAM, user }, opened.value.ticket.nonce, "what for?");
      });
    }),
  );

const answerUnknownStart: Act = (playing) =>
  withKey(playing, (opening) =>
    withProcess(playing, (at) =>
      playing.world.people.answerUnknownStart(at, opening, playing.chance.of(["started", "left"])),
    ),
  );

const stop: Act = (playing) =>
  withKey(playing, ({ channel }, key) =>
    withProcess(playing, (at) => playing.world.people.stop(at, someone(playing), key, channel)),
  );

const lift: Act = (playing) =>
  withKey(playing, ({ channel }, key) =>
    withProcess(playing, (at) => playing.world.people.lift(at, playing.chance.of(APPROVERS), key, channel)),
  );

const freeze: Act = (playing) =>
  withProcess(playing, (at) => playing.world.people.freeze(at, ADMIN, playing.chance.of(CHANNELS)));
const unfreeze: Act = (playing) =>
  withProcess(playing, (at) => playing.world.people.unfreeze(at, LEAD, playing.chance.of(CHANNELS)));

const leave: Act = ({ world, chance }) => {
  const user = chance.of(APPROVERS);
  if (!world.slack.gone.delete(user)) world.slack.gone.set(user, world.timeline.now);
};

const die: Act = ({ world, chance }) => pick(chance, world.processes)?.die("killed");
const stall: Act = ({ world, chance }) =>
  pick(chance, world.processes)?.stall(chance.of([2_000, 15_000, 65_000]));

const cutOff: Act = ({ world, chance }) => {
  const process = pick(chance, world.processes);
  if (process === null || process.cutOff) return;
  const ms = chance.of(CUT_OFF_MS);
  world.note(`${process.name} does not reach the database for ${ms} ms`);
  world.reached("the database is unreachable");
  process.cutOff = true;
  world.timeline.after(ms, () => (process.cutOff = false));
};

const jump: Act = ({ world, chance }) => world.stepClocks(chance.below(2 * HOUR_MS) - HOUR_MS);

export const ACTS: readonly { readonly weight: number; readonly act: Act }[] = [
  { weight: 4, act: start },
  { weight: 1, act: startAgain },
  { weight: 8, act: raise },
  { weight: 2, act: list },
  { weight: 2, act: elsewhere },
  { weight: 1, act: hide },
  { weight: 1, act: end },
  { weight: 6, act: open },
  { weight: 6, act: submit },
  { weight: 16, act: decide },
  { weight: 3, act: submitAgain },
  { weight: 4, act: undo },
  { weight: 3, act: handle },
  { weight: 2, act: ask },
  { weight: 1, act: answerUnknownStart },
  { weight: 1, act: stop },
  { weight: 1, act: lift },
  { weight: 1, act: freeze },
  { weight: 1, act: unfreeze },
  { weight: 2, act: leave },
  { weight: 3, act: die },
  { weight: 2, act: stall },
  { weight: 2, act: cutOff },
  { weight: 1, act: jump },
];
