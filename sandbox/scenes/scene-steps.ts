// What people do in a scene. Like real people, they wait for what they need and press again if asked to.

import { called, usableIn, viewWords } from "../control/surface-text.ts";
import type { Typed } from "../control/typed-values.ts";
import type { Run } from "../service/service-run.ts";
import type { Message, OpenView, PersonId } from "../slack/model.ts";
import { createUntil, type StageParts, type Until } from "./watch.ts";
import { says } from "./says.ts";

/** Where all scenes play. */
export const CHANNEL = "C0OPSAGENTS";

/** A run that a person asked for: its id at the service, and its first message in the channel. */
export type Asked = { readonly run: string; readonly opening: Message };

export type Opened = { readonly form: OpenView; readonly ms: number };

/** How long an accepted command may take to start a run (ms). */
const START_MS = 20_000;
const NEVER_ABORTED = new AbortController().signal;

/** How often a person presses a button while the app asks them to try again. */
const TRIES = 20;
/** The ids of the answers that ask a person to try again. */
const TRY_AGAIN = ["refusal:being-posted", "refusal:unverified"];

/** What one scene has started, and must clean up. */
type Begun = { readonly runs: string[]; readonly views: Set<string> };

/** Records that the scene looked at this message, and returns it. */
export type Seen = <M extends Pick<Message, "channel" | "ts">>(message: M) => M;

type StepParts = StageParts & { readonly seen: Seen };
type Moving = StepParts & { readonly until: Until; readonly begun: Begun };

export function createSceneSteps(parts: StepParts, until: Until) {
  const { signal, userActions } = parts;
  const moving: Moving = { ...parts, until, begun: { runs: [], views: new Set() } };
  /** Fills in the reason, or several fields, and submits. Returns null if the window closed, which means that the input is recorded. */
  const submit = (person: PersonId, typed: string | Typed, { id }: OpenView): Promise<OpenView | null> => {
    signal.throwIfAborted();
    return userActions.submit(person, typeof typed === "string" ? { Reason: typed } : typed, id);
  };
  return {
    ask: (person: PersonId, task: string): Promise<Asked> => ask(moving, person, task),
    /** Presses a card's button until its form opens, and resolves to the form. */
    open: (person: PersonId, card: Message, button: string): Promise<OpenView> =>
      open(moving, person, card, button),
    /** Like `open`, but rejects if a second press is needed. Also returns how long the form took (ms). */
    openAtOnce: async (person: PersonId, card: Message, button: string): Promise<Opened> => {
      const begun = performance.now();
      const form = await pressOnce(moving, person, card, button);
      if (form === null) throw new Error(`"${button}" needed a second press.`);
      return { form, ms: performance.now() - begun };
    },
    /** Presses a card's button that refuses this person, and resolves to the window that explains the refusal. */
    openRefusal: (person: PersonId, card: Message, button: string): Promise<OpenView> =>
      openRefusal(moving, person, card, button),
    submit,
    /** Presses a button that opens no window, and confirms if it asks for confirmation. */
    press: async (person: PersonId, message: Message, button: string): Promise<void> => {
      signal.throwIfAborted();
      await userActions.press(person, parts.seen(message), button);
    },
    /** Opens the person's Home tab, presses a button there when it appears, and resolves to the window that opens. */
    openAtHome: (person: PersonId, button: string): Promise<OpenView> => openAtHome(moving, person, button),
    /** Presses the button and submits the reason. Rejects if the form stays open. */
    decide: async (person: PersonId, card: Message, button: "Approve" | "Deny", reason: string) => {
      const left = await submit(person, reason, await open(moving, person, card, button));
      if (left !== null) throw new Error(`the form stayed open and said: ${viewWords(left)}`);
    },
    close: (person: PersonId, { id }: OpenView): Promise<void> => userActions.close(person, id),
    canDecide: ({ blocks }: Message): boolean => called(usableIn(blocks), "Approve") !== undefined,
    /** Closes this scene's open windows and cancels its runs. */
    undo: (): Promise<void> => undo(moving),
  };
}

async function undo({ slack, service, userActions, begun }: Moving): Promise<void> {
  const { runs, control } = service.service;
  const left = slack.workspace.views.filter(({ id }) => begun.views.has(id));
  for (const { person, id } of left) await userActions.close(person, id);
  for (const id of begun.runs) if (runs.get(id)?.ending === null) control.cancel(id, "The scene has ended.");
}

async function ask(moving: Moving, person: PersonId, task: string): Promise<Asked> {
  const { slack, service, userActions, signal, until, begun } = moving;
  const { runs } = service.service;
  signal.throwIfAborted();
  const before = new Set(runs.all().map(({ id }) => id));
  await userActions.command(person, CHANNEL, `/agent run ${task}`);
  const isNew = ({ id, input }: Run): boolean => input === task && !before.has(id);
  // Not aborted when the scene stops: a run that starts after the cleanup would never be canceled.
  const untilStarted = createUntil({ onChange: moving.onChange, signal: NEVER_ABORTED });
  const { id } = await untilStarted("the task to reach the service", () => runs.all().find(isNew), START_MS);
  begun.runs.push(id);
  const named = JSON.stringify(id).slice(1, -1);
  const opening = await until("the run's thread", () =>
    slack.workspace.messages.find(
      ({ thread, blocks }) => thread === null && JSON.stringify(blocks).includes(named),
    ),
  );
  return { run: id, opening: moving.seen(opening) };
}

async function open(moving: Moving, person: PersonId, card: Message, button: string): Promise<OpenView> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const form = await pressOnce(moving, person, card, button);
    if (form !== null) return form;
  }
  throw new Error(`"${button}" opened no usable form in ${TRIES} tries.`);
}

async function pressOnce(...pressed: Parameters<typeof windowAfter>): Promise<OpenView | null> {
  const opened = await windowAfter(...pressed);
  if (opened === null || canSubmit(opened)) return opened;
  throw new Error(`"${pressed[3]}" was refused: ${viewWords(opened)}`);
}

async function openAtHome(moving: Moving, person: PersonId, button: string): Promise<OpenView> {
  const { slack, userActions, signal, until, begun } = moving;
  const { workspace } = slack;
  signal.throwIfAborted();
  await userActions.openHome(person);
  const home = await until(`"${button}" on the Home tab`, () => {
    const drawn = workspace.homes.get(person);
    return drawn !== undefined && called(usableIn(drawn.view.blocks), button) !== undefined && drawn;
  });
  await userActions.press(person, { view: home.id }, button);
  const opened = await until(`the window after "${button}"`, () => workspace.viewsOf(person).at(-1));
  begun.views.add(opened.id);
  return opened;
}

async function openRefusal(...pressed: Parameters<typeof windowAfter>): Promise<OpenView> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const opened = await windowAfter(...pressed);
    if (opened !== null && canSubmit(opened)) throw new Error(`"${pressed[3]}" opened a form.`);
    if (opened !== null) return opened;
  }
  throw new Error(`"${pressed[3]}" opened no window in ${TRIES} tries.`);
}

const canSubmit = ({ view }: OpenView): boolean => view["submit"] !== undefined;

/** Presses the button and returns the window that opens. Returns null if a window (closed then) or a private notice says to press again. */
async function windowAfter(
  { slack, userActions, signal, until, begun, seen }: Moving,
  person: PersonId,
  card: Message,
  button: string,
): Promise<OpenView | null> {
  const { workspace } = slack;
  const topmost = (): OpenView | undefined => workspace.viewsOf(person).at(-1);
  const noticeCount = (): number =>
    workspace.messages.filter((message) => message.ephemeralFor === person).length;
  signal.throwIfAborted();
  const before = topmost()?.id;
  const noticesBefore = noticeCount();
  await userActions.press(person, seen(card), button);
  const opened = await until(`the window after "${button}"`, () => {
    const view = topmost();
    return view !== undefined && view.id !== before ? view : noticeCount() > noticesBefore && "notice";
  });
  if (opened === "notice") return null;
  begun.views.add(opened.id);
  if (canSubmit(opened) || !TRY_AGAIN.some((id) => says(id, opened.view))) return opened;
  await userActions.close(person, opened.id);
  return null;
}
