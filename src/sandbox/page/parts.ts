import type { Acts, PersonId } from "../slack/model.ts";
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
  /** The machine's own zone when absent. */
  readonly timeZone?: string;
};
