// People, groups of them, and their reactions.

import { method } from "./method.ts";
import type { Args, Call, Method, Schema } from "./method.ts";
import type { Message } from "./model.ts";
import { publicMessage, visibleChannel } from "./places.ts";
import { Refused } from "./refused.ts";
import { personJson } from "./wire.ts";

const usersInfo = method(
  { scopes: ["users:read"], tier: "tier4", token: "bot" },
  { user: "string!", include_locale: "boolean" },
  (args, call) => {
    const person = call.workspace.people.get(args.user);
    if (!person) throw new Refused("user_not_found");
    return { user: personJson(person) };
  },
);

const groupUsers = method(
  { scopes: ["usergroups:read"], tier: "tier2", token: "bot" },
  { usergroup: "string!", include_disabled: "boolean" },
  (args, call) => {
    const users = call.workspace.usergroups.get(args.usergroup);
    if (!users) throw new Refused("no_such_subteam");
    return { users };
  },
);

const reaction = { channel: "string!", name: "string!", timestamp: "string!" } satisfies Schema;

const reacted = (args: Args<typeof reaction>, call: Call): Message => {
  if (!/^[a-z0-9_+'-]+$/.test(args.name)) throw new Refused("invalid_name");
  return publicMessage(call, visibleChannel(call, args.channel), args.timestamp);
};

const setReaction = (call: Call, message: Message, name: string, people: string[]): void => {
  const { [name]: _before, ...others } = message.reactions ?? {};
  message.reactions = people.length > 0 ? { ...others, [name]: people } : others;
  call.workspace.changed({ kind: "message", channel: message.channel });
};

const add = method({ scopes: ["reactions:write"], tier: "tier3", token: "bot" }, reaction, (args, call) => {
  const message = reacted(args, call);
  const people = message.reactions?.[args.name] ?? [];
  const own = call.workspace.app.person;
  if (people.includes(own)) throw new Refused("already_reacted");
  setReaction(call, message, args.name, [...people, own]);
  return {};
});

const remove = method(
  { scopes: ["reactions:write"], tier: "tier2", token: "bot" },
  reaction,
  (args, call) => {
    const message = reacted(args, call);
    const people = message.reactions?.[args.name] ?? [];
    const own = call.workspace.app.person;
    if (!people.includes(own)) throw new Refused("no_reaction");
    setReaction(
      call,
      message,
      args.name,
      people.filter((one) => one !== own),
    );
    return {};
  },
);

export const peopleMethods: Record<string, Method> = {
  "users.info": usersInfo,
  "usergroups.users.list": groupUsers,
  "reactions.add": add,
  "reactions.remove": remove,
};
