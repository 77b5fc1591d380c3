import { createMemory } from "../base/memory.ts";
import type { Memory } from "../base/memory.ts";
import { createNotifications } from "./notifications.ts";
import type { Notifications } from "./notifications.ts";
import { createUnread } from "./unread.ts";
import type { Unread } from "./unread.ts";
import type { Workspace } from "../../slack/workspace.ts";

/** What a look at the workspace needs to know beside the workspace itself. */
export type ViewState = {
  readonly unread: Unread;
  readonly memory: Memory;
  readonly notifications: Notifications;
  /** Another one whenever a message might look different though nothing in it has changed. */
  readonly epoch: () => string;
};

/** Each tab has a sight of its own; what has been read is the same for all. */
export function createViewStates(workspace: Workspace): () => ViewState {
  const unread = createUnread(workspace);
  const notifications = createNotifications(workspace);
  let changes = 0;
  workspace.onChange(({ kind }) => {
    if (kind === "person" || kind === "channel") changes += 1;
  });
  // A message may call a day «today».
  const epoch = (): string => `${changes} ${new Date(workspace.now()).toDateString()}`;
  return () => ({ unread, notifications, memory: createMemory(), epoch });
}
