// A panel state that a test sets, and a server for the page whose control address only records the requests of the panels' buttons.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createSandboxClock } from "#sandbox/base/sandbox-clock.ts";
import { createBot } from "#sandbox/bot/replicas.ts";
import { botActs, policyAct } from "#sandbox/control/process-acts.ts";
import { policiesWith } from "#sandbox/bot/policies.ts";
import { createPolicySwitch } from "#sandbox/bot/policy-switch.ts";
import { createServiceContext } from "#sandbox/control/servers.ts";
import { serverActs } from "#sandbox/control/service-control.ts";
import { slackActs } from "#sandbox/control/slack-acts.ts";
import type { PageParts, PanelState, SceneState } from "#sandbox/page/base/parts.ts";
import { createPage } from "#sandbox/page/page.ts";
import { sceneActs } from "#sandbox/scenes/scene-acts.ts";
import { createServicePanel } from "#sandbox/service-panel/service-panel.ts";
import type { ServiceState } from "#sandbox/service-panel/shown-state.ts";
import { plainProfile } from "#sandbox/service/profile.ts";
import * as moves from "#sandbox/service/service-run.ts";
import type { Moved, Run } from "#sandbox/service/service-run.ts";
import { HEALTHY, startGateway } from "#sandbox/service/start-gateway.ts";
import { startService } from "#sandbox/service/start-service.ts";
import { startSlack } from "#sandbox/slack/start-slack.ts";
import { SEED } from "#sandbox/world/seed.ts";
import { MANIFEST } from "#sandbox/world/world.ts";

/** 12 Nov 2026, 12:38:00 UTC */
const AT = 1_794_487_080_000;

function ok(moved: Moved): Run {
  if (!moved.ok) throw new Error(moved.because);
  return moved.run;
}

const ask = { id: "apr_1", action: "Deploy billing-api to production", details: {} };

/** Returns a run that waits, a run that was denied and failed, and a run that has ended. */
function someRuns(): Run[] {
  const started = (id: string, input: string): Run => ({
    ...ok(moves.begin(moves.newRun(id, input, AT))),
    step: 1,
  });
  const waiting = ok(moves.ask(started("run_waits", "deploy billing-api to production"), [ask], AT));
  const asked = ok(moves.ask(started("run_failed", "fail if denied: rotate the keys"), [ask], AT));
  const denied = ok(moves.decide(asked, "apr_1", { verdict: "deny", reason: "Not in the freeze." }, AT));
  const failed = ok(moves.end(denied, { type: "failed", code: "denied", message: "It was denied." }, AT));
  const done = ok(
    moves.end(started("run_done", "just say hello"), { type: "succeeded", output: "hello" }, AT),
  );
  return [waiting, failed, done];
}

/** The sandbox's policies, without one of the operator. */
export const policies = policiesWith(null);

export function policyNamed(name: string): (typeof policies)[number] {
  const found = policies.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no policy ${name}`);
  return found;
}

type Playing = NonNullable<SceneState["playing"]>;

/** The id of each play of a scene, unless a test gives another. */
const PLAY = "play-1";

export function createFakePanelState() {
  const listeners = new Set<() => void>();
  let service: ServiceState = {
    url: "http://127.0.0.1:4410",
    up: true,
    gatewayUp: true,
    gatewaySlowMs: 0,
    gatewayStatus: HEALTHY,
    slack: { faults: [], rateLimits: true, missingScopes: [] },
    slowMs: 0,
    key: "right",
    bot: "running",
    botFault: null,
    replicas: [],
    policy: {
      policies,
      chosen: policyNamed("built-in"),
      inForce: { policy: policyNamed("built-in"), since: AT },
      fault: null,
    },
    clockAheadMs: 0,
    isClockMoving: false,
    faults: [],
    profile: plainProfile,
    runs: someRuns(),
    vanished: [],
  };
  let scenes: SceneState = {
    scenes: [
      {
        name: "four-eyes",
        title: "Four eyes",
        what: "Ana asks for a deployment, may not approve it herself, and Ben does.",
        lesson: "Nobody decides alone.",
        dare: null,
      },
      {
        name: "outage",
        title: "The service goes down while a form is open",
        what: "Nothing is lost, and nothing is sent twice.",
        lesson: "What is saved survives.",
        dare: "Take the service down",
      },
    ],
    done: new Set(),
    playing: null,
  };
  const notify = (): void => listeners.forEach((listener) => listener());
  const panelState: PanelState & { readonly service: () => ServiceState } = {
    bot: () => service.bot,
    replicas: () =>
      service.replicas.length > 0 ? service.replicas.map(({ state }) => state) : [service.bot],
    service: () => service,
    servicePanel: createServicePanel(() => service),
    scenes: () => scenes,
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return {
    panelState,
    service(change: Partial<ServiceState>): void {
      service = { ...service, ...change };
      notify();
    },
    play({ id = PLAY, ...shown }: Omit<Playing, "id"> & { readonly id?: string }): void {
      const done = shown.ended === "done" ? new Set([...scenes.done, shown.name]) : scenes.done;
      scenes = { ...scenes, playing: { id, ...shown }, done };
      notify();
    },
  };
}

export type Asked = { readonly act: string; readonly args: Record<string, unknown> };

/** Serves the page with the control address. `answer` returns the answer to a button. With port 0, any free port is used. */
export async function serveWithControl(
  parts: PageParts,
  answer: (asked: Asked) => object = () => ({ ok: true, result: { id: PLAY } }),
  port = 0,
) {
  const page = createPage(parts);
  const asked: Asked[] = [];
  const server = createServer((req, res) => {
    if (page(req, res)) return;
    if (req.url !== "/control/do" || req.headers["x-sandbox-page"] !== "1") {
      res.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const one = JSON.parse(Buffer.concat(chunks).toString()) as Asked;
      asked.push(one);
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer(one)));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Creates a judge of requests from buttons. It returns what the sandbox's own acts would reject, without doing anything. */
export async function createJudge(panelState: PanelState) {
  const clock = createSandboxClock();
  const [service, gateway, slack] = await Promise.all([
    startService({ clock }),
    startGateway({ clock }),
    startSlack({ manifestPath: MANIFEST, seed: SEED }),
  ]);
  const scenes = {
    state: panelState.scenes,
    play: () => PLAY,
    stop: () => Promise.resolve(),
    onChange: panelState.onChange,
  };
  const { bot, policy } = createPolicySwitch({
    own: null,
    now: clock.now,
    keep: () => createBot({ ports: [12_001, 12_002], env: () => ({}) }),
  });
  const acts = [
    ...serverActs(createServiceContext({ service, gateway, clock }, () => undefined)),
    ...slackActs(slack, () => undefined),
    ...botActs(bot),
    policyAct(policy),
    ...sceneActs(scenes),
  ];
  return {
    fault({ act, args }: Asked): string | null {
      const known = acts.find((one) => one.name === act);
      if (known === undefined) return `there is no act ${act}`;
      const parsed = known.args.safeParse(args);
      return parsed.success ? null : `${act} ${JSON.stringify(args)}: ${parsed.error.message}`;
    },
    stop: () => Promise.all([service.stop(), gateway.stop(), slack.stop()]),
  };
}
