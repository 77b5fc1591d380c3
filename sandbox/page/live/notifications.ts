// What Slack would show on a person's lock screen: the `text` of each message as it was when it came. A later change notifies
// nobody.
import type { ChannelId, Message, PersonId } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";

export type Notification = {
  readonly ts: string;
  readonly channel: ChannelId;
  readonly thread: string | null;
  readonly author: PersonId;
  readonly text: string;
  readonly at: number;
};

/** A lock screen shows the newest; older ones are in their channels (count per person). */
const KEPT = 30;

export type Notifications = { readonly of: (person: PersonId) => readonly Notification[] };

/** Newest first. What was there before the page began has notified nobody. */
export function createNotifications(workspace: Workspace): Notifications {
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

/** Direct messages notify the other; in a channel a mention notifies its members. A message for one person alone is not pushed. */
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
