// What people can do. Every act changes the workspace, sends the app a payload, or answers the person.

import { createClick } from "./act-click.ts";
import { createCommand } from "./act-command.ts";
import { createSay } from "./act-say.ts";
import { createClose, createSubmit } from "./act-view.ts";
import type { Acting } from "./acting.ts";
import type { ActResult, Acts, PersonId } from "./model.ts";

export const createActs = (acting: Acting): Acts => {
  /** Adds a line of traffic for the act, and one for Slack's own answer to the person. */
  const seen = async (
    person: PersonId,
    { does, detail }: { does: string; detail: unknown },
    act: () => Promise<ActResult>,
  ): Promise<ActResult> => {
    const { traffic } = acting;
    const answers = traffic.add("person", `${person} ${does}`, detail);
    const result = await act();
    if (!result.ok) traffic.add("slack", `answers ${person}`, {}, result.error, { answers });
    return result;
  };
  const [command, click, submit, close] = [
    createCommand(acting),
    createClick(acting),
    createSubmit(acting),
    createClose(acting),
  ];
  return {
    say: createSay(acting),
    command: (...act) =>
      seen(act[0], { does: `types ${act[2]}`, detail: { channel: act[1], text: act[3] } }, () =>
        command(...act),
      ),
    click: (...act) =>
      seen(act[0], { does: `uses ${act[3]}`, detail: { at: act[1], chosen: act[4] } }, () => click(...act)),
    submit: (...act) =>
      seen(act[0], { does: "submits", detail: { view: act[1], values: act[2] } }, () => submit(...act)),
    close: (...act) => seen(act[0], { does: "closes", detail: { view: act[1] } }, () => close(...act)),
  };
};
