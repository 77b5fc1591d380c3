// What people can do. Every act ends in the workspace, in a payload to the app, or in words to the person.

import { createClick } from "./act-click.ts";
import { createCommand } from "./act-command.ts";
import { createSay } from "./act-say.ts";
import { createClose, createSubmit } from "./act-view.ts";
import type { Acting } from "./acting.ts";
import type { ActResult, Acts } from "./model.ts";

export const createActs = (acting: Acting): Acts => {
  /** A line of traffic for what the person did, and for what Slack told them about it. */
  const seen = async (what: string, detail: unknown, act: Promise<ActResult>): Promise<ActResult> => {
    const result = await act;
    acting.traffic.add("person", what, detail, result.ok ? null : result.told);
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
      seen(`${act[0]} types ${act[2]}`, { channel: act[1], text: act[3] }, command(...act)),
    click: (...act) => seen(`${act[0]} uses ${act[3]}`, { at: act[1], chosen: act[4] }, click(...act)),
    submit: (...act) => seen(`${act[0]} submits`, { view: act[1], values: act[2] }, submit(...act)),
    close: (...act) => seen(`${act[0]} closes`, { view: act[1] }, close(...act)),
  };
};
