import type { ActResult, Acts, ChannelId, PersonId } from "../../slack/model.ts";
import type { TrafficLog } from "../../slack/traffic.ts";
import type { Workspace } from "../../slack/workspace.ts";
import type { Html } from "./html.ts";
import type { Memory } from "./tab-memory.ts";
import type { Lists, Slot } from "./regions.ts";
import type { Times } from "./times.ts";

/** As the manifest has them. */
export type SlashCommand = {
  readonly command: string;
  readonly description: string;
  readonly usage_hint?: string | undefined;
};

/** A shortcut of the app in the menu of a message. */
export type MessageShortcut = { readonly callbackId: string; readonly name: string };

/** What the page is made of; it reads the workspace and changes nothing except through `acts`. */
export type PageParts = {
  readonly workspace: Workspace;
  readonly acts: Acts;
  readonly traffic: Pick<TrafficLog, "lines" | "onLine">;
  /** Whether a command or a click would reach the app. */
  readonly connected: () => boolean;
  /** Tells the app that a person opened its Home tab; null if it has none. */
  readonly openHome: ((person: PersonId) => Promise<unknown>) | null;
  readonly commands: readonly SlashCommand[];
  readonly shortcuts: readonly MessageShortcut[];
  readonly useShortcut: (
    person: PersonId,
    callbackId: string,
    on: { readonly channel: ChannelId; readonly ts: string },
  ) => Promise<ActResult>;
  /** Commands for a newcomer to try first. A click puts one into the composer. */
  readonly examples: readonly string[];
  /** The Service and Scenes panels; null for a page without them. Their buttons post control acts to /control/do. */
  readonly panelState: PanelState | null;
  /** Default: the machine's zone. */
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
  /** Calls the listener after every change of these. */
  readonly onChange: (listener: () => void) => () => void;
};

export type Caption = {
  readonly at: number;
  readonly text: string;
  /** The person who sees what the caption describes, such as an open form. */
  readonly eyes: PersonId | null;
  /** Where it is; null if it has no place. */
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
  /** What a newcomer is dared to try, if the scene shows that. */
  readonly dare: string | null;
};

export type SceneState = {
  readonly scenes: readonly Scene[];
  /** The names of the scenes that were played to their end. */
  readonly done: ReadonlySet<string>;
  /** The scene that plays, or played last. */
  readonly playing: {
    readonly name: string;
    readonly captions: readonly Caption[];
    /** Null while it plays. */
    readonly ended: "done" | "failed" | "stopped" | null;
  } | null;
};
