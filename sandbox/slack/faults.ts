// Faults on request: tests make the Web API fail, and change people and channels without the app.

import type { ChannelId, Message, PersonId } from "./model.ts";
import type { Workspace } from "./workspace.ts";

export type RawAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
};

/** "after": the call takes effect all the same. */
export type Fault =
  | { readonly error: string; readonly more?: Record<string, unknown> }
  | { readonly http: number; readonly when?: "before" | "after" }
  | { readonly retryAfter: number }
  | { readonly drop: "before" | "after" }
  | { readonly hang: "before" | "after" }
  /** In place of Slack's answer, as a proxy or a load balancer gives it. */
  | { readonly answer: RawAnswer; readonly when?: "before" | "after" }
  /** Half of the answer arrives. */
  | { readonly cut: true }
  /** The answer arrives character by character, one every so many milliseconds. */
  | { readonly drip: number }
  | { readonly until: Promise<unknown>; readonly when?: "before" | "after" };

/** The arguments of the call. */
type Asked = { readonly [field: string]: unknown };
type Fits = (asked: Asked) => boolean;

export type Faults = ReturnType<typeof createFaults>;

export const createFaults = ({ workspace, scopes }: { workspace: Workspace; scopes: Set<string> }) => {
  const waiting: { method: string; fault: Fault; fits: Fits }[] = [];
  return {
    /** Strikes the next `times` calls of the method that match, after the faults that were added earlier. */
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
  /** An administrator of the workspace may delete anyone's message. */
  deleteMessage: (message: Message): void => workspace.remove(message),
  archive: (id: ChannelId): void => {
    const channel = workspace.channels.get(id);
    if (channel) channel.archived = true;
    workspace.changed({ kind: "channel", channel: id });
  },
});
