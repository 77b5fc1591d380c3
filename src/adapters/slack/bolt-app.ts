// The Bolt app: Socket Mode or HTTP, with the same listeners. Built by hand where Bolt's defaults hurt: its shared client options,
// its token check in the constructor, its retries.

import type { RequestListener } from "node:http";
import { App, HTTPReceiver, type Receiver, SocketModeReceiver } from "@slack/bolt";
import type { Logger } from "@slack/logger";
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
  /** Takes no more payloads, and waits for those under way (ms at most). */
  stop(ms: number): Promise<void>;
  /** Can payloads reach us right now? */
  connected(): boolean;
  /** In HTTP mode: what answers Slack's requests. */
  readonly listener: RequestListener | null;
};

export type BoltOptions = {
  readonly transport: Transport;
  readonly botToken: string;
  readonly apiUrl: string | null;
  readonly self: SlackSelf;
  /** Our app's id: every payload must bear it. */
  readonly appId: string;
  readonly teamOf: TeamOf;
  readonly now: () => number;
  readonly rejectedRequests: (because: string) => void;
  readonly logger: Logger;
};
/**
 * The socket client waits this long (ms) before it reconnects when Slack asks it to, and this long for a pong. Its own 5 s
 * leave people's clicks unheard for as long, every few hours.
 */
const CLIENT_PING_MS = 2_000;

export function createSlackApp(options: BoltOptions, deps: ListenerDeps): SlackApp {
  const { receiver, ...door } =
    options.transport.mode === "socket"
      ? socketDoor(options, options.transport.appToken)
      : httpDoor(options, options.transport);
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
  const underWay = countUnderWay(app);
  const self = { ...options.self, app: options.appId };
  app.use(createWorkspaceCheck({ ...options, self, answerAt: deps.answerAt, log: deps.log }));
  listen(app, deps);
  app.error(({ error, body }: { error: Error; body: object }) => tellOfFailure(error, body, deps));
  return {
    ...door,
    stop: async (ms) => {
      await Promise.race([underWay(), new Promise((resolve) => setTimeout(resolve, ms).unref())]);
      await door.stop();
    },
  };
}

const apiBase = ({ apiUrl }: BoltOptions): { slackApiUrl?: string } =>
  apiUrl === null ? {} : { slackApiUrl: apiUrl };

type Door = {
  receiver: Receiver;
  start(): Promise<void>;
  stop(): Promise<void>;
  connected(): boolean;
  listener: RequestListener | null;
};

function socketDoor(options: BoltOptions, appToken: string): Door {
  // Options of its own: the receiver writes its endless retries into them, which must not reach the clients that post.
  const clientOptions = {
    ...apiBase(options),
    retryConfig: { forever: true, retries: 10, factor: 1.5, maxTimeout: 30_000 },
    timeout: 10_000,
  };
  const receiver = new SocketModeReceiver({
    appToken,
    logger: options.logger,
    clientPingTimeout: CLIENT_PING_MS,
    installerOptions: { clientOptions },
  });
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

type HttpEntrance = Extract<Transport, { mode: "http" }>;

function httpDoor(options: BoltOptions, { signingSecret, seen }: HttpEntrance): Door {
  const receiver = new HTTPReceiver({
    signingSecret,
    endpoints: [EVENTS_PATH],
    logger: options.logger,
    bodyLimit: MAX_BODY_BYTES,
  });
  const { now, rejectedRequests } = options;
  const behind = receiver.requestListener.bind(receiver);
  const guard = createRequestVerifier({ signingSecret, now, seen, rejectedRequests, behind });
  let open = false;
  const listener: RequestListener = (request, response) => {
    if (open) guard(request, response);
    else response.writeHead(503, { connection: "close" }).end();
  };
  const turn = (to: boolean) => async (): Promise<void> => void (open = to);
  return { receiver, start: turn(true), stop: turn(false), connected: () => open, listener };
}

/** Counts listeners at work; the function returned resolves when there is none. */
function countUnderWay(app: App): () => Promise<void> {
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

/** The one place for what went wrong in a listener: logged, and the person is told. How far it came is not known here. */
async function tellOfFailure(
  error: Error,
  body: object,
  { log, answerAt, command }: Pick<ListenerDeps, "log" | "answerAt" | "command">,
): Promise<void> {
  log.error({ error }, "a request from Slack could not be handled");
  const url = "response_url" in body ? body.response_url : null;
  if (typeof url !== "string") return;
  const text = `Something went wrong in Countersign. It may be done or not: look at the card, or at \`${command} list\`, before you try again. The log says more.`;
  try {
    await answerAt(url, { text });
  } catch (failed) {
    log.warn({ error: failed }, "the person could not be told either");
  }
}
