import type { Acts, ChannelId, PersonId } from "../../slack/model.ts";
import type { TrafficLog } from "../../slack/traffic.ts";
import type { Workspace } from "../../slack/workspace.ts";
import type { Html } from "./html.ts";
import type { Memory } from "./memory.ts";
import type { Lists, Slot } from "./regions.ts";
import type { Times } from "./times.ts";

/** As the manifest has them. */
export type SlashCommand = {
  readonly command: string;
  readonly description: string;
  readonly usage_hint?: string | undefined;
};

/** What the page is made of; it reads the workspace and changes nothing except through `acts`. */
export type PageParts = {
  readonly workspace: Workspace;
  readonly acts: Acts;
  readonly traffic: Pick<TrafficLog, "lines" | "onLine">;
  /** Is the app connected, so that a command or a click would reach it? */
  readonly connected: () => boolean;
  /** Tells the app that somebody looks at its Home tab; null for an app without one. */
  readonly openHome: ((person: PersonId) => Promise<unknown>) | null;
  readonly commands: readonly SlashCommand[];
  /** What a newcomer is told to type first; a click puts it into the composer. */
  readonly examples: readonly string[];
  /** The Service and Scenes panels; null for a page without them. Their buttons post control acts to /control/do. */
  readonly panelState: PanelState | null;
  /** The machine's own zone when absent. */
  readonly timeZone?: string;
};

export type BotState = "running" | "starting" | "stopped";

/** What stands behind the app: the page knows nothing of it but where it is drawn. */
export type ServicePanel = {
  readonly lists: (times: Times, memory: Memory) => Lists;
  readonly pane: (slot: Slot) => Html;
};

export type PanelState = {
  readonly bot: () => BotState;
  readonly servicePanel: ServicePanel;
  readonly scenes: () => SceneState;
  /** Called after anything that these tell of has changed. */
  readonly onChange: (listener: () => void) => () => void;
};

export type Caption = {
  readonly at: number;
  readonly text: string;
  /** Who sees what the caption speaks of, such as an open form. */
  readonly eyes: PersonId | null;
  /** Where that is; null when it is nowhere in particular. */
  readonly spot: Spot | null;
};

/** A channel, or one message in it. */
export type Spot = { readonly channel: ChannelId; readonly ts: string | null };

type Scene = {
  readonly name: string;
  readonly title: string;
  readonly what: string;
  /** What the scene shows of the app, for whoever has just watched it. */
  readonly lesson: string;
  /** What a newcomer is dared to try, when the scene shows just that. */
  readonly dare: string | null;
};

export type SceneState = {
  readonly scenes: readonly Scene[];
  /** The names of those that have been played to their end. */
  readonly done: ReadonlySet<string>;
  /** The scene that plays, or played last. */
  readonly playing: {
    readonly name: string;
    readonly captions: readonly Caption[];
    /** Null while it plays. */
    readonly ended: "done" | "failed" | "stopped" | null;
  } | null;
};
