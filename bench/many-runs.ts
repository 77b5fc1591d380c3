// Many runs in one channel ask for one approval each, all at once. Measures when all of them can be reached, through the channel's notice
// and the reader's queue, and how long one person needs to decide them all. Slack enforces its limits.

import type { Message, OpenView } from "#sandbox/slack/model.ts";
import type { World } from "#sandbox/world/world.ts";
import { addChannel, addPerson, pause, range, withBot } from "./deciding.ts";

export type ManyRuns = {
  /** The time until the notice is there and the queue behind it lists all requests. */
  readonly reachableMs: number;
  /** The number of messages that the bot had posted in the channel until then. */
  readonly messages: number;
};

export type Cleared = ManyRuns & {
  readonly clearedMs: number;
  readonly presses: number;
  /** The number of requests that were decided without being shown in full in the person's form. */
  readonly unseen: number;
};

const RUNS = 100;
const PERSON = "U0CLEARS";
/** The longest interval between polls (ms), short enough that all requests are seen at once. */
const POLL_MAX_MS = "1000";
/** Slack accepts about one message a second in a channel. */
const OPENINGS_MS = 240_000;
const REACHABLE_MS = 60_000;
const ANSWER_MS = 20_000;
const SENT_MS = 120_000;
/** How long the person looks at each request (ms). Our choice; people differ. */
const READ_MS = 1_500;

export function manyRuns(runs: number): Promise<ManyRuns> {
  return withBot(async (world) => (await askAtOnce(world, runs)).found, { POLL_MAX_MS });
}

export function clearQueue(): Promise<Cleared> {
  return withBot(
    async (world) => {
      const { found, answer } = await askAtOnce(world, RUNS);
      return { ...found, ...(await clear(world, answer)) };
    },
    { POLL_MAX_MS },
  );
}

const actionOf = (nth: number): string => `Deploy part ${nth} of the release`;

async function askAtOnce(world: World, runs: number): Promise<{ found: ManyRuns; answer: Message }> {
  const { workspace, acts } = world.slack;
  const { control } = world.service;
  const channel = addChannel(world, 0);
  addPerson(world, PERSON);
  workspace.channels.get(channel)?.members.push(PERSON);
  const ids = range(runs).map(() => control.createRun("release forever").id);
  for (const id of ids) await acts.command("U0ANA", channel, "/agent", `watch ${id}`);
  const posted = (): Message[] =>
    workspace.messages.filter((each) => each.channel === channel && each.ephemeralFor === null);
  const what = `${runs} open threads`;
  await workspace.until(() => posted().length >= runs, { timeoutMs: OPENINGS_MS, what });
  const before = posted().length;
  const from = performance.now();
  for (const [nth, id] of ids.entries())
    control.addApproval(id, { action: actionOf(nth), details: { tool: "deploy", part: nth } });
  const notice = await workspace.until(() => posted().find((each) => isNotice(each)), {
    timeoutMs: REACHABLE_MS,
    what: "the notice",
  });
  let answer: Message | null = null;
  while (answer === null) answer = await listed(world, notice, runs);
  const found = { reachableMs: performance.now() - from, messages: posted().length - before };
  return { found, answer };
}

const isNotice = ({ blocks }: Message): boolean => blocks[0]?.block_id === "thread:storm";

/** Resolves to the person's queue behind the notice, or to null if it does not list all requests yet. */
async function listed({ slack }: World, notice: Message, runs: number): Promise<Message | null> {
  const { workspace, acts } = slack;
  const mine = (): Message[] => workspace.messages.filter(({ ephemeralFor }) => ephemeralFor === PERSON);
  const before = mine().length;
  const block = notice.blocks.find(({ type }) => type === "actions")?.block_id ?? "";
  await acts.click(PERSON, { channel: notice.channel, ts: notice.ts }, block, "storm_review");
  const what = "the person's queue";
  await workspace.until(() => mine().length > before, { timeoutMs: ANSWER_MS, what });
  const newest = mine().at(-1);
  return newest?.text.startsWith(`Waiting for you: ${runs}.`) === true ? newest : null;
}

async function clear(world: World, answer: Message): Promise<Omit<Cleared, keyof ManyRuns>> {
  const { workspace, acts } = world.slack;
  const from = performance.now();
  const seen = new Set<string>();
  const block = answer.blocks.find((each) => JSON.stringify(each).includes("queue_review_rule"));
  await acts.click(PERSON, answer, String(block?.block_id), "queue_review_rule");
  let presses = 2;
  for (;;) {
    const view = await workspace.until(() => workspace.viewsOf(PERSON)[0], {
      timeoutMs: ANSWER_MS,
      what: "a form",
    });
    if (view.view["callback_id"] === "review_modal") presses += await decideAll(world, view, seen);
    else if (view.view["callback_id"] === "review_next_modal") {
      await acts.submit(PERSON, view.id, {});
      presses += 1;
    } else throw new Error(`not a form of the review: ${JSON.stringify(view.view.blocks).slice(0, 500)}`);
    if (workspace.viewsOf(PERSON).length === 0) break;
  }
  const decided = () => new Set(world.service.requests.all({ route: "decide" }).map(({ path }) => path));
  await world.service.requests.until(() => decided().size >= RUNS, { timeoutMs: SENT_MS });
  const unseen = range(RUNS).filter((nth) => !seen.has(actionOf(nth))).length;
  return { clearedMs: performance.now() - from, presses, unseen };
}

/** Reads and approves each request of the form. Resolves to the number of presses. */
async function decideAll({ slack }: World, form: OpenView, seen: Set<string>): Promise<number> {
  const shown = JSON.stringify(form.view.blocks);
  for (const nth of range(RUNS)) if (shown.includes(`"${actionOf(nth)}"`)) seen.add(actionOf(nth));
  const blocks = form.view.blocks
    .map(({ block_id }) => String(block_id))
    .filter((id) => id.startsWith("verdict:"));
  await pause(READ_MS * blocks.length);
  const verdicts = Object.fromEntries(blocks.map((id) => [id, { verdict_chosen: "approve" }]));
  await slack.acts.submit(PERSON, form.id, { ...verdicts, reason_approve: { reason_text: "Checked." } });
  return blocks.length + 1;
}
