// Starts the sandbox's Slack: one loopback port for the Web API, Socket Mode, uploads, response URLs and mounted handlers.

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenHome } from "./act-say.ts";
import { createShortcut } from "./act-shortcut.ts";
import { createAnnouncer } from "./announce.ts";
import { createApi } from "./api.ts";
import { type SlackContext, slackTiming, type Timing } from "./slack-context.ts";
import { createHttpDelivery } from "./delivery-http.ts";
import { type Deliver, traced } from "./delivery.ts";
import { createEvents } from "./events.ts";
import { createFaults } from "./injected-faults.ts";
import { addressOf, BodyTooLarge, isOurs } from "./http-request.ts";
import { createActs } from "./interact.ts";
import { createLimits } from "./limits.ts";
import { readManifest } from "./manifest.ts";
import { createResponseUrls } from "./response-url.ts";
import { type Seed, seedWorkspace } from "./seed-workspace.ts";
import { createSockets } from "./socket.ts";
import { createTraffic } from "./traffic.ts";
import { createTriggers } from "./triggers.ts";
import { createUploads } from "./uploads.ts";

/** Returns true if the handler answers the request, now or later. */
export type Handler = (req: IncomingMessage, res: ServerResponse) => boolean;

type Delivery =
  | { readonly mode: "socket" }
  | { readonly mode: "http"; readonly requestUrl: string | (() => string); readonly signingSecret?: string };

export type SlackOptions = {
  readonly host?: "127.0.0.1" | "localhost";
  /** The default is 0, which means any free port. */
  readonly port?: number;
  /** The address in Slack's answers, with a trailing slash. Needed if the app connects through a proxy. */
  readonly publicUrl?: string;
  readonly manifestPath: string;
  /** The app, people and channels to start with. */
  readonly seed: Seed;
  readonly now?: () => number;
  readonly timing?: Partial<Timing>;
  /** Whether calls over the rate limits of Slack's tiers are refused with 429. */
  readonly rateLimits?: boolean;
  readonly delivery?: Delivery;
};

export type Slack = Awaited<ReturnType<typeof startSlack>>;

export async function startSlack(options: SlackOptions) {
  const { host = "127.0.0.1", port = 0, delivery = { mode: "socket" } } = options;
  const server = createServer();
  const ownUrl = (): string => `http://${host}:${(server.address() as AddressInfo).port}/`;
  const context = createContext(options, () => options.publicUrl ?? ownUrl());
  const sockets = createSockets(context);
  const send = traced(context.traffic, deliveryOf(delivery, context, sockets.deliver));
  const deliver: Deliver = (payload) => send(payload).outcome;
  const events = createEvents({ ...context, send });
  context.workspace.onChange(createAnnouncer({ ...context, events }));
  const acting = { ...context, deliver, events, responseUrls: createResponseUrls(context) };
  const uploads = createUploads(context);
  const api = createApi({ ...context, openSocket: sockets.open, uploads });
  const handlers: Handler[] = [];
  server.on("request", createRoutes({ ...acting, handlers, api, uploads }));
  server.on("upgrade", sockets.upgrade);
  await listen(server, port, host);
  return {
    url: ownUrl(),
    apiUrl: `${ownUrl()}api/`,
    ...context.secrets,
    workspace: context.workspace,
    timing: context.timing,
    acts: createActs(acting),
    openHome: createOpenHome(acting),
    shortcut: createShortcut(acting),
    traffic: context.traffic,
    faults: context.faults,
    rateLimits: context.limits,
    sockets: { connections: sockets.connections, disconnect: sockets.disconnect, drop: sockets.drop },
    /** Sends any payload, even a forged one, and resolves to the app's acknowledgement. */
    deliverRaw: deliver,
    /** Adds a handler for requests that are not for Slack. Handlers are tried in the order in which they were mounted. */
    mount: (handler: Handler): void => void handlers.push(handler),
    stop: async (): Promise<void> => {
      for (const part of [events, uploads, sockets]) part.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });

/** Creates a secret. It contains the word "canary", so that a leak is easy to find. */
const secret = (prefix: string): string => `${prefix}canary-${randomBytes(24).toString("hex")}`;

function createContext(options: SlackOptions, url: () => string): SlackContext {
  const { now = Date.now, delivery, rateLimits = true } = options;
  const signingSecret = delivery?.mode === "http" ? delivery.signingSecret : undefined;
  const secrets = {
    botToken: secret("xoxb-"),
    appToken: secret("xapp-"),
    signingSecret: signingSecret ?? secret(""),
  };
  const manifest = readManifest(options.manifestPath);
  const timing = { ...slackTiming, ...options.timing };
  const workspace = seedWorkspace({ now, seed: options.seed });
  workspace.app.takesMessages = manifest.messagesTab && !manifest.messagesReadOnly;
  const scopes = new Set(manifest.scopes);
  return {
    workspace,
    manifest,
    secrets,
    scopes,
    now,
    timing,
    url,
    traffic: createTraffic({ now, secrets: Object.values(secrets) }),
    faults: createFaults({ workspace, scopes }),
    limits: createLimits({ now, on: rateLimits }),
    triggers: createTriggers({ now, lifeMs: timing.triggerMs }),
  };
}

function deliveryOf(delivery: Delivery, context: SlackContext, bySocket: Deliver): Deliver {
  if (delivery.mode === "socket") return bySocket;
  const { signingSecret } = context.secrets;
  const { requestUrl } = delivery;
  return createHttpDelivery({ requestUrl, signingSecret, ackMs: context.timing.ackMs, now: context.now });
}

type Routes = {
  readonly url: () => string;
  readonly handlers: readonly Handler[];
  readonly api: ReturnType<typeof createApi>;
  readonly responseUrls: ReturnType<typeof createResponseUrls>;
  readonly uploads: ReturnType<typeof createUploads>;
};

function createRoutes({ url, handlers, api, responseUrls, uploads }: Routes) {
  const route = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    if (!isOurs(req, url())) return void res.writeHead(421).end();
    const address = addressOf(req);
    if (!address) return void res.writeHead(400).end();
    const [, first, ...rest] = address.pathname.split("/");
    if (first === "api") return api.handle(rest.join("/"), req, res);
    if (first === "response" && req.method === "POST") return responseUrls.handle(rest[1] ?? "", req, res);
    if (first === "upload" && req.method === "POST") return uploads.receive(rest[0] ?? "", req, res);
    if (!handlers.some((handler) => handler(req, res))) res.writeHead(404).end();
  };
  return (req: IncomingMessage, res: ServerResponse): void => {
    route(req, res).catch((error: unknown) => {
      if (!res.headersSent) res.writeHead(error instanceof BodyTooLarge ? 413 : 500);
      res.end(error instanceof BodyTooLarge ? "" : String(error));
    });
  };
}
