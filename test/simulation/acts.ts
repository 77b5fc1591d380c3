// The acts of a random history: what may happen next.

import { TEAM, REQUESTER } from "../make/run.ts";
import { ADMIN, APPROVERS, CHANNELS, EVERYONE, LEAD } from "./cast.ts";
import type { ActName } from "./focus.ts";
import { type Act, pick, recent, someone, withCard, withKey, withProcess } from "./playing.ts";
import { RULE_NAMES, RULES } from "./rules.ts";
import { elsewhere, end, hide, list, overtake, raise } from "./service-acts.ts";

const HOUR_MS = 60 * 60_000;
const CUT_OFF_MS = [1_000, 20_000, 70_000] as const;

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

/** Submits a decision, and takes it back at once. */
const decideAndUndo: Act = (playing) =>
  withCard(playing, (card) =>
    withProcess(playing, async (at) => {
      const { people, timeline } = playing.world;
      const by = playing.chance.of(APPROVERS);
      const form = await people.open(at, by, card, "approve");
      if (form === null) return;
      const { told } = await people.submit(at, form);
      await timeline.wait(playing.chance.of([50, 500, 3_000]));
      if (told === "ok") withProcess(playing, (then) => people.undo(then, by, card));
    }),
  );

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

const changePolicy: Act = ({ world, chance }) => {
  const name = chance.of(RULE_NAMES);
  if (name !== "no policy") world.changePolicy(RULES[name]);
};

export const ACTS: { readonly [Name in ActName]: Act } = {
  start,
  startAgain,
  raise,
  list,
  elsewhere,
  hide,
  end,
  open,
  submit,
  decide,
  submitAgain,
  undo,
  handle,
  ask,
  answerUnknownStart,
  stop,
  lift,
  freeze,
  unfreeze,
  leave,
  die,
  stall,
  cutOff,
  jump,
  overtake,
  decideAndUndo,
  changePolicy,
};
