// What people do in Slack, for tests.

import type { ActResult, Message, OpenView } from "#sandbox/slack/model.ts";
import type { World } from "#sandbox/world/world.ts";
import type { Run } from "#sandbox/service/service-run.ts";
import type { Refusal } from "#src/domain/authorization.ts";
import { refusalPlain } from "#src/adapters/slack/blocks/refusal-words.ts";
import { UserId } from "#src/domain/ids.ts";
import { elementsOf, labelOf, modalSays, modalText, type Sight } from "./journey-sight.ts";

/** The answer to a click that arrives before the app knows that its card was posted. */
const TOO_EARLY = "refusal:being-posted";
/** The answer if Slack's look-up of the person took too long. This happens on a loaded machine, and people try again. */
const UNVERIFIED = "refusal:unverified";
/** The same answer to a command. */
const COMMAND_UNVERIFIED = "command-refusal:unverified";
/** The same answer as the error of a field. The form stays open. */
const NOT_NAMED: readonly string[] = [
  refusalPlain({ type: "unverified" }),
  refusalPlain({ type: "unverified", requester: UserId("U0ANA") }),
];
/** How often a form is submitted again at most. */
const MAX_TRIES = 5;

export type Acting = ReturnType<typeof createActing>;

export function createActing(world: World, sight: Sight) {
  const { slack, service } = world;
  const { acts } = slack;

  const command = (person: string, channel: string, text: string): Promise<ActResult> =>
    acts.command(person, channel, "/agent", text);

  /** Types a command and waits for what it brings. Types it again if Slack could not verify the person. */
  async function brings<T>(
    [person, channel, text]: Parameters<typeof command>,
    found: () => T | undefined | null | false,
  ): Promise<T> {
    const refusalsBefore = timesUnverified(person);
    accepted(await command(person, channel, text));
    const isRefused = (): boolean => timesUnverified(person) > refusalsBefore;
    const brought = await sight.until(() => found() || (isRefused() && UNVERIFIED));
    return brought === UNVERIFIED ? brings([person, channel, text], found) : brought;
  }

  /** Types `/agent run …` and waits for the thread's first message. */
  async function run(person: string, channel: string, task: string): Promise<Message> {
    const before = new Set(sight.posted(channel));
    return brings([person, channel, `run ${task}`], () =>
      sight.posted(channel).find((each) => each.thread === null && !before.has(each)),
    );
  }

  const timesUnverified = (person: string): number =>
    sight.privately(person).filter((each) => each.says(UNVERIFIED) || each.says(COMMAND_UNVERIFIED)).length;

  /** Starts a run, and waits until it asks for its first approval. */
  async function asking(
    person: string,
    channel: string,
    task: string,
  ): Promise<{ opening: Message; card: Message }> {
    const opening = await run(person, channel, task);
    return { opening, card: await sight.cardOf(opening) };
  }

  /** Presses the button with this label. */
  async function click(person: string, { channel, ts, blocks }: Message, label: string): Promise<ActResult> {
    const block = blocks.find((each) => elementsOf(each).some((one) => isButton(one, label)));
    const found = elementsOf(block).find((one) => isButton(one, label));
    if (block === undefined || found === undefined) throw new Error(`there is no button "${label}"`);
    return acts.click(person, { channel, ts }, String(block.block_id), String(found["action_id"]));
  }

  /** Types into the only field of the topmost modal and submits it. */
  async function fillModal(person: string, text: string): Promise<ActResult> {
    const open = await sight.modalOf(person);
    return acts.submit(person, open.id, inFirstField(open, text));
  }

  /** Fills in the modal and submits it, and submits it again while Slack cannot verify the person, as people do. */
  async function submitVerified(person: string, text: string): Promise<void> {
    const { id } = await sight.modalOf(person);
    const isUnverified = (): boolean =>
      Object.values(slack.workspace.viewById(id)?.errors ?? {}).some((error) => NOT_NAMED.includes(error));
    accepted(await fillModal(person, text));
    for (let tries = 0; tries < MAX_TRIES && isUnverified(); tries += 1)
      accepted(await fillModal(person, text));
  }

  /** Presses a button that opens a modal, and waits for it. */
  async function openForm(
    person: string,
    card: Message,
    label: "Approve" | "Deny" | "Read in full",
  ): Promise<OpenView> {
    const before = sight.viewOf(person)?.id;
    accepted(await click(person, card, label));
    const opened = await sight.until(() => {
      const view = sight.viewOf(person);
      return view !== undefined && view.id !== before && view;
    });
    // A card is visible a moment before the app receives Slack's answer for it. Click again, as people do.
    const again = modalSays(opened, TOO_EARLY) || modalSays(opened, UNVERIFIED);
    return again ? openForm(person, card, label) : opened;
  }

  /** Presses Approve or Deny, and expects this private refusal instead of the form. */
  async function isRefused(
    person: string,
    card: Message,
    label: "Approve" | "Deny",
    refusal: Refusal["type"],
  ): Promise<void> {
    const refusalsBefore = timesUnverified(person);
    accepted(await click(person, card, label));
    const answers = (): boolean => sight.privately(person).some((each) => each.says(`refusal:${refusal}`));
    const tooEarly = (): boolean =>
      sight.privately(person).some((each) => each.says(TOO_EARLY)) ||
      timesUnverified(person) > refusalsBefore;
    await sight.until(() => answers() || tooEarly());
    if (answers()) return;
    const view = sight.viewOf(person);
    if (view !== undefined) await acts.close(person, view.id);
    await isRefused(person, card, label, refusal);
  }

  /** Decides like a person: presses the button and submits the reason. Closes the window of a held approval, which has Undo. */
  async function decide(
    person: string,
    card: Message,
    label: "Approve" | "Deny",
    reason: string,
  ): Promise<void> {
    const { id } = await openForm(person, card, label);
    await submitVerified(person, reason);
    const still = slack.workspace.viewById(id);
    if (still !== undefined && modalSays(still, "form:held")) accepted(await acts.close(person, id));
    else if (still !== undefined)
      throw new Error(`the modal stays open: ${JSON.stringify([still.errors, still.view])}`);
  }

  /** Resolves to the service's run of this task when it exists and `fits` returns true. */
  async function runAt(task: string, fits: (run: Run) => boolean = () => true): Promise<Run> {
    await service.requests.until(() => service.runs.all().some(({ input }) => input === task), {
      timeoutMs: 20_000,
    });
    const id = service.runs.all().find(({ input }) => input === task)?.id ?? "";
    return service.runs.until(id, fits, { timeoutMs: 20_000 });
  }

  /** Delivers a payload, which is a copy of an earlier one or forged. */
  const deliver = (body: Record<string, unknown>) => slack.deliverRaw({ kind: "interactive", body });
  const deliverCommand = (body: Record<string, unknown>) =>
    slack.deliverRaw({ kind: "slash_commands", body });

  /** Submits a modal as a person, without the checks of Slack's client. Another person may have opened it. */
  const forgeSubmit = (person: string, { id, hash, view }: OpenView, reason: string | null) =>
    deliver({
      type: "view_submission",
      user: { id: person, username: "x", name: "x", team_id: slack.workspace.team.id },
      team: { id: slack.workspace.team.id, domain: slack.workspace.team.domain },
      api_app_id: slack.workspace.app.id,
      token: "deprecated",
      trigger_id: "1.2.forged",
      response_urls: [],
      view: { ...view, id, hash, state: { values: valuesOf(view.blocks, reason) } },
    });

  return {
    brings,
    command,
    run,
    asking,
    click,
    isRefused,
    fillModal,
    submitVerified,
    openForm,
    decide,
    runAt,
    deliver,
    deliverCommand,
    forgeSubmit,
  };
}

/** Returns the submitted values of a form with this text in its first field. */
export function inFirstField(
  open: OpenView,
  text: string,
): { [block: string]: { [action: string]: string } } {
  const input = open.view.blocks.find(({ type }) => type === "input");
  if (input === undefined) throw new Error(`this modal has no field: ${modalText(open)}`);
  const { action_id } = input["element"] as { action_id: string };
  return { [String(input.block_id)]: { [action_id]: text } };
}

function valuesOf(blocks: OpenView["view"]["blocks"], value: string | null): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { block_id = "", element } of blocks.filter(({ type }) => type === "input")) {
    const { action_id, type } = element as { action_id: string; type: string };
    values[block_id] = { [action_id]: { type, value } };
  }
  return values;
}

function isButton(element: { readonly [name: string]: unknown }, label: string): boolean {
  return element["type"] === "button" && labelOf(element) === label;
}

export function accepted(result: ActResult): void {
  if (!result.ok) throw new Error(`Slack refused the act: ${result.error}`);
}
