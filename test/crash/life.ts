// One life of a run, lived by people: someone asks for it, someone decides what it asks, and whoever is told that something
// failed tries again. Everything that can be seen of it is kept, for the verdict.

import type { Message, OpenView } from "#sandbox/slack/model.ts";
import type { World } from "#sandbox/world/world.ts";
import { cardStateOf, idOf, isInState, says } from "../make/message-id.ts";
import type { Lane } from "./lane.ts";
import { submitForm } from "./submit-form.ts";

export type Life = {
  readonly name: string;
  readonly task: string;
  readonly verdict: "approve" | "deny";
  /** The approver decides all requests in one form, which they open on the Home tab. */
  readonly together: boolean;
  readonly channel: string;
  readonly requester: string;
  readonly approver: string;
  /** Another approver, where the rule wants the approvals of two people. Both press until they have approved it. */
  readonly second: string | null;
  readonly holdMs: number;
  /** What Slack and the bot said of each command that was typed. */
  readonly commands: string[];
  /** Reasons that were typed, each once; `kept` when the app answered that it is recorded. `at`: before the submit. */
  readonly attempts: Attempt[];
  /** How often the requester chose to start again. */
  again: number;
  /** The messages on which they chose so. */
  readonly askedAgain: Set<string>;
};

export type Attempt = {
  readonly reason: string;
  readonly by: string;
  readonly at: number;
  kept: boolean;
};

type Reachable = Pick<Lane, "world" | "up">;

/** What people are about to do; a test may stop the clock here. */
export type Before = (act: "command" | "click" | "submit" | "end") => Promise<void>;

/** People look again after this (ms) when something did not work. */
const PATIENCE_MS = 150;
/** After a command that failed: the bot looks for a message whose answer was lost after 4 s (domain/posted-message.ts). */
const RETYPE_MS = 7_000;
/** No fault of the campaigns takes longer. */
const CHECK_MS = 25_000;
/** Nothing but a fault takes this long on a loaded machine (ms). */
const LIFE_MS = 90_000;

let born = 0;

type Intent = Pick<Life, "verdict"> & {
  readonly together?: boolean;
  /** The rule wants the approvals of two people. */
  readonly byTwo?: boolean;
  /** How long the rule holds an approval (ms). */
  readonly holdMs?: number;
};

/** Channel and people of its own, so that whatever is there belongs to this life. */
export function newLife(
  { slack }: World,
  name: string,
  task: string,
  { verdict, together = false, byTwo = false, holdMs = 0 }: Intent,
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
    commands: [],
    attempts: [],
    again: 0,
    askedAgain: new Set(),
  };
}

export async function live(lane: Reachable, life: Life, before: Before): Promise<void> {
  const deadline = Date.now() + LIFE_MS;
  await before("command");
  await askFor(lane, life);
  while (!atRest(lane.world, life)) {
    if (Date.now() > deadline)
      throw new Error(`${life.name}: no rest within ${LIFE_MS} ms\n${told(lane, life)}`);
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
    const told = answerTo(lane.world, life);
    const ms = lane.world.clock.now() - at;
    life.commands.push(
      `${ok ? "heard" : "failed"}, ${told ?? "no answer"}, ${asked ? "open" : "not open"} after ${ms} ms`,
    );
    if (asked) return;
    // Who is asked to check first whether the run is there does so once whatever failed is over.
    if (told === "answer:run-maybe-recorded") asked = await isOpen(CHECK_MS);
    else asked = ok && told !== "answer:run-not-recorded" && told?.startsWith("command-refusal:") !== true;
  }
}

/** A bot that was killed meanwhile has its time from the next start: people would see it work again. */
async function isOpenInTime(lane: Reachable, isOpen: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    const up = lane.up();
    await up;
    if (await isOpen()) return true;
    if (lane.up() === up) return false;
  }
}

/** The id of the newest answer that only the requester sees. */
function answerTo({ slack: { workspace } }: World, { channel, requester }: Life): string | null {
  const mine = workspace.messages.findLast(
    (each) => each.channel === channel && each.ephemeralFor === requester,
  );
  return mine === undefined ? null : idOf(mine);
}

/** False: there was nothing to do, or it did not work. */
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
  // One that says why nothing was recorded, or that it is recorded, is read and closed.
  await acts.close(person, modal.id);
  return false;
}

/** As far as they were told. One who was not told presses again. */
const hasVoted = ({ second, attempts }: Life, person: string): boolean =>
  second !== null && attempts.some(({ by, kept }) => kept && by === person);

const isForm = ({ view }: OpenView): boolean =>
  view["callback_id"] === "decision_modal" || view["callback_id"] === "review_modal";

/** A form that could not be submitted stays open, and is submitted again with another reason. */
async function submit(lane: Reachable, life: Life, modal: OpenView, before: Before): Promise<boolean> {
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
  // However late the message changes, and however often they press it: they asked once more.
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

/** What everyone in the channel sees of the bot's. */
export function messagesOf({ slack }: World, { channel }: Life): Message[] {
  const { messages, app } = slack.workspace;
  return messages.filter(
    (each) => each.channel === channel && each.author === app.person && each.ephemeralFor === null,
  );
}

export function openingsOf(world: World, life: Life): Message[] {
  return messagesOf(world, life).filter(({ thread }) => thread === null);
}

const ENDED = ["run:succeeded", "run:failed", "run:canceled"];

export const isOutcome = (message: Message): boolean => idOf(message)?.startsWith("outcome:") === true;
export const isCard = ({ broadcast }: Message): boolean => broadcast;

/** Nothing more is awaited of anyone: the newest thread tells the end, its cards tell theirs, and its file is there. */
function atRest(world: World, life: Life): boolean {
  const opening = openingsOf(world, life).at(-1);
  if (opening === undefined || !ENDED.includes(idOf(opening) ?? "")) return false;
  const replies = messagesOf(world, life).filter(({ thread }) => thread === opening.ts);
  const file = !life.task.startsWith("huge") || replies.some(({ files }) => files.length > 0);
  return file && replies.some(isOutcome) && replies.filter(isCard).every(isSettled);
}

/** The card of unreadable approvals has no state of its own. */
const isSettled = (card: Message): boolean =>
  cardStateOf(card) === null
    ? idOf(card)?.startsWith("unreadable:") === true
    : isInState(card, "approved", "denied", "unconfirmed", "closed", "refused", "elsewhere");

function told({ world }: Reachable, { channel }: Life): string {
  return world.slack.workspace.messages
    .filter((each) => each.channel === channel)
    .map(({ ts, thread, text, ephemeralFor }) => `${thread ?? ""} ${ts} ${ephemeralFor ?? ""} ${text}`)
    .join("\n");
}

/** What the approver was told in direct messages about what they decided. One whose answer was lost may be there twice. */
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
