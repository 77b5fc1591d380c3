// One life of a run, played by people: someone starts it, someone decides what it asks for, and people who are told that something failed
// try again. Everything visible is recorded for the verdict.

import type { Message, OpenView } from "#sandbox/slack/model.ts";
import type { World } from "#sandbox/world/world.ts";
import { cardStateOf, idOf, isInState, says } from "../make/message-id.ts";
import type { Lane } from "./lane.ts";
import { submitForm } from "./submit-form.ts";

export type Life = {
  readonly name: string;
  readonly task: string;
  readonly verdict: "approve" | "deny";
  /** Whether the approver decides all requests in one form, opened from the Home tab. */
  readonly together: boolean;
  readonly channel: string;
  readonly requester: string;
  readonly approver: string;
  /** The second approver, if the rule needs the approvals of two people. Both press until they have approved. */
  readonly second: string | null;
  readonly holdMs: number;
  /** How long the approver reads the form before the first submit (ms). */
  readonly readsMs: number;
  /** What Slack and the bot answered to each command that was typed. */
  readonly commands: string[];
  /** The typed reasons, each once. `kept`: the app answered that the decision is recorded. `at`: just before the submit. */
  readonly attempts: Attempt[];
  /** How often the requester chose to start again. */
  again: number;
  /** The messages on which the requester chose to start again. */
  readonly askedAgain: Set<string>;
  /** When the bot or its database was struck, and when it was back. */
  readonly strikes: Struck[];
};

type Struck = { readonly from: number; to: number };

/** What the judge looks at. */
export type Evidence = {
  readonly slack: { readonly workspace: Pick<World["slack"]["workspace"], "messages" | "app" | "onChange"> };
  readonly service: {
    readonly runs: Pick<World["service"]["runs"], "all">;
    readonly requests: Pick<World["service"]["requests"], "all">;
  };
};

export type Attempt = {
  readonly reason: string;
  readonly by: string;
  readonly at: number;
  kept: boolean;
};

type Reachable = Pick<Lane, "world" | "up">;

/** Called before an act of a person. A test may intervene here. */
export type Before = (act: "command" | "click" | "submit" | "end") => Promise<void>;

/** How long people wait before they look again when something did not work (ms). */
const PATIENCE_MS = 150;
/** How long people wait before they retype a failed command (ms). The bot looks for lost messages after 4 s (domain/posted-message.ts). */
const RETYPE_MS = 7_000;
/** Longer than any fault of the campaigns (ms). */
const CHECK_MS = 25_000;
/** Even on a loaded machine, only a bug makes a life take longer (ms). */
const LIFE_MS = 90_000;

let born = 0;

type Intent = Pick<Life, "verdict"> & {
  readonly together?: boolean;
  /** Whether the rule needs the approvals of two people. */
  readonly byTwo?: boolean;
  /** How long the rule holds an approval (ms). */
  readonly holdMs?: number;
  readonly readsMs?: number;
};

/** Gives the life its own channel and people, so that everything there belongs to it. */
export function newLife(
  { slack }: World,
  name: string,
  task: string,
  { verdict, together = false, byTwo = false, holdMs = 0, readsMs = 0 }: Intent,
): Life {
  born += 1;
  const { workspace } = slack;
  const [channel, requester, approver] = [`C0LIFE${born}`, `U0ASKS${born}`, `U0DECIDES${born}`];
  const second = byTwo ? `U0DECIDESTOO${born}` : null;
  const people = [requester, approver, ...(second === null ? [] : [second])];
  for (const id of people)
    workspace.people.set(id, {
      id,
      team: workspace.team.id,
      name: id,
      handle: id.toLowerCase(),
      kind: "member",
      deactivated: false,
    });
  const members = [...people, workspace.app.person];
  workspace.channels.set(channel, {
    id: channel,
    name: `life-${born}`,
    kind: "public",
    members,
    archived: false,
  });
  return {
    name,
    task: `${task} of life ${born}`,
    verdict,
    together,
    channel,
    requester,
    approver,
    second,
    holdMs,
    readsMs,
    commands: [],
    attempts: [],
    again: 0,
    askedAgain: new Set(),
    strikes: [],
  };
}

/** Notes that something of the bot is struck now. The caller calls the returned function when it is back. */
export function noteStrike({ clock }: World, { strikes }: Life): () => void {
  const struck: Struck = { from: clock.now(), to: Infinity };
  strikes.push(struck);
  return () => void (struck.to = clock.now());
}

export async function live(lane: Reachable, life: Life, before: Before): Promise<void> {
  const deadline = Date.now() + LIFE_MS;
  await before("command");
  await askFor(lane, life);
  while (!atRest(lane.world, life)) {
    if (Date.now() > deadline)
      throw new Error(`${life.name}: not at rest within ${LIFE_MS} ms\n${messageLines(lane, life)}`);
    if (!(await doNext(lane, life, before))) await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  }
}

async function askFor(lane: Reachable, life: Life): Promise<void> {
  const { acts, workspace } = lane.world.slack;
  for (let asked = false; !asked;) {
    await lane.up();
    const at = lane.world.clock.now();
    const { ok } = await acts.command(life.requester, life.channel, "/agent", `run ${life.task}`);
    const isOpen = (timeoutMs: number): Promise<boolean> =>
      workspace
        .until(() => openingsOf(lane.world, life).length > 0, { timeoutMs })
        .then(
          () => true,
          () => false,
        );
    asked = await isOpenInTime(lane, () => isOpen(RETYPE_MS));
    const answer = answerTo(lane.world, life);
    const ms = lane.world.clock.now() - at;
    life.commands.push(
      `${ok ? "delivered" : "failed"}, ${answer ?? "no answer"}, ${asked ? "open" : "not open"} after ${ms} ms`,
    );
    if (asked) return;
    // A requester who is asked to check first whether the run exists does so once the fault is over.
    if (answer === "answer:run-maybe-recorded") asked = await isOpen(CHECK_MS);
    else
      asked = ok && answer !== "answer:run-not-recorded" && answer?.startsWith("command-refusal:") !== true;
  }
}

/** If the bot is killed meanwhile, its time begins again at the next start, when people would see it work again. */
async function isOpenInTime(lane: Reachable, isOpen: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    const up = lane.up();
    await up;
    if (await isOpen()) return true;
    if (lane.up() === up) return false;
  }
}

/** Returns the id of the newest answer that only the requester sees. */
function answerTo({ slack: { workspace } }: World, { channel, requester }: Life): string | null {
  const mine = workspace.messages.findLast(
    (each) => each.channel === channel && each.ephemeralFor === requester,
  );
  return mine === undefined ? null : idOf(mine);
}

/** Resolves to false if there was nothing to do, or if it did not work. */
async function doNext(lane: Reachable, life: Life, before: Before): Promise<boolean> {
  let done = false;
  for (const person of approversOf(life)) done = (await decide(lane, life, person, before)) || done;
  return done || startAgain(lane, life);
}

export const approversOf = ({ approver, second }: Life): readonly string[] =>
  second === null ? [approver] : [approver, second];

async function decide(lane: Reachable, life: Life, person: string, before: Before): Promise<boolean> {
  const { workspace, acts } = lane.world.slack;
  const [modal] = workspace.viewsOf(person);
  if (modal === undefined) {
    if (life.together) return openTogether(lane, life, before);
    return !hasVoted(life, person) && clickCard(lane, life, person, before);
  }
  if (isForm(modal)) return submit(lane, life, modal, before);
  // A window without a form says what was recorded, or why nothing was. It is read and closed.
  await acts.close(person, modal.id);
  return false;
}

/** Returns whether the person was told that their approval is recorded. A person who was not told presses again. */
const hasVoted = ({ second, attempts }: Life, person: string): boolean =>
  second !== null && attempts.some(({ by, kept }) => kept && by === person);

const isForm = ({ view }: OpenView): boolean =>
  view["callback_id"] === "decision_modal" || view["callback_id"] === "review_modal";

/** Submits the form. If that fails, the form stays open and is submitted again with another reason. */
async function submit(lane: Reachable, life: Life, modal: OpenView, before: Before): Promise<boolean> {
  if (life.attempts.length === 0 && life.readsMs > 0)
    await new Promise((resolve) => setTimeout(resolve, life.readsMs));
  await before("submit");
  await lane.up();
  const reason = `reason ${life.attempts.length + 1} of ${life.task}`;
  const attempt: Attempt = { reason, by: modal.person, at: lane.world.clock.now(), kept: false };
  life.attempts.push(attempt);
  attempt.kept = await submitForm(lane.world.slack, modal, filled(life, modal, attempt.reason));
  return attempt.kept;
}

function filled({ verdict, together }: Life, { view }: OpenView, reason: string) {
  if (!together) return { reason: { reason_text: reason } };
  const ids = view.blocks.map(({ block_id }) => String(block_id)).filter((id) => id.startsWith("verdict:"));
  const chosen = Object.fromEntries(ids.map((id) => [id, { verdict_chosen: verdict }]));
  return { ...chosen, [`reason_${verdict}`]: { reason_text: reason } };
}

async function openTogether(lane: Reachable, life: Life, before: Before): Promise<boolean> {
  const { workspace, acts } = lane.world.slack;
  const { approver } = life;
  const opening = openingsOf(lane.world, life).at(-1);
  const open = messagesOf(lane.world, life).filter((each) => hasButton(each, "card_approve"));
  if (opening === undefined || !says("run:awaiting-approval", opening) || open.length < 2) return false;
  await before("click");
  await lane.up();
  await lane.world.slack.openHome(approver);
  const block = () =>
    workspace.homes
      .get(approver)
      ?.view.blocks.find((each) => JSON.stringify(each).includes("queue_review_run"));
  await workspace.until(() => block() !== undefined, { timeoutMs: 1_000 }).catch(() => undefined);
  const home = workspace.homes.get(approver);
  if (home === undefined || block() === undefined) return false;
  await acts.click(approver, { view: home.id }, String(block()?.block_id), "queue_review_run");
  const opened = workspace.until(() => workspace.viewsOf(approver).length > 0, { timeoutMs: 1_000 });
  return opened.then(
    () => true,
    () => false,
  );
}

async function clickCard(lane: Reachable, life: Life, person: string, before: Before): Promise<boolean> {
  const { workspace } = lane.world.slack;
  const action = life.verdict === "approve" ? "card_approve" : "card_deny";
  const opening = openingsOf(lane.world, life).at(-1);
  if (
    opening === undefined ||
    !says("run:awaiting-approval", opening) ||
    buttonOf(lane.world, life, action) === null
  )
    return false;
  await before("click");
  await lane.up();
  const button = buttonOf(lane.world, life, action);
  if (button === null) return false;
  await press(lane.world, person, button);
  const opened = workspace.until(() => workspace.viewsOf(person).length > 0, { timeoutMs: 1_000 });
  return opened.then(
    () => true,
    () => false,
  );
}

async function startAgain(lane: Reachable, life: Life): Promise<boolean> {
  const button = buttonOf(lane.world, life, "unknown_start_again");
  if (button === null) return false;
  const { workspace } = lane.world.slack;
  const answered = (timeoutMs: number): Promise<boolean> =>
    workspace
      .until(() => buttonOf(lane.world, life, "unknown_start_again") === null, { timeoutMs })
      .then(
        () => true,
        () => false,
      );
  await lane.up();
  // Presses on the same message count once, however late the message changes.
  if (!life.askedAgain.has(button.message.ts)) {
    life.askedAgain.add(button.message.ts);
    void answered(LIFE_MS).then((done) => done && (life.again += 1));
  }
  await press(lane.world, life.requester, button);
  return answered(3_000);
}

type Button = { readonly message: Message; readonly block: string; readonly action: string };

function press({ slack }: World, person: string, { message, block, action }: Button) {
  return slack.acts.click(person, { channel: message.channel, ts: message.ts }, block, action);
}

function buttonOf(world: World, life: Life, action: string): Button | null {
  for (const message of messagesOf(world, life)) {
    const block = message.blocks.find(({ elements }) => hasElement(elements, action));
    if (block?.block_id !== undefined) return { message, block: block.block_id, action };
  }
  return null;
}

const hasElement = (elements: unknown, action: string): boolean =>
  Array.isArray(elements) && elements.some((each: { action_id?: string }) => each.action_id === action);

const hasButton = ({ blocks }: Message, action: string): boolean =>
  blocks.some(({ elements }) => hasElement(elements, action));

/** Returns the bot's messages that everyone in the channel sees. */
export function messagesOf({ slack }: Evidence, { channel }: Life): Message[] {
  const { messages, app } = slack.workspace;
  return messages.filter(
    (each) => each.channel === channel && each.author === app.person && each.ephemeralFor === null,
  );
}

export function openingsOf(world: Evidence, life: Life): Message[] {
  return messagesOf(world, life).filter(({ thread }) => thread === null);
}

const ENDED = ["run:succeeded", "run:failed", "run:canceled"];

export const isOutcome = (message: Message): boolean => idOf(message)?.startsWith("outcome:") === true;
export const isCard = ({ broadcast }: Message): boolean => broadcast;

/** Returns whether the life is over: the newest thread shows the end, its cards show their outcome, and its file is there. */
function atRest(world: World, life: Life): boolean {
  // A press of Start again is repeated until it is answered. If the bot dies once it has stored the second run, the first still asks.
  if (life.askedAgain.size > 0 && buttonOf(world, life, "unknown_start_again") !== null) return false;
  const opening = openingsOf(world, life).at(-1);
  if (opening === undefined || !ENDED.includes(idOf(opening) ?? "")) return false;
  const replies = messagesOf(world, life).filter(({ thread }) => thread === opening.ts);
  const file = !life.task.startsWith("huge") || replies.some(({ files }) => files.length > 0);
  return file && replies.some(isOutcome) && replies.filter(isCard).every(isSettled);
}

/** Returns whether the card shows an outcome. The card of unreadable approvals has no state. */
const isSettled = (card: Message): boolean =>
  cardStateOf(card) === null
    ? idOf(card)?.startsWith("unreadable:") === true
    : isInState(card, "approved", "denied", "unconfirmed", "closed", "refused", "elsewhere");

function messageLines({ world }: Reachable, { channel }: Life): string {
  return world.slack.workspace.messages
    .filter((each) => each.channel === channel)
    .map(({ ts, thread, text, ephemeralFor }) => `${thread ?? ""} ${ts} ${ephemeralFor ?? ""} ${text}`)
    .join("\n");
}

/** Returns the receipts that the approver got in direct messages. If Slack's answer was lost, a receipt may be there twice. */
export function receiptsOf({ slack: { workspace } }: World, life: Life): Message[] {
  const direct = new Set(
    [...workspace.channels.values()]
      .filter(({ kind, members }) => kind === "dm" && members.includes(life.approver))
      .map(({ id }) => id),
  );
  return workspace.messages.filter(
    (each) => direct.has(each.channel) && idOf(each)?.startsWith("receipt:") === true,
  );
}
