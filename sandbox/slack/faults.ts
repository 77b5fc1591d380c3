// Bad days on request: what tests do to the Web API, and to people and channels behind the app's back.

import type { ChannelId, Message, PersonId } from "./model.ts";
import type { Workspace } from "./workspace.ts";

/** "after" means that the call took effect all the same. */
export type Fault =
  | { readonly error: string; readonly more?: Record<string, unknown> }
  | { readonly http: number; readonly when?: "before" | "after" }
  | { readonly retryAfter: number }
  | { readonly drop: "before" | "after" }
  | { readonly hang: "before" | "after" }
  | { readonly until: Promise<unknown>; readonly when?: "before" | "after" };

/** What the call was given. */
type Asked = { readonly [field: string]: unknown };
type Fits = (asked: Asked) => boolean;

export type Faults = ReturnType<typeof createFaults>;

export const createFaults = ({ workspace, scopes }: { workspace: Workspace; scopes: Set<string> }) => {
  const waiting: { method: string; fault: Fault; fits: Fits }[] = [];
  return {
    /** The next `times` calls of the method (that fit) meet this fault, after those asked for earlier. */
    next: (method: string, fault: Fault, times = 1, fits: Fits = () => true): void => {
      for (let count = 0; count < times; count++) waiting.push({ method, fault, fits });
    },
    take: (method: string, asked: Asked): Fault | undefined => {
      const index = waiting.findIndex((one) => one.method === method && one.fits(asked));
      return index < 0 ? undefined : waiting.splice(index, 1)[0]?.fault;
    },
    clear: (): void => {
      waiting.length = 0;
    },
    revokeScope: (scope: string): boolean => scopes.delete(scope),
    ...createUpheavals(workspace),
  };
};

const createUpheavals = (workspace: Workspace) => ({
  deactivate: (id: PersonId): void => {
    const person = workspace.people.get(id);
    if (person) person.deactivated = true;
    workspace.changed({ kind: "person", person: id });
  },
  makeGuest: (id: PersonId): void => {
    const person = workspace.people.get(id);
    if (person) person.kind = "guest";
    workspace.changed({ kind: "person", person: id });
  },
  removeFromChannel: (id: ChannelId, person: PersonId): void => {
    const channel = workspace.channels.get(id);
    if (channel) channel.members = channel.members.filter((member) => member !== person);
    workspace.changed({ kind: "channel", channel: id });
  },
  addToChannel: (id: ChannelId, person: PersonId): void => {
    workspace.channels.get(id)?.members.push(person);
    workspace.changed({ kind: "channel", channel: id, joined: person });
  },
  /** As an administrator of the workspace may, whoever wrote it. */
  deleteMessage: (message: Message): void => workspace.remove(message),
  archive: (id: ChannelId): void => {
    const channel = workspace.channels.get(id);
    if (channel) channel.archived = true;
    workspace.changed({ kind: "channel", channel: id });
  },
});
