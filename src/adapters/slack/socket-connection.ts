// Socket Mode: Slack's payloads reach us over a socket that we opened. We acknowledge every payload that we have read before we close the
// socket.

import type { RequestListener } from "node:http";
import { type Receiver, SocketModeReceiver } from "@slack/bolt";
import type { Logger } from "@slack/logger";
import { z } from "zod";
import type { Clock } from "../../engine/clock.ts";
import type { EventLog } from "../../ports.ts";
import type { Connections } from "./clients.ts";
import { openUntilAnswered } from "./socket-opening.ts";

/** How payloads reach the app. */
export type Connection = {
  readonly receiver: Receiver;
  start(): Promise<void>;
  /** Prepares for `stop`. In HTTP mode, connections are no longer kept open, so that no request arrives on one while we close it. */
  retire(): void;
  stop(): Promise<void>;
  /** "refused": the connection is lost, and Slack refuses the app's token. */
  state(): "connected" | "refused" | "lost";
  /** Whether a payload has arrived that is not yet acknowledged. */
  hasUnacknowledged(): boolean;
  /** Resolves when every payload that has arrived is acknowledged, or can no longer be acknowledged. */
  acknowledged(): Promise<void>;
  /** Handles Slack's requests in HTTP mode. Null in Socket Mode. */
  readonly listener: RequestListener | null;
};

type Side = {
  readonly apiUrl: string | null;
  /** The connections to use. Undefined to connect directly. */
  readonly through: Connections | undefined;
};

type Options = Side & {
  readonly appToken: string;
  /** Whether the installation consists of a single process. */
  readonly alone: boolean;
  readonly logger: Logger;
  readonly log: EventLog;
  readonly clock: Clock;
};

/** How long the socket client waits before it reconnects (ms). Slack requires this every few hours, and no click reaches us meanwhile. */
const RECONNECT_MS = 2_000;

/**
 * How long the socket client waits for a pong (ms). A process that gets no CPU time does not see pongs. If it then gave up its socket, the
 * clicks waiting in the socket would be lost. The accepted cost: a dead network is noticed only after this time.
 */
const PONG_MS = 10_000;

/** How long Slack waits for an acknowledgement (ms). A later acknowledgement has no effect. */
const ACKNOWLEDGE_MS = 3_000;

type Client = SocketModeReceiver["client"];

export function createSocketConnection(options: Options): Connection & { readonly client: Client } {
  const { appToken, alone, logger, log, clock, ...side } = options;
  // `openUntilAnswered` tries again. Unlike the SDK, it ends at a stop.
  const clientOptions = {
    ...apiBase(side),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: 10_000,
  };
  const receiver = new SocketModeReceiver({
    appToken,
    logger,
    ...(side.through === undefined ? {} : { dispatcher: side.through.dispatcher }),
    clientPingTimeout: RECONNECT_MS,
    installerOptions: { clientOptions },
  });
  const opening = openUntilAnswered(receiver.client, { clock, log });
  waitForPongs(receiver.client);
  watchSocketCount(receiver.client, { alone, log });
  const isOpen = followConnection(receiver.client);
  const envelopes = trackEnvelopes(receiver.client);
  closeOnceAcknowledged(receiver.client, envelopes);
  return {
    receiver,
    client: receiver.client,
    start: async () => void (await Promise.race([receiver.start(), opening.refusedAtStart])),
    retire: () => undefined,
    stop: () => {
      opening.stop();
      return receiver.stop();
    },
    state: () => (isOpen() ? "connected" : opening.isRefused() ? "refused" : "lost"),
    ...envelopes,
    listener: null,
  };
}

/** Returns a function that says whether the socket is open. */
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
 * Tracks payloads from their arrival, because Bolt does much before a listener begins. If the socket closed in between, the payload could
 * no longer be acknowledged, and Slack would tell the person that the app did not answer.
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
 * Sets the wait for pongs to `PONG_MS`. The client has one private setting for both waits, and reads the wait for pongs while it creates a
 * socket, which is between these two events. If a later version ignores the setting, the wait for pongs is `RECONNECT_MS`.
 */
export function waitForPongs(client: Client): void {
  client.on("authenticated", () => Object.assign(client, { clientPingTimeoutMS: PONG_MS }));
  client.on("connecting", () => Object.assign(client, { clientPingTimeoutMS: RECONNECT_MS }));
}

/**
 * Delays the closing of a socket until everything is acknowledged. Slack announces some seconds ahead that it will close a socket, and
 * sends nothing more to it. The client would close the socket at once, so payloads in progress could not be acknowledged.
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

// The number of sockets that Slack counts for our app. Slack sends each click to one of them. So a second program with the same app token,
// such as a test installation, gets half of the clicks but knows none of the cards.

const Greeting = z.object({ type: z.literal("hello"), num_connections: z.number().int() });
/** More than the length of Slack's greeting (characters). Longer messages are payloads, which are not parsed a second time. */
const GREETING_CHARS = 2_000;

/**
 * Logs when another program uses our app. Slack greets a socket once, when it opens. So the second program learns the count at once, and
 * the first program when it reconnects. `alone` means that the installation has one process, so a second socket belongs to another program.
 */
export function watchSocketCount(
  client: Pick<SocketModeReceiver["client"], "on">,
  { alone, log }: { readonly alone: boolean; readonly log: EventLog },
): void {
  let newest: number | null = null;
  client.on("ws_message", (data: unknown) => {
    const sockets = typeof data === "string" && data.length <= GREETING_CHARS ? greetingIn(data) : null;
    if (sockets === null) return;
    const before = newest;
    newest = sockets;
    // After a reconnection, Slack may still count the socket that has just ended. So the count must be too high twice in a row.
    if (alone && sockets > 1 && (before === null || before > 1)) log.warn({ sockets }, OTHER_SOCKETS);
  });
}

const OTHER_SOCKETS =
  "Slack counts other sockets on this app. If another program uses the same tokens, some clicks go to it and are refused there: give each installation its own app. After a crash, it is the old socket, for about a minute";

function greetingIn(data: string): number | null {
  if (!data.includes('"hello"')) return null;
  try {
    return Greeting.safeParse(JSON.parse(data)).data?.num_connections ?? null;
  } catch {
    return null;
  }
}
