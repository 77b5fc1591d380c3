// A machine dies while it has a decision to send. The scene needs several replicas.

import type { Replica } from "../bot/replicas.ts";
import type { Scene } from "./engine.ts";
import type { Asked } from "./scene-steps.ts";
import { ana, ben, type Stage } from "./stage.ts";

/** How often we ask the replicas which of them follows the run (ms). */
const ASK_EVERY_MS = 250;
/** A time limit that only a fault exceeds (ms): a replica follows a new run within a second or two. */
const FOLLOWED_MS = 30_000;

export const replicaDies: Scene = {
  name: "replica-dies",
  title: "A replica dies",
  what: "Several bots share the work. The bot that is about to send Ben's decision is killed and stays dead. Another bot sends the decision, once.",
  lesson:
    "Each run belongs to one replica at a time, and a decision is in the database before it is sent. If a replica dies, another takes over its runs, checks the service first, and continues.",
  async play(stage) {
    const reason = "The ledger closes tonight.";
    const before = await followedCounts(stage);
    await stage.say('Ana starts a run: "deploy ledger to production".', ana);
    const asked = await stage.ask(ana, "deploy ledger to production");
    const card = await stage.cardOf(asked);
    const holder = await holderOf(stage, before);
    await stage.say(
      `${stage.bot.replicas.length} replicas are running. ${titleOf(holder)} owns this run. Slack may deliver a click to any of them.`,
    );
    const form = await stage.open(ben, card, "Approve");
    const gate = stage.serviceController.fault({ route: "read-run" }, { type: "gate" }, "all");
    await stage.say(
      "Ben has the form open. The service now delays its answers, which leaves time to kill the replica.",
      ben,
    );
    stage.check((await stage.submit(ben, reason, form)) === null, "Ben's form closes");
    await stage.becomes(card, "state:sending");
    const killedAt = await killWhileItReads(stage, asked, holder);
    stage.serviceController.release(gate);
    await stage.say(
      `${titleOf(holder)} is killed: kill -9. It had not sent the decision yet, and it does not come back.`,
    );
    await stage.becomes(card, "state:approved", reason);
    const seconds = Math.max(1, Math.round((performance.now() - killedAt) / 1_000));
    stage.check(holder.state() === "stopped", `${holder.name} stays down`);
    await stage.say(
      "Another replica has taken over the run. It found the decision in the database, checked the run, and sent the decision.",
    );
    await stage.saidIn(asked, "outcome:succeeded");
    const sent = stage.sent(asked);
    stage.check(sent.length === 1 && sent[0]?.reason === reason, "the decision was sent once, word for word");
    stage.check(stage.cardsOf(asked).length === 1, "there is one card");
    return `${titleOf(holder)} died before it could send. Another replica sent Ben's decision once, and the card said so ${seconds} s after the kill, including the time that the captions took.`;
  },
};

const titleOf = ({ name }: Replica): string => name.charAt(0).toUpperCase() + name.slice(1);

/** How many runs each replica follows, in the order of the replicas. */
const followedCounts = ({ bot }: Stage): Promise<(number | null)[]> =>
  Promise.all(bot.replicas.map(({ metric }) => metric("countersign_runs_watched")));

/** Waits for the replica that follows more runs than `before`, and returns it. */
async function holderOf(stage: Stage, before: readonly (number | null)[]): Promise<Replica> {
  for (const end = performance.now() + FOLLOWED_MS; performance.now() < end;) {
    const now = await followedCounts(stage);
    const more = stage.bot.replicas.filter((_, i) => (now[i] ?? 0) > (before[i] ?? 0));
    const [holder] = more;
    if (more.length === 1 && holder !== undefined) return holder;
    await stage.pause(ASK_EVERY_MS);
  }
  throw new Error("no replica started to follow the run.");
}

/** Kills the replica during its last read of the run before it sends the decision. Returns when it was killed (ms). */
async function killWhileItReads(stage: Stage, asked: Asked, holder: Replica): Promise<number> {
  const read = await stage.until("a read of the run to be held", () => stage.openReads(asked)[0]);
  stage.check(stage.sent(asked).length === 0, "nothing has been sent yet");
  await holder.stop("SIGKILL");
  const killedAt = performance.now();
  await stage.until(`the read of ${holder.name} to be cut off`, () => read.done);
  stage.check(read.lost, `the read was from ${holder.name}`);
  stage.check(stage.sent(asked).length === 0, "nothing was sent before the kill");
  return killedAt;
}
