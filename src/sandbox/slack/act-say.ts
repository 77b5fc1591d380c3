// A person writes a message, or opens the app's Home tab.

import { actor, actorIn, done, told } from "./acting.ts";
import type { Acting } from "./acting.ts";
import type { ActResult, Acts, Message, PersonId } from "./model.ts";
import type { Json } from "./rules-check.ts";
import { viewJson } from "./wire.ts";

/** Event name and channel type by the kind of channel. */
const kinds = { public: ["channels", "channel"], private: ["groups", "group"], dm: ["im", "im"] } as const;

export const createSay =
  (acting: Acting): Acts["say"] =>
  async (personId, channelId, text, thread) => {
    const found = actorIn(acting, personId, channelId);
    if (typeof found === "string") return told(found);
    if (text.trim() === "") return told("There is nothing to send.");
    const { workspace, events } = acting;
    const parent = thread === undefined ? null : workspace.messageAt(channelId, thread);
    if (parent === undefined) return told("This thread is gone.");
    const root = parent?.thread ?? parent?.ts ?? null;
    const message = workspace.post({ channel: channelId, author: personId, text, thread: root });
    acting.traffic.add("person", `says as ${personId}`, { channel: channelId, text });
    if (!found.channel.members.includes(workspace.app.person)) return done;
    const [name, type] = kinds[found.channel.kind];
    const event = { ...eventOf(message, found.person.team), channel_type: type };
    const mentioned = text.includes(`<@${workspace.app.person}>`);
    if (mentioned) void events.send("app_mention", { ...event, type: "app_mention" });
    void events.send(`message.${name}`, event);
    return done;
  };

const eventOf = (message: Message, team: string): Json => ({
  type: "message",
  user: message.author,
  text: message.text,
  ts: message.ts,
  channel: message.channel,
  team,
  ...(message.thread !== null && { thread_ts: message.thread }),
});

export const createOpenHome =
  (acting: Acting) =>
  async (personId: PersonId): Promise<ActResult> => {
    const person = actor(acting, personId);
    if (typeof person === "string") return told(person);
    const { workspace } = acting;
    const home = workspace.homes.get(personId);
    await acting.events.send("app_home_opened", {
      type: "app_home_opened",
      user: personId,
      channel: workspace.dmOf(personId).id,
      tab: "home",
      ...(home && { view: viewJson(home, workspace) }),
    });
    return done;
  };
