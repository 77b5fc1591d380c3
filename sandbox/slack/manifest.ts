// The app's manifest, the same file that the real Slack gets.

import { readFileSync } from "node:fs";

import { parse } from "yaml";
import { z } from "zod";

const command = z.object({
  command: z.string(),
  description: z.string(),
  usage_hint: z.string().optional(),
  should_escape: z.boolean().optional(),
});

const shortcut = z.object({ name: z.string(), type: z.enum(["global", "message"]), callback_id: z.string() });

const manifest = z.object({
  display_information: z.object({ name: z.string() }),
  features: z
    .object({
      slash_commands: z.array(command).default([]),
      app_home: z
        .object({
          home_tab_enabled: z.boolean().default(false),
          // Slack's default is not documented.
          messages_tab_enabled: z.boolean().default(true),
          messages_tab_read_only_enabled: z.boolean().default(false),
        })
        .prefault({}),
      shortcuts: z.array(shortcut).default([]),
    })
    .prefault({}),
  oauth_config: z
    .object({ scopes: z.object({ bot: z.array(z.string()).default([]) }).prefault({}) })
    .prefault({}),
  settings: z
    .object({
      event_subscriptions: z.object({ bot_events: z.array(z.string()).default([]) }).prefault({}),
      interactivity: z.object({ is_enabled: z.boolean() }).default({ is_enabled: false }),
    })
    .prefault({}),
});

export type SlashCommand = {
  readonly escape: boolean;
  readonly description: string;
  readonly usageHint: string | undefined;
};

export type Shortcut = { readonly type: "global" | "message"; readonly name: string };

export type Manifest = {
  readonly commands: ReadonlyMap<string, SlashCommand>;
  readonly scopes: readonly string[];
  readonly events: ReadonlySet<string>;
  readonly interactive: boolean;
  readonly homeTab: boolean;
  readonly messagesTab: boolean;
  /** Whether people can only read the messages tab, and not write there. */
  readonly messagesReadOnly: boolean;
  /** Keyed by callback_id. */
  readonly shortcuts: ReadonlyMap<string, Shortcut>;
};

/** Parsed manifests, keyed by their text, because hundreds of worlds in one test process read the same manifest. */
const cache = new Map<string, Manifest>();

export function readManifest(path: string): Manifest {
  const text = readFileSync(path, "utf8");
  const found = cache.get(text) ?? parsed(text);
  cache.set(text, found);
  return found;
}

function parsed(text: string): Manifest {
  const { features, oauth_config, settings } = manifest.parse(parse(text));
  return {
    commands: new Map(
      features.slash_commands.map((one) => [
        one.command,
        { escape: one.should_escape ?? false, description: one.description, usageHint: one.usage_hint },
      ]),
    ),
    scopes: oauth_config.scopes.bot,
    events: new Set(settings.event_subscriptions.bot_events),
    interactive: settings.interactivity.is_enabled,
    homeTab: features.app_home.home_tab_enabled,
    messagesTab: features.app_home.messages_tab_enabled,
    messagesReadOnly: features.app_home.messages_tab_read_only_enabled,
    shortcuts: new Map(
      features.shortcuts.map(({ callback_id, type, name }) => [callback_id, { type, name }]),
    ),
  };
}
