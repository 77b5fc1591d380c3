import type { ActResult, Acts, ChannelId, Message, PersonId } from "../../slack/model.ts";
import type { TrafficLog } from "../../slack/traffic.ts";
import type { Workspace } from "../../slack/workspace.ts";
import type { Html } from "./html.ts";
import type { Memory } from "./tab-memory.ts";
import type { Lists, Slot } from "./regions.ts";
import type { Times } from "./times.ts";

/** A slash command, as the manifest declares it. */
export type SlashCommand = {
  readonly command: string;
  readonly description: string;
  readonly usage_hint?: string | undefined;
};

/** A shortcut that the app adds to the menu of a message. */
export type MessageShortcut = { readonly callbackId: string; readonly name: string };

/** What the page works with. It reads the workspace. People act through `acts`; only typed input and `/invite` change it directly. */
export type PageParts = {
  readonly workspace: Workspace;
  /** Calls `act` after this time (ms) on the workspace's clock. Returns a function that cancels it. */
  readonly after: (ms: number, act: () => void) => () => void;
  readonly acts: Acts;
  readonly traffic: Pick<TrafficLog, "lines" | "onLine">;
  /** Whether a command or a click would reach the app. */
  readonly connected: () => boolean;
  /** Notifies the app that a person opened its Home tab. Null if the app has no Home tab. */
  readonly openHome: ((person: PersonId) => Promise<unknown>) | null;
  readonly commands: readonly SlashCommand[];
  readonly shortcuts: readonly MessageShortcut[];
  readonly useShortcut: (
    person: PersonId,
    callbackId: string,
    on: { readonly channel: ChannelId; readonly ts: string },
  ) => Promise<ActResult>;
  /** Whether the request in a message of the app waits or is decided for good. Null while it is neither, and for other messages. */
  readonly requestState: (message: Message) => "waits" | "decided" | null;
  /** Commands for a new user to try first. A click copies one into the composer. */
  readonly examples: readonly string[];
  /** Words in a task that decide what its run does. A new user may hit one by chance. */
  readonly taskWords: readonly string[];
  /** The state behind the Service and Scenes panels, whose buttons post acts to /control/do. Null for a page without them. */
  readonly panelState: PanelState | null;
  /** The default is the machine's time zone. */
  readonly timeZone?: string;
};

export type BotState = "running" | "starting" | "paused" | "stopped";

/** The panel of the service behind the app. The page only places it. */
export type ServicePanel = {
  readonly lists: (times: Times, memory: Memory) => Lists;
  readonly pane: (slot: Slot) => Html;
};

export type PanelState = {
  readonly bot: () => BotState;
  /** The state of each process of the app. */
  readonly replicas: () => readonly BotState[];
  readonly servicePanel: ServicePanel;
  readonly scenes: () => SceneState;
  /** Calls the listener after every change of this state. */
  readonly onChange: (listener: () => void) => () => void;
};

export type Caption = {
  readonly at: number;
  readonly text: string;
  /** The person who sees what the caption describes, such as an open form. */
  readonly eyes: PersonId | null;
  /** Where it can be seen. Null if it has no place. */
  readonly spot: Spot | null;
};

/** A channel, or one message in it. */
export type Spot = { readonly channel: ChannelId; readonly ts: string | null };

type Scene = {
  readonly name: string;
  readonly title: string;
  readonly what: string;
  /** What the scene shows about the app, for people who have just watched it. */
  readonly lesson: string;
  /** What a new user is invited to try, if the scene shows exactly that. */
  readonly dare: string | null;
};

export type SceneState = {
  readonly scenes: readonly Scene[];
  /** The names of the scenes that have played to the end. */
  readonly done: ReadonlySet<string>;
  /** The scene that is playing or played last. */
  readonly playing: {
    /** Unique for each time that a scene plays. */
    readonly id: string;
    readonly name: string;
    readonly captions: readonly Caption[];
    /** Null while it plays. */
    readonly ended: "done" | "failed" | "stopped" | null;
  } | null;
};
