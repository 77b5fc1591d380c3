// The Bolt app, with the same listeners in Socket Mode and HTTP mode. We build the receivers ourselves because Bolt's defaults do not fit:
// Bolt shares client options, checks the token in its constructor, and retries calls.

import type { RequestListener } from "node:http";
import { App, HTTPReceiver } from "@slack/bolt";
import type { Logger } from "@slack/logger";
import type { ReplayCache } from "../../ports/store.ts";
import type { Connections } from "./clients.ts";
import { apiBase, type Connection, createSocketConnection } from "./socket-connection.ts";
import { textAnswer } from "./blocks/message-id.ts";
import { isMention } from "./payloads.ts";
import { createWorkspaceCheck, type TeamOf } from "./workspace-check.ts";
import { createRequestVerifier, EVENTS_PATH, MAX_BODY_BYTES } from "./request-verifier.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { LiveHomes } from "./live-homes.ts";
import { listen } from "./listeners.ts";
import type { SlackSelf } from "./answers.ts";

export type Transport =
  | { readonly mode: "socket"; readonly appToken: string }
  | { readonly mode: "http"; readonly signingSecret: string; readonly seen: ReplayCache };

export type SlackApp = {
  /** Resolves when Slack's payloads reach us. Rejects with a one-line message for operators if Slack refuses the app's token. */
  start(): Promise<void>;
  /**
   * Stops accepting payloads. In HTTP mode, it does so after `lastRequestsMs`, because a load balancer may not yet know that we are
   * stopping. Waits at most `ms` for unacknowledged payloads and for listeners that are still running.
   */
  stop(ms: number, lastRequestsMs: number): Promise<void>;
  connection(): ReturnType<Connection["state"]> | "stopping";
  /** Handles Slack's requests in HTTP mode. Null in Socket Mode. */
  readonly listener: RequestListener | null;
};

export type BoltOptions = {
  readonly transport: Transport;
  readonly botToken: string;
  readonly apiUrl: string | null;
  /** The connections to use. Undefined to connect directly. */
  readonly through: Connections | undefined;
  /** Whether the installation consists of a single process. */
  readonly alone: boolean;
  readonly self: SlackSelf;
  /** Our app's id. Payloads of other apps are refused. */
  readonly appId: string;
  readonly teamOf: TeamOf;
  readonly now: () => number;
  readonly rejectedRequests: (reason: string) => void;
  readonly logger: Logger;
};

export function createSlackApp(options: BoltOptions, deps: ListenerDeps): SlackApp {
  const { log, clock } = deps;
  const { receiver, ...connection } =
    options.transport.mode === "socket"
      ? createSocketConnection({ ...options, log, clock, appToken: options.transport.appToken })
      : httpConnection(options, options.transport);
  const app = new App({
    receiver,
    token: options.botToken,
    botId: options.self.bot,
    botUserId: options.self.user,
    tokenVerificationEnabled: false,
    convoStore: false,
    extendedErrorHandler: true,
    logger: options.logger,
    clientOptions: {
      ...apiBase(options),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      allowAbsoluteUrls: false,
    },
  });
  const listeners = trackListeners(app);
  acknowledgeMentionsLast(app);
  const self = { ...options.self, app: options.appId };
  app.use(createWorkspaceCheck({ ...options, self, answerAt: deps.answerAt, log }));
  listen(app, deps);
  app.error(({ error, body }: { error: Error; body: object }) => reportFailure(error, body, deps));
  return withHomes({ ...connection, ...ending(options.transport, connection, listeners) }, deps.homes);
}

/** Keeps the open Home tabs up to date while the app runs. */
function withHomes(app: SlackApp, homes: LiveHomes): SlackApp {
  return {
    ...app,
    start: async () => {
      await app.start();
      void homes.restore();
    },
    stop: async (...times) => {
      homes.stop();
      await app.stop(...times);
      await homes.written();
    },
  };
}

type Ending = Pick<SlackApp, "connection" | "stop">;

function ending({ mode }: Transport, connection: Omit<Connection, "receiver">, listeners: Listeners): Ending {
  let isStopping = false;
  /** Resolves when nothing is left to acknowledge. Anything read later arrives in a later turn of the event loop. */
  const settled = async (): Promise<void> => {
    do {
      await connection.acknowledged();
      await listeners.whenIdle();
    } while (connection.hasUnacknowledged());
  };
  return {
    connection: () => (isStopping ? "stopping" : connection.state()),
    stop: async (ms, lastRequestsMs) => {
      isStopping = true;
      connection.retire();
      if (mode === "http") await pause(lastRequestsMs);
      await Promise.race([settled(), pause(ms)]);
      await connection.stop();
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());

type HttpTransport = Extract<Transport, { mode: "http" }>;

function httpConnection(options: BoltOptions, { signingSecret, seen }: HttpTransport): Connection {
  const receiver = new HTTPReceiver({
    signingSecret,
    endpoints: [EVENTS_PATH],
    logger: options.logger,
    bodyLimit: MAX_BODY_BYTES,
  });
  const { now, rejectedRequests } = options;
  const next = receiver.requestListener.bind(receiver);
  const verifier = createRequestVerifier({ signingSecret, now, seen, rejectedRequests, next });
  let isOpen = false;
  let isRetiring = false;
  const listener: RequestListener = (request, response) => {
    if (isRetiring) response.setHeader("connection", "close");
    if (isOpen) verifier(request, response);
    else response.writeHead(503, { connection: "close" }).end();
  };
  const setOpen = (value: boolean) => async (): Promise<void> => void (isOpen = value);
  return {
    receiver,
    start: setOpen(true),
    retire: () => void (isRetiring = true),
    stop: setOpen(false),
    state: () => (isOpen ? "connected" : "lost"),
    // In HTTP mode, listeners acknowledge a request before they end.
    hasUnacknowledged: () => false,
    acknowledged: () => Promise.resolve(),
    listener,
  };
}

/**
 * Bolt acknowledges events before their listeners run. But a mention may start a run, and if the process dies before the run is stored,
 * Slack must send the mention again. A mention that takes longer than three seconds is also sent again, and starts nothing new.
 */
function acknowledgeMentionsLast(app: App): void {
  const processEvent = app.processEvent.bind(app);
  app.processEvent = async (event) => {
    if (!isMention(event.body)) return processEvent(event);
    await processEvent({ ...event, ack: async () => undefined });
    await event.ack();
  };
}

/** `whenIdle` resolves as soon as no listener is running. */
type Listeners = { readonly whenIdle: () => Promise<void> };

function trackListeners(app: App): Listeners {
  let count = 0;
  let idle = (): void => undefined;
  app.use(async ({ next }) => {
    count += 1;
    try {
      await next();
    } finally {
      count -= 1;
      if (count === 0) idle();
    }
  });
  return { whenIdle: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => (idle = resolve))) };
}

/** Logs every error that leaves a listener, and tells the person. It is not known how far the listener got. */
async function reportFailure(
  error: Error,
  body: object,
  { log, answerAt, command }: Pick<ListenerDeps, "log" | "answerAt" | "command">,
): Promise<void> {
  log.error({ error }, "could not handle a request from Slack");
  const url = "response_url" in body ? body.response_url : null;
  if (typeof url !== "string") return;
  try {
    await answerAt(url, failureAnswer(command));
  } catch (answerError) {
    log.warn({ error: answerError }, "could not tell the person about the failure either");
  }
}

export function failureAnswer(command: string): ReturnType<typeof textAnswer> {
  const text = `Something went wrong in Countersign, and what you asked for may or may not have happened. Look at the card, or at \`${command} list\`, before you try again. The log says more.`;
  return textAnswer("answer:failed", text);
}
