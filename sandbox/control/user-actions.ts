// What people do in Slack, for scripts. Buttons and fields are found by their labels. An action that fails rejects with Slack's message.

import type { ActResult, Block, Message, OpenView, PersonId } from "../slack/model.ts";
import type { Slack } from "../slack/start-slack.ts";
import { called, missing, usableIn } from "./surface-text.ts";
import { type Typed, valuesOf } from "./typed-values.ts";

/** A message, a window by its id, or whatever the person currently sees: their topmost window or their Home tab. */
export type Place =
  | { readonly channel: string; readonly ts?: string | undefined }
  | { readonly view?: string | undefined };

/** What a person chooses with a press, and what they have typed into the window before it. */
type Filled = { readonly chosen?: unknown; readonly values?: Typed };

export type UserActions = ReturnType<typeof createUserActions>;

type Touched = Pick<Slack, "workspace" | "acts" | "shortcut"> & {
  /** Null for an app without a Home tab. */
  readonly openHome: Slack["openHome"] | null;
  readonly shortcuts: ReadonlyMap<string, { readonly name: string }>;
};

export function createUserActions(slack: Touched) {
  const { workspace, acts, openHome, shortcuts } = slack;
  return {
    say: async (person: PersonId, channel: string, text: string, thread?: string) =>
      accepted(await acts.say(person, channel, text, thread)),
    /** Types a line such as "/agent run …" into the composer. */
    command: async (person: PersonId, channel: string, line: string) => {
      const [, command, rest = ""] = /^(\/\S+)(?:\s([\s\S]*))?$/.exec(line) ?? [];
      if (command === undefined) throw new Error(`"${line}" is not a command: commands begin with a slash.`);
      accepted(await acts.command(person, channel, command, rest));
    },
    /** Presses a button, and confirms a confirmation dialog. Resolves to the place of the button. */
    press: async (person: PersonId, place: Place, button: string, filled: Filled = {}): Promise<At> => {
      const { at, blocks } = surfaceAt(slack, person, place, button);
      const usable = usableIn(blocks);
      const { block, element } = called(usable, button) ?? missing("button", button, usable);
      if (filled.values !== undefined) {
        const open = "view" in at ? workspace.viewById(at.view) : undefined;
        if (open === undefined) throw new Error("Only a window has fields to type into.");
        workspace.typeInto(open, valuesOf(workspace, open, filled.values));
      }
      accepted(await acts.click(person, at, block.block_id, String(element["action_id"]), filled.chosen));
      return at;
    },
    /** Submits a form with the given fields and earlier input. Resolves to the window if it stays open, or to null if it closes. */
    submit: async (person: PersonId, typed: Typed, view?: string): Promise<OpenView | null> => {
      const open = windowOf(slack, person, view);
      accepted(await acts.submit(person, open.id, valuesOf(workspace, open, typed)));
      return workspace.viewById(open.id) ?? null;
    },
    close: async (person: PersonId, view?: string) =>
      accepted(await acts.close(person, windowOf(slack, person, view).id)),
    /** Uses a shortcut in the menu of a message, by its name or callback id. */
    shortcut: async (person: PersonId, at: { channel: string; ts: string }, name: string) => {
      const [id] = [...shortcuts].find(([id, shortcut]) => id === name || shortcut.name === name) ?? [];
      if (id === undefined) throw new Error(`The app has no shortcut "${name}".`);
      accepted(await slack.shortcut(person, id, at));
    },
    openHome: async (person: PersonId) => {
      if (openHome === null) throw new Error("The app has no Home tab.");
      accepted(await openHome(person));
    },
  };
}

/** Returns the topmost window, or the window with this id. Throws if it is not open. */
function windowOf({ workspace }: Touched, person: PersonId, id?: string): OpenView {
  const found = workspace.viewsOf(person).findLast((view) => id === undefined || view.id === id);
  if (found !== undefined) return found;
  const name = workspace.people.get(person)?.name ?? person;
  throw new Error(`${name} has ${id === undefined ? "no window" : `no window ${id}`} open.`);
}

type Surface = { readonly at: At; readonly blocks: readonly Block[] };

function surfaceAt(slack: Touched, person: PersonId, place: Place, button: string): Surface {
  const { workspace } = slack;
  if ("channel" in place) {
    const { channel, ts, blocks } = messageWith(slack, person, place, button);
    return { at: { channel, ts }, blocks };
  }
  const home = workspace.homes.get(person);
  const atHome = place.view === undefined ? workspace.viewsOf(person).length === 0 : place.view === home?.id;
  const { id, view } = home !== undefined && atHome ? home : windowOf(slack, person, place.view);
  return { at: { view: id }, blocks: view.blocks };
}

function messageWith(
  { workspace }: Touched,
  person: PersonId,
  { channel, ts }: Extract<Place, { channel: string }>,
  button: string,
): Message {
  const seen = workspace.messages.filter(
    (message) => message.channel === channel && [null, person].includes(message.ephemeralFor),
  );
  const has = ({ blocks }: Message): boolean => called(usableIn(blocks), button) !== undefined;
  const found = ts === undefined ? seen.findLast(has) : seen.find((message) => message.ts === ts);
  if (found !== undefined) return found;
  throw new Error(
    ts === undefined ? `No message here has the button "${button}".` : `There is no message ${ts} here.`,
  );
}

type At = { channel: string; ts: string } | { view: string };

function accepted(result: ActResult): void {
  if (!result.ok) throw new Error(result.error);
}
