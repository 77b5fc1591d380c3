// Mounts what people and scripts use in addition to Slack's own endpoints: the control API with the scenes, and the page.

import { type Changes, createChanges } from "../base/changes.ts";
import type { SandboxClock } from "../base/sandbox-clock.ts";
import type { Bot } from "../bot/replicas.ts";
import type { PolicySwitch } from "../bot/policy-switch.ts";
import { createControlHandler } from "../control/handler.ts";
import { personActs } from "../control/person-acts.ts";
import { botActs, botRead, policyAct, replicasRead } from "../control/process-acts.ts";
import { createServiceContext, type ServiceContext } from "../control/servers.ts";
import { serverActs, serverChanges } from "../control/service-control.ts";
import { serviceReads } from "../control/service-reads.ts";
import { slackActs } from "../control/slack-acts.ts";
import { slackReads } from "../control/slack-reads.ts";
import { slackState } from "../control/slack-state.ts";
import { createUserActions } from "../control/user-actions.ts";
import type { PanelState } from "../page/base/parts.ts";
import { taskWords } from "../service/tasks.ts";
import { createPage } from "../page/page.ts";
import { createScenes, type Scenes } from "../scenes/engine.ts";
import { sceneActs, sceneReads } from "../scenes/scene-acts.ts";
import { createOrder } from "../scenes/order.ts";
import { requestState } from "../scenes/says.ts";
import { createStage } from "../scenes/stage.ts";
import { scenesFor } from "../scenes/all-scenes.ts";
import type { Gateway } from "../service/start-gateway.ts";
import type { Service } from "../service/start-service.ts";
import { type Manifest, readManifest } from "../slack/manifest.ts";
import type { Handler, Slack } from "../slack/start-slack.ts";
import { createPanelState } from "./panel-state.ts";

export type Mounted = {
  /** The handlers, in the order in which they are tried. */
  readonly handlers: readonly Handler[];
  /** Null if the sandbox does not run the bot. */
  readonly scenes: Scenes | null;
};

export type KeptBot = { readonly bot: Bot; readonly policy: PolicySwitch };

export type MountedParts = {
  readonly slack: Slack;
  readonly service: Service;
  readonly gateway: Gateway;
  readonly clock: SandboxClock;
  /** Null if the sandbox does not run the bot. */
  readonly kept: KeptBot | null;
  readonly manifestPath: string;
  readonly entrance: "socket" | "http";
  readonly paceMs: (words: string) => number;
};

const EXAMPLES = [
  "/agent run deploy billing-api to production",
  "/agent run two approvals for the release",
  "/agent pending",
  "/agent health",
];

export function createMounted(parts: MountedParts): Mounted {
  const { slack } = parts;
  const changes = createChanges();
  const changed = (): void => changes.changed();
  const context = createServiceContext(parts, changed);
  slack.workspace.onChange(changed);
  slack.traffic.onLine(changed);
  serverChanges(parts, changed);
  const manifest = readManifest(parts.manifestPath);
  const openHome = manifest.homeTab ? slack.openHome : null;
  const userActions = createUserActions({ ...slack, openHome, shortcuts: manifest.shortcuts });
  const kept =
    parts.kept === null ? null : keptParts({ ...parts, ...parts.kept, context, userActions, changes });
  const control = createControlHandler({
    acts: [
      ...personActs(slack, userActions),
      ...slackActs(slack, changed),
      ...serverActs(context),
      ...(kept?.acts ?? []),
    ],
    reads: [...slackReads(slack), ...serviceReads(context), ...(kept?.reads ?? [])],
    onChange: changes.subscribe,
  });
  return {
    handlers: [control, pageOf({ ...parts, manifest, openHome }, kept?.panelState ?? null)],
    scenes: kept?.scenes ?? null,
  };
}

type KeptParts = MountedParts &
  KeptBot & {
    readonly context: ServiceContext;
    readonly userActions: ReturnType<typeof createUserActions>;
    readonly changes: Changes;
  };

/** The parts that need a bot that can be stopped and started. */
function keptParts({ slack, clock, bot, policy, context, userActions, changes, paceMs }: KeptParts) {
  const { changed, subscribe: onChange } = changes;
  bot.onChange(changed);
  policy.onChange(changed);
  const scenes = createScenes({
    scenes: scenesFor(bot.replicas.length),
    now: clock.now,
    paceMs,
    stageFor: (signal, say) => {
      const stage = createStage({ slack, service: context, bot, userActions, onChange, signal, say });
      return { stage, ...createOrder({ slack, service: context, bot, policy, stage }) };
    },
  });
  scenes.onChange(changed);
  return {
    scenes,
    acts: [...botActs(bot), policyAct(policy), ...sceneActs(scenes)],
    reads: [botRead(bot, policy), replicasRead(bot), ...sceneReads(scenes)],
    panelState: createPanelState({
      service: context,
      slack: () => slackState(slack),
      bot,
      policy,
      scenes,
      onChange,
    }),
  };
}

type Shown = MountedParts & { readonly manifest: Manifest; readonly openHome: Slack["openHome"] | null };

function pageOf(
  { slack, clock, manifest, openHome, entrance }: Shown,
  panelState: PanelState | null,
): Handler {
  const commands = [...manifest.commands].map(([command, { description, usageHint }]) => ({
    command,
    description,
    usage_hint: usageHint,
  }));
  const shortcuts = [...manifest.shortcuts].flatMap(([callbackId, { type, name }]) =>
    type === "message" ? [{ callbackId, name }] : [],
  );
  const { workspace, acts, traffic, sockets } = slack;
  const connected = (): boolean => entrance === "http" || sockets.connections() > 0;
  return createPage({
    workspace,
    after: clock.after,
    acts,
    traffic,
    connected,
    openHome,
    commands,
    shortcuts,
    useShortcut: slack.shortcut,
    requestState,
    examples: EXAMPLES,
    taskWords,
    panelState,
  });
}
