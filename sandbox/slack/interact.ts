// What people can do. An act changes the workspace, sends a payload to the app, or answers the person.

import { createClick } from "./act-click.ts";
import { createCommand } from "./act-command.ts";
import { createSay } from "./act-say.ts";
import { createClose, createSubmit } from "./act-view.ts";
import type { Acting } from "./acting.ts";
import type { ActResult, Acts, PersonId } from "./model.ts";

export function createActs(acting: Acting): Acts {
  /** Logs the act, and logs Slack's answer to the person if the act fails. */
  const logged = async (
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
      logged(act[0], { does: `types ${act[2]}`, detail: { channel: act[1], text: act[3] } }, () =>
        command(...act),
      ),
    click: (...act) =>
      logged(act[0], { does: `uses ${act[3]}`, detail: { at: act[1], chosen: act[4] } }, () => click(...act)),
    submit: (...act) =>
      logged(act[0], { does: "submits", detail: { view: act[1], values: act[2] } }, () => submit(...act)),
    close: (...act) => logged(act[0], { does: "closes", detail: { view: act[1] } }, () => close(...act)),
  };
}
