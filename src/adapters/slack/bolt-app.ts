// The Bolt app, in Socket Mode or HTTP mode, with the same listeners. We build the receivers ourselves because Bolt's defaults do
// not fit: it shares client options, checks the token in its constructor, and retries calls.

import type { RequestListener } from "node:http";
import { App, HTTPReceiver, type Receiver, SocketModeReceiver } from "@slack/bolt";
import type { Logger } from "@slack/logger";
import type { Connections } from "./clients.ts";
import { textAnswer } from "./blocks/message-id.ts";
import { isMention } from "./payloads.ts";
import { createWorkspaceCheck, type TeamOf } from "./workspace-check.ts";
import { createRequestVerifier, EVENTS_PATH, MAX_BODY_BYTES, type ReplayCache } from "./request-verifier.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { listen } from "./listeners.ts";
import type { SlackSelf } from "./answers.ts";

export type Transport =
  | { readonly mode: "socket"; readonly appToken: string }
  | { readonly mode: "http"; readonly signingSecret: string; readonly seen: ReplayCache };

export type SlackApp = {
  /** Resolves when Slack's payloads reach us. Rejects with one line for people when Slack refuses the app's token. */
  start(): Promise<void>;
  /** Stops taking payloads. Waits at most `ms` for the listeners that are still at work. */
  stop(ms: number): Promise<void>;
  /** Can payloads reach us right now? */
  connected(): boolean;
  /** Answers Slack's requests in HTTP mode. Null in Socket Mode. */
  readonly listener: RequestListener | null;
};

export type BoltOptions = {
  readonly transport: Transport;
  readonly botToken: string;
  readonly apiUrl: string | null;
  /** Undefined: directly. */
  readonly through: Connections | undefined;
  readonly self: SlackSelf;
  /** Our app's id. We accept no payload of another app. */
  readonly appId: string;
  readonly teamOf: TeamOf;
  readonly now: () => number;
  readonly rejectedRequests: (reason: string) => void;
  readonly logger: Logger;
};

/** How long the socket client waits before it reconnects (ms). Slack asks for that every few hours, and no click reaches us meanwhile. */
const RECONNECT_MS = 2_000;

/**
 * How long the socket client waits for a pong (ms). A process that gets no processor time sees no pong either. If it then gives up its
 * socket, the clicks that wait in it are lost. A dead network is noticed this late.
 */
const PONG_MS = 10_000;

export function createSlackApp(options: BoltOptions, deps: ListenerDeps): SlackApp {
  const { receiver, ...connection } =
    options.transport.mode === "socket"
      ? socketConnection(options, options.transport.appToken)
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
  const whenIdle = trackListeners(app);
  acknowledgeMentionsLast(app);
  const self = { ...options.self, app: options.appId };
  app.use(createWorkspaceCheck({ ...options, self, answerAt: deps.answerAt, log: deps.log }));
  listen(app, deps);
  app.error(({ error, body }: { error: Error; body: object }) => reportFailure(error, body, deps));
  return {
    ...connection,
    stop: async (ms) => {
      await Promise.race([whenIdle(), new Promise((resolve) => setTimeout(resolve, ms).unref())]);
      await connection.stop();
    },
  };
}

type ApiBase = { slackApiUrl?: string; fetch?: Connections["fetch"] };

const apiBase = ({ apiUrl, through }: BoltOptions): ApiBase => ({
  ...(apiUrl === null ? {} : { slackApiUrl: apiUrl }),
  ...(through === undefined ? {} : { fetch: through.fetch }),
});

type Connection = {
  receiver: Receiver;
  start(): Promise<void>;
  stop(): Promise<void>;
  connected(): boolean;
  listener: RequestListener | null;
};

function socketConnection(options: BoltOptions, appToken: string): Connection {
  // A separate object: the receiver retries forever with these options, and the clients that post must never retry.
  const clientOptions = {
    ...apiBase(options),
    retryConfig: { forever: true, retries: 10, factor: 1.5, maxTimeout: 30_000 },
    timeout: 10_000,
  };
  const receiver = new SocketModeReceiver({
    appToken,
    logger: options.logger,
    ...(options.through === undefined ? {} : { dispatcher: options.through.dispatcher }),
    clientPingTimeout: RECONNECT_MS,
    installerOptions: { clientOptions },
  });
  waitForPongs(receiver.client);
  let connected = false;
  receiver.client.on("connected", () => (connected = true));
  receiver.client.on("reconnecting", () => (connected = false));
  receiver.client.on("disconnected", () => (connected = false));
  const start = async (): Promise<void> => {
    await receiver.start().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `Slack refuses SLACK_APP_TOKEN (${why}). It needs an app-level token with the scope connections:write.`,
        { cause: error },
      );
    });
  };
  return { receiver, start, stop: () => receiver.stop(), connected: () => connected, listener: null };
}

/**
 * The client has one private setting for both waits. It reads the wait for pongs while it makes a socket, which is between these two
 * events. If it ignores the setting one day, pongs have `RECONNECT_MS`.
 */
export function waitForPongs(client: SocketModeReceiver["client"]): void {
  client.on("authenticated", () => Object.assign(client, { clientPingTimeoutMS: PONG_MS }));
  client.on("connecting", () => Object.assign(client, { clientPingTimeoutMS: RECONNECT_MS }));
}

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
  let open = false;
  const listener: RequestListener = (request, response) => {
    if (open) verifier(request, response);
    else response.writeHead(503, { connection: "close" }).end();
  };
  const setOpen = (value: boolean) => async (): Promise<void> => void (open = value);
  return { receiver, start: setOpen(true), stop: setOpen(false), connected: () => open, listener };
}

/**
 * Bolt acknowledges events before their listeners run. A mention may start a run: if we die before the run is stored, Slack must send
 * the mention again. A mention that takes longer than three seconds comes again too, and starts nothing new.
 */
function acknowledgeMentionsLast(app: App): void {
  const processEvent = app.processEvent.bind(app);
  app.processEvent = async (event) => {
    if (!isMention(event.body)) return processEvent(event);
    await processEvent({ ...event, ack: async () => undefined });
    await event.ack();
  };
}

/** The returned function resolves as soon as no listener is at work. */
function trackListeners(app: App): () => Promise<void> {
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
  return () => (count === 0 ? Promise.resolve() : new Promise((resolve) => (idle = resolve)));
}

/** Every error that leaves a listener ends here: we log it and tell the person. How far the listener got is not known. */
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
  } catch (failed) {
    log.warn({ error: failed }, "could not tell the person about the failure either");
  }
}

export function failureAnswer(command: string): ReturnType<typeof textAnswer> {
  const text = `Something went wrong in Countersign, and what you asked for may or may not be done. Look at the card, or at \`${command} list\`, before you try again. The log says more.`;
  return textAnswer("answer:failed", text);
}
