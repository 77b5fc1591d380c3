import type { ChannelId, Message, PersonId } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";
import { createEnvelopes } from "./envelopes.ts";
import { createMemory, type Memory } from "./tab-memory.ts";

/** What drawing a page needs in addition to the workspace. */
export type ViewState = {
  readonly unread: Unread;
  readonly memory: Memory;
  readonly notifications: Notifications;
  readonly envelopes: ReturnType<typeof createEnvelopes>;
  /** Changes whenever a message might look different even though nothing in it has changed. */
  readonly epoch: () => string;
};

/** Each tab has its own memory and its own count of envelopes. All tabs share what has been read. */
export function createViewStates(workspace: Workspace): () => ViewState {
  const unread = createUnread(workspace);
  const notifications = createNotifications(workspace);
  let changes = 0;
  workspace.onChange(({ kind }) => {
    if (kind === "person" || kind === "channel") changes += 1;
  });
  // The date is included, because a message may call a day "today".
  const epoch = (): string => `${changes} ${new Date(workspace.now()).toDateString()}`;
  return () => ({ unread, notifications, memory: createMemory(), envelopes: createEnvelopes(), epoch });
}

/** Knows which channels have messages that a person has not seen. Messages from before the page started count as seen. */
export function createUnread(workspace: Workspace) {
  const begun = workspace.messages.length;
  const seen = new Map<string, string>();
  const keyOf = (person: PersonId, channel: ChannelId): string => `${person} ${channel}`;
  const last = workspace.messages.at(begun - 1)?.ts ?? "";
  return {
    see(person: PersonId, channel: ChannelId): void {
      const newest = workspace.messages.findLast((one) => one.channel === channel);
      if (newest !== undefined) seen.set(keyOf(person, channel), newest.ts);
    },
    isUnread(person: PersonId, channel: ChannelId): boolean {
      const upTo = seen.get(keyOf(person, channel)) ?? last;
      const newest = workspace.messages.findLast(
        (one) => one.channel === channel && one.author !== person && (one.ephemeralFor ?? person) === person,
      );
      return newest !== undefined && newest.ts > upTo;
    },
  };
}

export type Unread = ReturnType<typeof createUnread>;

// What Slack would show on a person's lock screen: the `text` of each message as it was when it arrived. A later change causes no
// notification.

export type Notification = {
  readonly ts: string;
  readonly channel: ChannelId;
  readonly thread: string | null;
  readonly author: PersonId;
  readonly text: string;
  readonly at: number;
};

/** How many notifications are kept per person. Older messages can be read in their channels. */
const KEPT = 30;

export type Notifications = { readonly of: (person: PersonId) => readonly Notification[] };

/** The notifications of each person, newest first. Messages from before the page started cause none. */
function createNotifications(workspace: Workspace): Notifications {
  const byPerson = new Map<PersonId, readonly Notification[]>();
  workspace.onChange(({ message }) => {
    if (message?.type !== "posted") return;
    const { ts, channel, thread, author, text, at } = message.now;
    for (const person of notifiedBy(workspace, message.now)) {
      const all = [{ ts, channel, thread, author, text, at }, ...(byPerson.get(person) ?? [])];
      byPerson.set(person, all.slice(0, KEPT));
    }
  });
  return { of: (person) => byPerson.get(person) ?? [] };
}

/** A direct message notifies the other person, and a mention in a channel notifies members. An ephemeral message notifies no one. */
function notifiedBy(workspace: Workspace, message: Message): PersonId[] {
  const channel = workspace.channels.get(message.channel);
  if (channel === undefined || message.ephemeralFor !== null) return [];
  const said = `${message.text} ${JSON.stringify(message.blocks)}`;
  const groups = [...workspace.usergroups.values()].filter(
    ({ id }) => said.includes(`<!subteam^${id}`) || said.includes(`"usergroup_id":"${id}"`),
  );
  const isNotified = (person: PersonId): boolean =>
    channel.kind === "dm" ||
    said.includes(`<@${person}>`) ||
    said.includes(`"user_id":"${person}"`) ||
    groups.some(({ users }) => users.includes(person));
  return channel.members.filter((person) => person !== message.author && isNotified(person));
}
