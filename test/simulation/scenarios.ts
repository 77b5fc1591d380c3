// Twelve stories. Each is played once for every way in which a few of its calls go wrong, or a process dies at one of them.

import type { Verdict } from "#src/domain/approval.ts";
import type { UserId } from "#src/domain/ids.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { REQUESTER } from "../make/run.ts";
import type { Fate } from "./call-out.ts";
import { ADMIN, APPROVALS, APPROVERS, CHANNELS, LEAD } from "./cast.ts";
import type { Scripted } from "./fortune.ts";
import { comeToRest } from "./judge-at-rest.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Form, Submit } from "./records.ts";
import type { ServiceRun } from "./service.ts";
import { buttonsOf, type Message } from "./slack.ts";
import type { SimulatedWorld } from "./world.ts";

export type Story = {
  readonly replicas: 1 | 2;
  readonly rule?: Partial<Rule>;
  readonly play: (stage: Stage) => Promise<void>;
};

const [ANA, BEN] = APPROVERS;
const [OPS] = CHANNELS;
const [FIRST] = APPROVALS;
const ASKED = { action: "delete the old certificate" };

/** How long a person waits for a process, a card or an answer (ms) before they give up. */
const PATIENCE_MS = 30_000;
/** How often a person submits a form whose answer was lost. */
const SUBMITS = 3;

/** The steps that stories consist of. A person who was told nothing certain tries again, as people do. */
export class Stage {
  readonly world: SimulatedWorld;
  readonly #fortune: Scripted;

  constructor(world: SimulatedWorld, fortune: Scripted) {
    this.world = world;
    this.#fortune = fortune;
  }

  /** From here on, calls may go wrong. */
  faultsBegin(): void {
    this.#fortune.isOpen = true;
    this.world.isShaky = true;
  }

  /** Makes the next call of this kind go wrong in this way, in addition to all other faults. */
  goesWrong(place: string, way: Fate = "unanswered"): void {
    this.#fortune.fixed.set(place, way);
  }

  /** Ends all faults, and waits until nothing is left to do. */
  async rest(): Promise<void> {
    this.#fortune.isOpen = false;
    this.world.isShaky = false;
    this.world.healedAt = this.world.timeline.now;
    for (const run of this.world.service.runs.values()) run.known = true;
    await comeToRest(this.world);
  }

  async process(): Promise<SimulatedProcess> {
    const ready = (): SimulatedProcess | undefined => this.world.ready[0];
    await this.until(() => ready() !== undefined);
    const found = ready();
    if (found === undefined) throw new Error("no process becomes ready");
    return found;
  }

  async until(isSo: () => boolean): Promise<boolean> {
    const { timeline } = this.world;
    const end = timeline.now + PATIENCE_MS;
    while (!isSo() && timeline.now < end) await this.world.pass(100);
    return isSo();
  }

  /** Resolves to null if the service has no such run, or may have none. */
  async start(): Promise<ServiceRun | null> {
    const { people, service } = this.world;
    let start = await this.world.finish(people.start(await this.process(), REQUESTER, OPS));
    for (let tries = 1; start?.told === "lost" && tries < SUBMITS; tries += 1)
      start = await this.world.finish(people.start(await this.process(), REQUESTER, OPS, start));
    await this.until(() => service.runs.size > 0);
    return [...service.runs.values()].at(-1) ?? null;
  }

  async asks(run: ServiceRun | null, content: object = ASKED): Promise<Message | null> {
    if (run !== null) this.world.service.raise(run, FIRST, { ...content }, this.world.timeline.now);
    return this.card();
  }

  /** Waits for a card with buttons, and resolves to the newest. */
  async card(): Promise<Message | null> {
    const live = (): Message | undefined =>
      this.world.slack.cards().findLast(({ message }) => buttonsOf(message).decides)?.message;
    await this.until(() => live() !== undefined);
    return live() ?? null;
  }

  async opens(by: UserId, card: Message | null, verdict: Verdict): Promise<Form | null> {
    if (card === null) return null;
    for (let tries = 0; tries < SUBMITS; tries += 1) {
      const form = await this.world.finish(this.world.people.open(await this.process(), by, card, verdict));
      if (form !== null) return form;
      await this.world.pass(500);
    }
    return null;
  }

  async submits(form: Form | null): Promise<Submit | null> {
    if (form === null) return null;
    const { people } = this.world;
    let submit = await this.world.finish(people.submit(await this.process(), form));
    for (let tries = 1; submit?.told === "lost" && tries < SUBMITS; tries += 1) {
      await this.world.pass(500);
      submit = await this.world.finish(people.submit(await this.process(), form, submit));
    }
    return submit;
  }

  async decides(by: UserId, verdict: Verdict): Promise<Submit | null> {
    return this.submits(await this.opens(by, await this.card(), verdict));
  }

  async ends(run: ServiceRun | null): Promise<void> {
    await this.world.pass(3_000);
    if (run !== null) this.world.service.end(run, "succeeded", this.world.timeline.now);
    // Calls may still go wrong while the run's end is posted.
    await this.world.pass(3_000);
    await this.rest();
  }
}

const named = (users: readonly UserId[]) => ({ users, groups: [], channels: [] });
const STAGED: Partial<Rule> = {
  approvers: named([BEN]),
  followUp: { ...NO_FOLLOW_UP, escalate: [{ afterMs: 5_000, to: named([LEAD]), call: null }] },
};

/** Starts a run and waits for its card, without faults. */
async function withCard(stage: Stage): Promise<ServiceRun | null> {
  const run = await stage.start();
  await stage.asks(run);
  return run;
}

async function toVerdict(stage: Stage, verdict: Verdict): Promise<void> {
  stage.faultsBegin();
  const run = await stage.start();
  await stage.asks(run);
  await stage.decides(ANA, verdict);
  await stage.ends(run);
}

export const STORIES: { readonly [name: string]: Story } = {
  approve: { replicas: 1, play: (stage) => toVerdict(stage, "approve") },
  deny: { replicas: 1, play: (stage) => toVerdict(stage, "deny") },
  "two approvers": {
    replicas: 1,
    play: async (stage) => {
      const run = await withCard(stage);
      stage.faultsBegin();
      const card = await stage.card();
      const forms = [await stage.opens(ANA, card, "approve"), await stage.opens(BEN, card, "deny")];
      await Promise.all(forms.map((form) => stage.submits(form)));
      await stage.ends(run);
    },
  },
  "quorum with a changed request": {
    replicas: 1,
    rule: { needs: 2 },
    play: async (stage) => {
      const run = await withCard(stage);
      stage.faultsBegin();
      await stage.decides(ANA, "approve");
      const form = await stage.opens(BEN, await stage.card(), "approve");
      await stage.asks(run, { action: "delete everything" });
      await stage.submits(form);
      await stage.world.pass(3_000);
      await stage.decides(ANA, "approve");
      await stage.decides(BEN, "approve");
      await stage.ends(run);
    },
  },
  "staged approvals": {
    replicas: 1,
    rule: STAGED,
    play: async (stage) => {
      const run = await withCard(stage);
      stage.faultsBegin();
      await stage.world.pass(6_000);
      await stage.decides(LEAD, "approve");
      await stage.ends(run);
    },
  },
  "create with a lost answer": {
    replicas: 1,
    play: async (stage) => {
      stage.faultsBegin();
      stage.goesWrong("POST run");
      await stage.start();
      await stage.world.pass(2_000);
      const opening = stage.world.slack.messages[0];
      if (opening === undefined) return stage.rest();
      const process = await stage.process();
      await stage.world.finish(stage.world.people.answerUnknownStart(process, opening, "started"));
      await stage.ends(null);
    },
  },
  "withdrawn while the form is open": {
    replicas: 1,
    play: async (stage) => {
      const run = await withCard(stage);
      stage.faultsBegin();
      const form = await stage.opens(ANA, await stage.card(), "approve");
      if (run !== null) stage.world.service.list(run, FIRST, false, stage.world.timeline.now);
      await stage.submits(form);
      await stage.ends(run);
    },
  },
  "restart while ambiguous": {
    replicas: 1,
    play: async (stage) => {
      const run = await withCard(stage);
      stage.faultsBegin();
      stage.goesWrong("POST decision");
      await stage.decides(ANA, "approve");
      await stage.until(() => stage.world.records.sent.length > 0);
      stage.world.ready[0]?.die("killed");
      await stage.world.pass(8_000);
      await stage.ends(run);
    },
  },
  "takeover by another replica": { replicas: 2, play: (stage) => toVerdict(stage, "approve") },
  "takeover while sending": {
    replicas: 2,
    play: (stage) => {
      stage.goesWrong("POST decision", "outlasts");
      return toVerdict(stage, "approve");
    },
  },
  "stop and freeze while sending": {
    replicas: 1,
    play: async (stage) => {
      const run = await withCard(stage);
      stage.faultsBegin();
      const form = await stage.opens(ANA, await stage.card(), "approve");
      // Meanwhile, the answer is under way.
      stage.goesWrong("POST decision", "slow");
      await stopAndFreeze(stage, form, () => stage.world.records.sent.length > 0);
      await stage.ends(run);
    },
  },
  "stop and freeze while held": {
    replicas: 1,
    rule: { holdMs: 2_000 },
    play: async (stage) => {
      const run = await withCard(stage);
      stage.faultsBegin();
      const form = await stage.opens(ANA, await stage.card(), "approve");
      await stopAndFreeze(stage, form, () => stage.world.records.submits[0]?.told === "ok");
      await stage.ends(run);
    },
  },
};

/** Submits the form, and brakes at the moment when `isTime` holds. The freeze is lifted later. */
async function stopAndFreeze(stage: Stage, form: Form | null, isTime: () => boolean): Promise<void> {
  const { people, slack } = stage.world;
  // If the story fails meanwhile, this fails, too, which says nothing new.
  const deciding = stage.submits(form).catch(() => null);
  await stage.until(isTime);
  const freezing = people.freeze(await stage.process(), ADMIN, OPS);
  const key = slack.messages[0]?.key;
  if (key !== undefined) await stage.world.finish(people.stop(await stage.process(), BEN, key, OPS));
  await stage.world.finish(Promise.all([deciding, freezing]));
  await stage.world.pass(3_000);
  for (const by of [LEAD, LEAD, LEAD])
    if (await stage.world.finish(people.unfreeze(await stage.process(), by, OPS))) break;
}
