// Faults on request: make the Web API fail, and change people and channels without the app.

import type { ChannelId, Message, PersonId } from "./model.ts";
import type { Workspace } from "./workspace.ts";

export type RawAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
};

/** With "after", the call takes effect first. */
export type Fault =
  | { readonly error: string; readonly more?: Record<string, unknown> }
  | { readonly http: number; readonly when?: "before" | "after" }
  | { readonly retryAfter: number }
  | { readonly drop: "before" | "after" }
  | { readonly hang: "before" | "after" }
  /** An answer in place of Slack's, like that of a proxy or a load balancer. */
  | { readonly answer: RawAnswer; readonly when?: "before" | "after" }
  /** Only half of the answer arrives. */
  | { readonly cut: true }
  /** The answer arrives character by character, with this pause before each (ms). */
  | { readonly drip: number }
  | { readonly until: Promise<unknown>; readonly when?: "before" | "after" };

type CallArgs = { readonly [field: string]: unknown };
type Fits = (args: CallArgs) => boolean;

export type Faults = ReturnType<typeof createFaults>;

export function createFaults({ workspace, scopes }: { workspace: Workspace; scopes: Set<string> }) {
  const waiting: { method: string; fault: Fault; fits: Fits }[] = [];
  const granted = [...scopes];
  let everywhere: Fault | undefined;
  return {
    /**
     * Affects the next `times` matching calls of the method, after the faults that were added earlier. `response_url` and "file upload"
     * count as methods, whose answers `error` and `retryAfter` do not affect.
     */
    next: (method: string, fault: Fault, times = 1, fits: Fits = () => true): void => {
      for (let count = 0; count < times; count++) waiting.push({ method, fault, fits });
    },
    take: (method: string, args: CallArgs): Fault | undefined => {
      const index = waiting.findIndex((one) => one.method === method && one.fits(args));
      return index < 0 ? everywhere : waiting.splice(index, 1)[0]?.fault;
    },
    /** Affects every call that no other fault affects, until it is called again. */
    everywhere: (fault: Fault | undefined): void => void (everywhere = fault),
    /** Returns a fault for each call that one will affect. */
    list: (): readonly { readonly method: string; readonly fault: Fault }[] => [...waiting],
    clear: (): void => {
      waiting.length = 0;
      everywhere = undefined;
    },
    revokeScope: (scope: string): boolean => scopes.delete(scope),
    missingScopes: (): readonly string[] => granted.filter((scope) => !scopes.has(scope)),
    ...createAdminActs(workspace),
  };
}

const createAdminActs = (workspace: Workspace) => ({
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
  /** Deletes a message, as an administrator of the workspace can. */
  deleteMessage: (message: Message): void => workspace.remove(message),
  archive: (id: ChannelId): void => {
    const channel = workspace.channels.get(id);
    if (channel) channel.archived = true;
    workspace.changed({ kind: "channel", channel: id });
  },
});
