import type { Profile } from "../service/profile.ts";
import type { Run } from "../service/service-run.ts";
import type { Acts, ChannelId, PersonId } from "../slack/model.ts";
import type { TrafficLog } from "../slack/traffic.ts";
import type { Workspace } from "../slack/workspace.ts";

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

type BotState = "running" | "starting" | "stopped";

export type PanelState = {
  readonly bot: () => BotState;
  readonly service: () => ServiceState;
  readonly scenes: () => SceneState;
  /** Called after anything that these tell of has changed. */
  readonly onChange: (listener: () => void) => () => void;
};

export type ServiceState = {
  readonly url: string;
  readonly up: boolean;
  readonly gatewayUp: boolean;
  /** How much later the service answers than it would (ms); 0: as fast as it can. */
  readonly slowMs: number;
  /** «rotated»: the bot still shows a key that is not right any more. */
  readonly key: "right" | "rotated";
  readonly bot: BotState;
  /** How far the sandbox's clock has been set ahead of the machine's (ms). */
  readonly clockAheadMs: number;
  /** What will strike the next requests, in words. */
  readonly faults: readonly string[];
  readonly profile: Readonly<Profile>;
  /** Newest first. */
  readonly runs: readonly Run[];
  /** The ids of those that answer 404. */
  readonly vanished: readonly string[];
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
