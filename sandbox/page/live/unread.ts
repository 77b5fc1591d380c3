import type { ChannelId, PersonId } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";

/** Which channels have something a person has not seen. What was there before the page began counts as seen. */
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
