// Methods for reactions to messages.

import { Refused } from "./errors.ts";
import { type Args, type Call, method, type Method, type Schema } from "./method.ts";
import type { Message } from "./model.ts";
import { publicMessage, visibleChannel } from "./places.ts";

const reaction = { channel: "string!", name: "string!", timestamp: "string!" } satisfies Schema;

function reacted(args: Args<typeof reaction>, call: Call): Message {
  if (!/^[a-z0-9_+'-]+(::skin-tone-[2-6])?$/.test(args.name)) throw new Refused("invalid_name");
  const channel = visibleChannel(call, args.channel);
  if (channel.archived) throw new Refused("is_archived");
  return publicMessage(call, channel, args.timestamp);
}

function setReaction(call: Call, message: Message, name: string, people: string[]): void {
  const { [name]: _before, ...others } = message.reactions ?? {};
  message.reactions = people.length > 0 ? { ...others, [name]: people } : others;
  call.workspace.changed({ kind: "message", channel: message.channel });
}

const described = { scopes: ["reactions:write"], token: "bot", source: "slack-api-ref" } as const;

const add = method({ ...described, tier: "tier3" }, reaction, (args, call) => {
  const message = reacted(args, call);
  const people = message.reactions?.[args.name] ?? [];
  const own = call.workspace.app.person;
  if (people.includes(own)) throw new Refused("already_reacted");
  setReaction(call, message, args.name, [...people, own]);
  return {};
});

const remove = method({ ...described, tier: "tier2" }, reaction, (args, call) => {
  const message = reacted(args, call);
  const people = message.reactions?.[args.name] ?? [];
  const own = call.workspace.app.person;
  if (!people.includes(own)) throw new Refused("no_reaction");
  const others = people.filter((one) => one !== own);
  setReaction(call, message, args.name, others);
  return {};
});

export const reactionMethods: Record<string, Method> = { "reactions.add": add, "reactions.remove": remove };
