// Socket Mode: Slack's payloads reach us over a socket that we opened. A payload that we have read is acknowledged before we close it.

import type { RequestListener } from "node:http";
import { type Receiver, SocketModeReceiver } from "@slack/bolt";
import type { Logger } from "@slack/logger";
import { z } from "zod";
import type { EventLog } from "../../ports.ts";
import type { Connections } from "./clients.ts";

/** How payloads reach the app. */
export type Connection = {
  readonly receiver: Receiver;
  start(): Promise<void>;
  /** `stop` follows soon. In HTTP mode connections are not kept open any more, so that no request comes on one while we close it. */
  retire(): void;
  stop(): Promise<void>;
  connected(): boolean;
  /** Has a payload come that is not acknowledged yet? */
  hasUnacknowledged(): boolean;
  /** Resolves when every payload that has come is acknowledged, or cannot be any more. */
  acknowledged(): Promise<void>;
  /** Null in Socket Mode. */
  readonly listener: RequestListener | null;
};

type Side = {
  readonly apiUrl: string | null;
  /** Undefined: directly. */
  readonly through: Connections | undefined;
};

type Options = Side & {
  readonly appToken: string;
  /** The installation has one process. */
  readonly alone: boolean;
  readonly logger: Logger;
  readonly log: EventLog;
};

/** How long the socket client waits before it reconnects (ms). Slack asks for that every few hours, and no click reaches us meanwhile. */
const RECONNECT_MS = 2_000;

/**
 * How long the socket client waits for a pong (ms). A process that gets no processor time sees no pong either. If it then gives up its
 * socket, the clicks that wait in it are lost. A dead network is noticed this late.
 */
const PONG_MS = 10_000;

/** Slack waits so long for an acknowledgement (ms). A later one changes nothing. */
const ACKNOWLEDGE_MS = 3_000;

type Client = SocketModeReceiver["client"];

export function createSocketConnection(options: Options): Connection & { readonly client: Client } {
  const { appToken, alone, logger, log, ...side } = options;
  // A separate object: the receiver retries forever with these options, and the clients that post must never retry.
  const clientOptions = {
    ...apiBase(side),
    retryConfig: { forever: true, retries: 10, factor: 1.5, maxTimeout: 30_000 },
    timeout: 10_000,
  };
  const receiver = new SocketModeReceiver({
    appToken,
    logger,
    ...(side.through === undefined ? {} : { dispatcher: side.through.dispatcher }),
    clientPingTimeout: RECONNECT_MS,
    installerOptions: { clientOptions },
  });
  waitForPongs(receiver.client);
  watchSocketCount(receiver.client, { alone, log });
  const connected = followConnection(receiver.client);
  const start = async (): Promise<void> => {
    await receiver.start().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `Slack refuses SLACK_APP_TOKEN (${why}). It needs an app-level token with the scope connections:write.`,
        { cause: error },
      );
    });
  };
  const envelopes = trackEnvelopes(receiver.client);
  closeOnceAcknowledged(receiver.client, envelopes);
  return {
    receiver,
    client: receiver.client,
    start,
    retire: () => undefined,
    stop: () => receiver.stop(),
    connected,
    ...envelopes,
    listener: null,
  };
}

/** Says whether the socket is open. */
function followConnection(client: Client): () => boolean {
  let isOpen = false;
  client.on("connected", () => (isOpen = true));
  for (const event of ["reconnecting", "disconnected"]) client.on(event, () => (isOpen = false));
  return () => isOpen;
}

type ApiBase = { slackApiUrl?: string; fetch?: Connections["fetch"] };

export const apiBase = ({ apiUrl, through }: Side): ApiBase => ({
  ...(apiUrl === null ? {} : { slackApiUrl: apiUrl }),
  ...(through === undefined ? {} : { fetch: through.fetch }),
});

type Envelopes = Pick<Connection, "hasUnacknowledged" | "acknowledged">;

/**
 * Bolt does much between the arrival of an envelope and the first line of a listener. A socket that is closed in between takes no
 * acknowledgement any more, and Slack tells the person that the app did not answer.
 */
function trackEnvelopes(client: Client): Envelopes {
  const open = new Map<string, NodeJS.Timeout>();
  const waiting: (() => void)[] = [];
  const settle = (id: string): void => {
    clearTimeout(open.get(id));
    open.delete(id);
    if (open.size === 0) for (const done of waiting.splice(0)) done();
  };
  client.on("slack_event", ({ envelope_id: id }: { envelope_id: string }) => {
    open.set(id, setTimeout(() => settle(id), ACKNOWLEDGE_MS).unref());
  });
  client.on("outgoing_message", ({ envelope_id: id }: { envelope_id: string }) => settle(id));
  return {
    hasUnacknowledged: () => open.size > 0,
    acknowledged: () =>
      open.size === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve)),
  };
}

/**
 * The client has one private setting for both waits. It reads the wait for pongs while it makes a socket, which is between these two
 * events. If it ignores the setting one day, pongs have `RECONNECT_MS`.
 */
export function waitForPongs(client: Client): void {
  client.on("authenticated", () => Object.assign(client, { clientPingTimeoutMS: PONG_MS }));
  client.on("connecting", () => Object.assign(client, { clientPingTimeoutMS: RECONNECT_MS }));
}

/**
 * Slack announces some seconds ahead that it closes a socket, and sends nothing more to it. The client would close it at once, and what we
 * are handling at that moment could not be acknowledged.
 */
function closeOnceAcknowledged(client: Client, { hasUnacknowledged, acknowledged }: Envelopes): void {
  client.on("connecting", () => {
    const { websocket } = client;
    if (websocket === undefined) return;
    const close = websocket.disconnect.bind(websocket);
    websocket.disconnect = () =>
      hasUnacknowledged() && websocket.isActive() ? void acknowledged().then(close) : close();
  });
}

// How many sockets Slack counts for our app. It hands each click to one of them, so a second program with the same app token, such as
// a test installation, takes half of the clicks and knows none of the cards.

const Greeting = z.object({ type: z.literal("hello"), num_connections: z.number().int() });
/** Slack's greeting is shorter, and payloads are not parsed a second time (characters). */
const GREETING_CHARS = 2_000;

/**
 * Slack greets a socket once, at its beginning. So the program that comes second is told at once, and the first one when it connects
 * again. `alone`: the installation has one process, so a second socket is another program's; then the log says so.
 */
export function watchSocketCount(
  client: Pick<SocketModeReceiver["client"], "on">,
  { alone, log }: { readonly alone: boolean; readonly log: EventLog },
): void {
  let newest: number | null = null;
  client.on("ws_message", (data: unknown) => {
    const said = typeof data === "string" && data.length <= GREETING_CHARS ? greetingIn(data) : null;
    if (said === null) return;
    const before = newest;
    newest = said;
    // At a reconnection Slack can still count the socket that has just ended, so then it must say so twice.
    if (alone && said > 1 && (before === null || before > 1)) log.warn({ sockets: said }, OTHERS);
  });
}

const OTHERS =
  "Slack counts other sockets on this app. If another program uses its tokens, clicks go to that one and are refused: give each installation an app of its own. After a crash it is the old socket, for a minute";

function greetingIn(data: string): number | null {
  if (!data.includes('"hello"')) return null;
  try {
    return Greeting.safeParse(JSON.parse(data)).data?.num_connections ?? null;
  } catch {
    return null;
  }
}
