// A machine dies with a decision in its hands. It needs several replicas.

import type { Replica } from "../bot/replicas.ts";
import type { Scene } from "./engine.ts";
import type { Asked } from "./scene-steps.ts";
import { ana, ben, type Stage } from "./stage.ts";

/** How often we ask the replicas which one follows the run (ms). */
const ASK_EVERY_MS = 250;
/** A replica follows a new run within a second or two (ms). Only a fault takes longer. */
const FOLLOWED_MS = 30_000;

export const replicaDies: Scene = {
  name: "replica-dies",
  title: "A replica dies",
  what: "Several bots share the work. The one that is about to send Ben's decision is killed and stays dead. Another one sends it, once.",
  lesson:
    "Each run belongs to one replica at a time, and a decision is in the database before it is sent. When a replica dies, another takes its runs over, looks at the service first, and goes on.",
  async play(stage) {
    const reason = "The ledger closes tonight.";
    const before = await followed(stage);
    await stage.say('Ana asks for a run: "deploy ledger to production".', ana);
    const asked = await stage.ask(ana, "deploy ledger to production");
    const card = await stage.cardOf(asked);
    const holder = await holderOf(stage, before);
    await stage.say(
      `${stage.bot.replicas.length} replicas run. ${titleOf(holder)} looks after this run. Slack hands each click to any of them.`,
    );
    const form = await stage.open(ben, card, "Approve");
    const gate = stage.serviceController.fault({ route: "read-run" }, { kind: "gate" }, "all");
    await stage.say(
      "Ben has the form open. The service is made to hesitate, so that there is time to pull the plug.",
      ben,
    );
    stage.check((await stage.submit(ben, reason, form)) === null, "Ben's form closes");
    await stage.becomes(card, "state:sending");
    const killedAt = await pullThePlug(stage, asked, holder);
    stage.serviceController.release(gate);
    await stage.say(
      `${titleOf(holder)} is killed: kill -9. It had not sent the decision yet, and it does not come back.`,
    );
    await stage.becomes(card, "state:approved", reason);
    const seconds = Math.max(1, Math.round((performance.now() - killedAt) / 1_000));
    stage.check(holder.state() === "stopped", `${holder.name} stays away`);
    await stage.say(
      "Another replica has taken the run over. It found the decision in the database, looked at the run, and sent it.",
    );
    await stage.saidIn(asked, "outcome:succeeded");
    const sent = stage.sent(asked);
    stage.check(
      sent.length === 1 && sent[0]?.reason === reason,
      "the decision was sent once, letter for letter",
    );
    stage.check(stage.cardsOf(asked).length === 1, "there is one card");
    return `${titleOf(holder)} died before it could send. Another replica sent Ben's decision once, and the card said so ${seconds} s after the kill, with the time for its captions.`;
  },
};

const titleOf = ({ name }: Replica): string => name.charAt(0).toUpperCase() + name.slice(1);

/** How many runs each replica follows, in their order. */
const followed = ({ bot }: Stage): Promise<(number | null)[]> =>
  Promise.all(bot.replicas.map(({ metric }) => metric("countersign_runs_watched")));

/** The replica that follows one run more than before. */
async function holderOf(stage: Stage, before: readonly (number | null)[]): Promise<Replica> {
  for (const end = performance.now() + FOLLOWED_MS; performance.now() < end;) {
    const now = await followed(stage);
    const more = stage.bot.replicas.filter((_, i) => (now[i] ?? 0) > (before[i] ?? 0));
    const [holder] = more;
    if (more.length === 1 && holder !== undefined) return holder;
    await stage.pause(ASK_EVERY_MS);
  }
  throw new Error("no replica could be seen to follow the run.");
}

/** Kills the replica while its look at the run, which comes right before the decision, is held. Returns when (ms). */
async function pullThePlug(stage: Stage, asked: Asked, holder: Replica): Promise<number> {
  const look = await stage.until("a look at the run to be held", () => stage.openReads(asked)[0]);
  stage.check(stage.sent(asked).length === 0, "nothing was sent so far");
  await holder.stop("SIGKILL");
  const killedAt = performance.now();
  await stage.until(`the look of ${holder.name} to break off`, () => look.done);
  stage.check(look.lost, `it was ${holder.name} that looked`);
  stage.check(stage.sent(asked).length === 0, "nothing was sent before the kill");
  return killedAt;
}
