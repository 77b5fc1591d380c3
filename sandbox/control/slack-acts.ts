// Acts on Slack: faults, and changes that people make without the app.

import { z } from "zod";
import { methods } from "../slack/methods.ts";
import type { Channel } from "../slack/model.ts";
import type { Slack } from "../slack/start-slack.ts";
import type { Workspace } from "../slack/workspace.ts";
import { type ControlAct, controlAct } from "./control-api.ts";
import { slackFault } from "./fault-args.ts";
import { channelCalled, personCalled } from "./find-by-name.ts";

const nothing = z.strictObject({});

/** Calls `changed` after every change that no other event reports. */
export function slackActs(slack: Slack, changed: () => void): readonly ControlAct[] {
  return [
    ...faultActs(slack, changed),
    ...wireActs(slack),
    ...limitActs(slack, changed),
    ...accountActs(slack),
    ...channelActs(slack),
    ...removalActs(slack),
  ];
}

function faultActs({ faults }: Slack, changed: () => void): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "slack.fault",
        what: "injects a fault into the next calls of a Web API method",
        args: z.strictObject({
          method: z.string().describe("such as `chat.postMessage`"),
          fault: slackFault,
          times: z.number().int().min(1).max(10_000).default(1).describe("how many calls it affects"),
        }),
      },
      ({ method, fault, times }) => {
        if (!methods.has(method)) throw new Error(`The sandbox's Slack has no method ${method}.`);
        faults.next(method, fault, times);
        changed();
      },
    ),
    controlAct({ name: "slack.clearFaults", what: "ends all faults of Slack", args: nothing }, () => {
      faults.clear();
      changed();
    }),
  ];
}

function wireActs({ sockets }: Slack): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "slack.disconnect",
        what: "asks the app to close and reopen all its sockets",
        args: z.strictObject({
          reason: z.enum(["warning", "refresh_requested", "link_disabled"]).default("refresh_requested"),
        }),
      },
      ({ reason }) => sockets.disconnect(reason),
    ),
    controlAct(
      { name: "slack.dropSockets", what: "cuts the app's sockets without a warning", args: nothing },
      sockets.drop,
    ),
  ];
}

function limitActs({ faults, rateLimits }: Slack, changed: () => void): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "slack.rateLimits",
        what: "turns rate limits (429) on or off",
        args: z.strictObject({ on: z.boolean() }),
      },
      ({ on }) => {
        rateLimits.enforce(on);
        changed();
      },
    ),
    controlAct(
      {
        name: "slack.revokeScope",
        what: "removes a scope from the bot's token",
        args: z.strictObject({ scope: z.string().describe("such as `files:write`") }),
      },
      ({ scope }) => {
        if (!faults.revokeScope(scope)) throw new Error(`The bot's token has no scope ${scope}.`);
        changed();
      },
    ),
  ];
}

const person = z.string().min(1).describe("id, handle or name");
const channel = z.string().min(1).describe("id or name");

function accountActs({ workspace, faults }: Slack): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "slack.deactivate",
        what: "deactivates an account",
        args: z.strictObject({ person }),
      },
      ({ person }) => {
        const { id, name, kind, deactivated } = personCalled(workspace, person);
        if (kind === "bot")
          throw new Error(`${name} is an app: only people have accounts that can be deactivated.`);
        if (deactivated) throw new Error(`${name} is already deactivated.`);
        faults.deactivate(id);
      },
    ),
    controlAct(
      { name: "slack.makeGuest", what: "makes a member a guest", args: z.strictObject({ person }) },
      ({ person }) => {
        const { id, name, kind } = personCalled(workspace, person);
        if (kind === "guest") throw new Error(`${name} is already a guest.`);
        if (kind !== "member")
          throw new Error(`${name} is ${NON_MEMBERS[kind]}: only a member can become a guest.`);
        faults.makeGuest(id);
      },
    ),
  ];
}

const NON_MEMBERS = { bot: "an app", outsider: "from another company" } as const;

function channelActs({ workspace, faults }: Slack): readonly ControlAct[] {
  const who = (name: string) => personCalled(workspace, name);
  const where = (name: string) => openChannel(workspace, name);
  return [
    controlAct(
      {
        name: "slack.addToChannel",
        what: "adds a person or the app to a channel",
        args: z.strictObject({ channel, person }),
      },
      ({ channel, person }) => {
        const to = where(channel);
        const joining = who(person);
        if (to.members.includes(joining.id)) throw new Error(`${joining.name} is already in #${to.name}.`);
        faults.addToChannel(to.id, joining.id);
      },
    ),
    controlAct(
      {
        name: "slack.removeFromChannel",
        what: "removes a person or the app from a channel",
        args: z.strictObject({ channel, person }),
      },
      ({ channel, person }) => {
        const from = where(channel);
        const leaving = who(person);
        if (!from.members.includes(leaving.id)) throw new Error(`${leaving.name} is not in #${from.name}.`);
        faults.removeFromChannel(from.id, leaving.id);
      },
    ),
  ];
}

function removalActs({ workspace, faults }: Slack): readonly ControlAct[] {
  const where = (name: string) => openChannel(workspace, name);
  return [
    controlAct(
      {
        name: "slack.deleteMessage",
        what: "deletes a message, as an administrator",
        args: z.strictObject({ channel, ts: z.string().min(1).describe("the message's `ts`") }),
      },
      ({ channel, ts }) => {
        const { id, name } = where(channel);
        const message = workspace.messageAt(id, ts);
        if (message === undefined) throw new Error(`There is no message ${ts} in #${name}.`);
        faults.deleteMessage(message);
      },
    ),
    controlAct(
      { name: "slack.archive", what: "archives a channel", args: z.strictObject({ channel }) },
      ({ channel }) => {
        const { id, name, archived } = where(channel);
        if (archived) throw new Error(`#${name} is already archived.`);
        faults.archive(id);
      },
    ),
  ];
}

function openChannel(workspace: Workspace, name: string): Channel {
  const found = channelCalled(workspace, name);
  if (found.kind === "dm") throw new Error("These are direct messages, not a channel.");
  return found;
}
