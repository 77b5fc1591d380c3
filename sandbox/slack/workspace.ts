// The state of the emulated Slack. It stores data without checks and reports changes. Its callers check what is allowed.

import { type Changes, createChanges } from "../base/changes.ts";
import type {
  Change,
  Channel,
  ChannelId,
  File,
  HomeView,
  Message,
  OpenView,
  Person,
  PersonId,
  Usergroup,
} from "./model.ts";

/** The installed app: its id, the id of its bot (`B…`) and the user (`U…`) as whom it acts. */
export type InstalledApp = {
  readonly id: string;
  readonly botId: string;
  readonly person: PersonId;
  /** Whether people can send it direct messages, according to its manifest. */
  takesMessages: boolean;
};

export type Workspace = ReturnType<typeof createWorkspace>;

export type MessageDraft = Pick<Message, "channel" | "author"> &
  Partial<Omit<Message, "channel" | "author" | "ts" | "at">>;

const initial = () => ({
  people: new Map<PersonId, Person>(),
  channels: new Map<ChannelId, Channel>(),
  messages: [] as Message[],
  byPlace: new Map<string, Message>(),
  files: new Map<string, File>(),
  usergroups: new Map<string, Usergroup>(),
  /** All open modals. The modals of one person, in this order, are that person's stack. */
  views: [] as OpenView[],
  homes: new Map<PersonId, HomeView>(),
});

type WorkspaceStart = { readonly now: () => number; readonly app: Omit<InstalledApp, "takesMessages"> };

export function createWorkspace({ now, app: installed }: WorkspaceStart) {
  const state = initial();
  const changes = createChanges<Change>();
  const { changed, subscribe: onChange } = changes;
  const { nextId, nextTs } = createIds(now);
  const team = { id: "T0SANDBOX", name: "Sandbox", domain: "sandbox" };
  const app: InstalledApp = { ...installed, takesMessages: true };
  const of = { ...state, team, app, now, nextId, nextTs, changed, onChange, until: untilOf(changes) };
  return { ...of, ...createMessages(of), ...createViews(of), dmOf: (person: PersonId) => dmOf(of, person) };
}

/** Waits for the first truthy result of `predicate`. `what` names the state in the error. */
const untilOf =
  ({ until }: Changes<Change>) =>
  <T>(
    predicate: () => T | undefined | null | false,
    { timeoutMs = 2_000, what = "the expected state" }: { timeoutMs?: number; what?: string } = {},
  ): Promise<T> =>
    until(
      () => predicate() || undefined,
      (ms) => `the workspace did not reach ${what} within ${ms} ms`,
      { timeoutMs },
    );

type State = ReturnType<typeof initial> & {
  readonly app: InstalledApp;
  readonly now: () => number;
  readonly nextId: (prefix: string) => string;
  readonly nextTs: () => string;
  readonly changed: (change: Change) => void;
};

const createMessages = (of: State) => ({
  messageAt: (channel: ChannelId, ts: string): Message | undefined => of.byPlace.get(`${channel} ${ts}`),
  post: (draft: MessageDraft): Message => {
    const message: Message = {
      thread: null,
      broadcast: false,
      text: "",
      blocks: [],
      metadata: null,
      edited: null,
      files: [],
      ephemeralFor: null,
      ...draft,
      ts: of.nextTs(),
      at: of.now(),
    };
    of.messages.push(message);
    of.byPlace.set(`${message.channel} ${message.ts}`, message);
    reportChange(of, { type: "posted", now: message, before: null });
    return message;
  },
  edit: (message: Message, patch: Partial<Pick<Message, "text" | "blocks" | "metadata">>): void => {
    const before = { ...message };
    Object.assign(message, patch, { edited: editOf(of, message) });
    reportChange(of, { type: "edited", now: message, before });
  },
  remove: (message: Message): void => {
    of.messages.splice(of.messages.indexOf(message), 1);
    of.byPlace.delete(`${message.channel} ${message.ts}`);
    reportChange(of, { type: "removed", now: message, before: message });
  },
});

/** For a bot, the editor is its bot id, and the time is in whole seconds (third party: messages that bots have read back). */
const editOf = ({ app, now }: State, { author }: Message): Message["edited"] => ({
  user: author === app.person ? app.botId : author,
  ts: `${Math.floor(now() / 1000)}.000000`,
});

const reportChange = (of: State, message: NonNullable<Change["message"]>): void =>
  of.changed({ kind: "message", channel: message.now.channel, message });

const createViews = (of: State) => ({
  viewsOf: (person: PersonId): OpenView[] => of.views.filter((view) => view.person === person),
  viewById: (id: string): OpenView | undefined => of.views.find((view) => view.id === id),
  pushView: (person: PersonId, view: OpenView["view"]): OpenView => {
    const opened: OpenView = { id: of.nextId("V"), person, view, hash: hashOf(of), errors: {}, values: {} };
    of.views.push(opened);
    of.changed({ kind: "view", person });
    return opened;
  },
  /** Changes a view. A new `view` gets a new hash. As in Slack, input stays for fields with the same ids. */
  changeView: (
    open: OpenView,
    patch: Partial<Pick<OpenView, "view" | "errors" | "values" | "trouble">>,
  ): void => {
    Object.assign(open, patch, patch.view ? { hash: hashOf(of) } : {});
    of.changed({ kind: "view", person: open.person });
  },
  /** Keeps what a person types into a modal. As in Slack, the app learns it with the next click. */
  typeInto: (open: OpenView, values: OpenView["values"]): void => {
    open.values = { ...open.values, ...values };
  },
  closeViews: (person: PersonId, gone: readonly OpenView[]): void => {
    for (const view of gone) of.views.splice(of.views.indexOf(view), 1);
    of.changed({ kind: "view", person });
  },
  publishHome: (person: PersonId, view: HomeView["view"]): HomeView => {
    const { id = of.nextId("V"), values = {} } = of.homes.get(person) ?? {};
    const home: HomeView = { id, person, view, hash: hashOf(of), values };
    of.homes.set(person, home);
    of.changed({ kind: "home", person });
    return home;
  },
});

const hashOf = (of: State): string => `${Math.floor(of.now() / 1000)}.${of.nextId("h").slice(1)}`;

/** The direct-message channel of a person and the app, created when first needed. */
function dmOf(of: State, person: PersonId): Channel {
  const members = [person, of.app.person];
  const existing = [...of.channels.values()].find(
    (one) => one.kind === "dm" && members.every((member) => one.members.includes(member)),
  );
  if (existing) return existing;
  const dm: Channel = { id: of.nextId("D"), name: "directmessage", kind: "dm", members, archived: false };
  of.channels.set(dm.id, dm);
  of.changed({ kind: "channel", channel: dm.id });
  return dm;
}

function createIds(now: () => number) {
  let count = 0;
  let lastMicros = 0;
  return {
    nextId: (prefix: string): string => `${prefix}0${(++count).toString(36).toUpperCase().padStart(8, "0")}`,
    /** Returns a timestamp in Slack's format: seconds and six digits, unique and increasing. */
    nextTs: (): string => {
      lastMicros = Math.max(Math.floor(now() * 1000), lastMicros + 1);
      return `${Math.floor(lastMicros / 1e6)}.${String(lastMicros % 1e6).padStart(6, "0")}`;
    },
  };
}
