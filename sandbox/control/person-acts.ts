// Acts that people do in Slack.

import { z } from "zod";
import type { Slack } from "../slack/start-slack.ts";
import { type ControlAct, controlAct } from "./control-api.ts";
import type { UserActions, Place } from "./user-actions.ts";
import { channelCalled, personCalled } from "./find-by-name.ts";

const person = z.string().min(1).describe("id, handle or name");
const channel = z.string().min(1).describe("id or name; `dm:ben` for Ben's direct messages with the app");
const view = z.string().exactOptional().describe("the id of a window; default: the topmost");

export function personActs(
  { workspace }: Pick<Slack, "workspace">,
  userActions: UserActions,
): readonly ControlAct[] {
  const who = (name: string): string => personCalled(workspace, name).id;
  const where = (name: string): string => channelCalled(workspace, name).id;
  return [
    controlAct(
      {
        name: "person.say",
        what: "writes a message",
        args: z.strictObject({
          person,
          channel,
          text: z.string(),
          thread: z.string().exactOptional().describe("the `ts` of the thread's first message"),
        }),
      },
      ({ person, channel, text, thread }) => userActions.say(who(person), where(channel), text, thread),
    ),
    controlAct(
      {
        name: "person.command",
        what: "types a slash command",
        args: z.strictObject({
          person,
          channel,
          text: z.string().describe("the whole line, such as `/agent pending`"),
        }),
      },
      ({ person, channel, text }) => userActions.command(who(person), where(channel), text),
    ),
    pressAct(who, where, userActions),
    shortcutAct(who, where, userActions),
    ...windowActs(who, userActions),
  ];
}

type Named = (name: string) => string;

function pressAct(who: Named, where: Named, userActions: UserActions): ControlAct {
  return controlAct(
    {
      name: "person.press",
      what: "presses a button or makes a choice: in a channel, in a window, or in the topmost window or the Home tab of the person",
      args: z.strictObject({
        person,
        button: z.string().min(1).describe("its label or action id"),
        channel: channel.exactOptional(),
        ts: z.string().exactOptional().describe("the message; default: the newest with this button"),
        view,
        chosen: z
          .unknown()
          .exactOptional()
          .describe("for a choice: the value of the option, or a list of values"),
        values: z
          .record(z.string(), z.unknown())
          .exactOptional()
          .describe("in a window: what is typed into its fields before, as for `person.submit`"),
      }),
    },
    ({ person, button, chosen, values, ...at }) =>
      userActions.press(who(person), placeOf(at, where), button, { chosen, ...(values && { values }) }),
  );
}

function shortcutAct(who: Named, where: Named, userActions: UserActions): ControlAct {
  return controlAct(
    {
      name: "person.shortcut",
      what: "uses one of the app's shortcuts in the menu of a message",
      args: z.strictObject({
        person,
        shortcut: z.string().min(1).describe("its name or callback id"),
        channel,
        ts: z.string().describe("the message"),
      }),
    },
    ({ person, shortcut, channel, ts }) =>
      userActions.shortcut(who(person), { channel: where(channel), ts }, shortcut),
  );
}

function windowActs(who: Named, userActions: UserActions): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "person.submit",
        what: "fills in the fields of a form and submits it",
        args: z.strictObject({
          person,
          values: z
            .record(z.string(), z.unknown())
            .default({})
            .describe(
              "the values, keyed by the label or id of the field; or keyed by block id, objects keyed by action id; people and channels by id or name",
            ),
          view,
        }),
      },
      async ({ person, values, view }) => {
        const left = await userActions.submit(who(person), values, view);
        return { closed: left === null, ...(left !== null && { view: left.id, errors: left.errors }) };
      },
    ),
    controlAct(
      { name: "person.close", what: "closes a window", args: z.strictObject({ person, view }) },
      ({ person, view }) => userActions.close(who(person), view),
    ),
    controlAct(
      { name: "person.openHome", what: "opens the app's Home tab", args: z.strictObject({ person }) },
      ({ person }) => userActions.openHome(who(person)),
    ),
  ];
}

type At = { readonly channel?: string; readonly ts?: string; readonly view?: string };

function placeOf({ channel, ts, view }: At, where: Named): Place {
  if (channel === undefined && ts !== undefined)
    throw new Error("A `ts` needs the `channel` of the message.");
  if (channel !== undefined && view !== undefined)
    throw new Error("Give either a `channel` or a `view`, not both.");
  return channel === undefined ? { view } : { channel: where(channel), ts };
}
