// Acts on Slack: its faults, and changes that people make without the app.

import { z } from "zod";
import { methods } from "../slack/methods.ts";
import type { Channel } from "../slack/model.ts";
import type { Slack } from "../slack/server.ts";
import type { Workspace } from "../slack/workspace.ts";
import { type ControlAct, controlAct } from "./control-api.ts";
import { slackFault } from "./fault-args.ts";
import { channelCalled, personCalled } from "./find-by-name.ts";

const nothing = z.strictObject({});

export function slackActs(slack: Slack): readonly ControlAct[] {
  return [
    ...faultActs(slack),
    ...wireActs(slack),
    ...accountActs(slack),
    ...channelActs(slack),
    ...removalActs(slack),
  ];
}

function faultActs({ faults }: Slack): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "slack.fault",
        what: "the next calls of a Web API method meet a fault",
        args: z.strictObject({
          method: z.string().describe("such as `chat.postMessage`"),
          fault: slackFault,
          times: z.number().int().min(1).max(10_000).default(1).describe("how many calls it strikes"),
        }),
      },
      ({ method, fault, times }) => {
        if (!methods.has(method)) throw new Error(`The sandbox's Slack has no method ${method}.`);
        faults.next(method, fault, times);
      },
    ),
    controlAct(
      { name: "slack.clearFaults", what: "no fault of Slack strikes any more", args: nothing },
      faults.clear,
    ),
  ];
}

function wireActs({ faults, sockets, rateLimits }: Slack): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "slack.disconnect",
        what: "asks every socket of the app to go away and come back",
        args: z.strictObject({
          reason: z.enum(["warning", "refresh_requested", "link_disabled"]).default("refresh_requested"),
        }),
      },
      ({ reason }) => sockets.disconnect(reason),
    ),
    controlAct(
      { name: "slack.dropSockets", what: "cuts the app's sockets without a word", args: nothing },
      sockets.drop,
    ),
    controlAct(
      {
        name: "slack.rateLimits",
        what: "whether too many calls are refused with 429",
        args: z.strictObject({ on: z.boolean() }),
      },
      ({ on }) => rateLimits(on),
    ),
    controlAct(
      {
        name: "slack.revokeScope",
        what: "takes a scope from the bot's token",
        args: z.strictObject({ scope: z.string().describe("such as `files:write`") }),
      },
      ({ scope }) => {
        if (!faults.revokeScope(scope)) throw new Error(`The bot's token has no scope ${scope}.`);
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
        what: "an account is switched off",
        args: z.strictObject({ person }),
      },
      ({ person }) => {
        const { id, name, kind, deactivated } = personCalled(workspace, person);
        if (kind === "bot") throw new Error(`${name} is an app: it has no account that is switched off.`);
        if (deactivated) throw new Error(`${name} is deactivated already.`);
        faults.deactivate(id);
      },
    ),
    controlAct(
      { name: "slack.makeGuest", what: "a member becomes a guest", args: z.strictObject({ person }) },
      ({ person }) => {
        const { id, name, kind } = personCalled(workspace, person);
        if (kind === "guest") throw new Error(`${name} is a guest already.`);
        if (kind !== "member")
          throw new Error(`${name} is ${NO_MEMBER[kind]}: only a member can become a guest.`);
        faults.makeGuest(id);
      },
    ),
  ];
}

const NO_MEMBER = { bot: "an app", outsider: "from another company" } as const;

function channelActs({ workspace, faults }: Slack): readonly ControlAct[] {
  const who = (given: string) => personCalled(workspace, given);
  const where = (given: string) => openChannel(workspace, given);
  return [
    controlAct(
      {
        name: "slack.addToChannel",
        what: "a person or the app joins a channel",
        args: z.strictObject({ channel, person }),
      },
      ({ channel, person }) => {
        const [joined, joins] = [where(channel), who(person)];
        if (joined.members.includes(joins.id))
          throw new Error(`${joins.name} is in #${joined.name} already.`);
        faults.addToChannel(joined.id, joins.id);
      },
    ),
    controlAct(
      {
        name: "slack.removeFromChannel",
        what: "a person or the app is put out of a channel",
        args: z.strictObject({ channel, person }),
      },
      ({ channel, person }) => {
        const [left, leaves] = [where(channel), who(person)];
        if (!left.members.includes(leaves.id)) throw new Error(`${leaves.name} is not in #${left.name}.`);
        faults.removeFromChannel(left.id, leaves.id);
      },
    ),
  ];
}

function removalActs({ workspace, faults }: Slack): readonly ControlAct[] {
  const where = (given: string) => openChannel(workspace, given);
  return [
    controlAct(
      {
        name: "slack.deleteMessage",
        what: "an administrator deletes a message",
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
      { name: "slack.archive", what: "a channel is archived", args: z.strictObject({ channel }) },
      ({ channel }) => {
        const { id, name, archived } = where(channel);
        if (archived) throw new Error(`#${name} is archived already.`);
        faults.archive(id);
      },
    ),
  ];
}

function openChannel(workspace: Workspace, given: string): Channel {
  const found = channelCalled(workspace, given);
  if (found.kind === "dm") throw new Error("These are direct messages, and not a channel.");
  return found;
}
