// Connections to the outside, either direct or through the proxies that the environment names.

import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch, Headers, Pool, Response } from "undici";
import { isInRange, isLoopback, type Proxies } from "./config.ts";

/** Opens connections with these settings. The caller closes them. */
export type Open = (options: Agent.Options) => Dispatcher;

/** How long to wait for a proxy's answer (ms). A silent proxy must not use up the time limit of a whole call. */
const PROXY_ANSWER_MS = 5_000;

/** This machine is never called through a proxy. Go's net/http has the same rule. */
export function createOpen(proxies: Proxies | null): Open {
  if (proxies === null) return (options) => new Agent(options);
  return (options) => {
    const proxied = openProxied(proxies, options);
    const isDirect = ({ hostname }: URL): boolean =>
      isLoopback(hostname) || isInRange(hostname, proxies.except);
    const factory = (origin: string | URL): Dispatcher =>
      isDirect(new URL(origin)) ? new Pool(origin, options) : proxied;
    return new Agent({ ...options, factory });
  };
}

function openProxied({ http, https, except }: Proxies, options: Agent.Options): Dispatcher {
  const proxied = new EnvHttpProxyAgent({
    ...options,
    // Without these values, undici would read the environment itself. An empty value means no proxy.
    httpProxy: http ?? "",
    httpsProxy: https ?? "",
    noProxy: except,
    clientFactory: (origin, given) => new Pool(origin, { ...given, headersTimeout: PROXY_ANSWER_MS }),
  });
  // Each origin that is called adds its listeners.
  return proxied.setMaxListeners(0);
}

/** `fetch` sends each call over the dispatcher. */
export type SlackConnections = { readonly dispatcher: Dispatcher; readonly fetch: typeof globalThis.fetch };

/** How long a handshake of a socket may take (ms). The SDK's own time limits of all other calls are shorter. */
const HANDSHAKE_MS = 15_000;

/** Opens the connections to Slack. The caller destroys the dispatcher. */
export function openSlack(proxies: Proxies | null): SlackConnections {
  const dispatcher = createOpen(proxies)({ allowH2: false, headersTimeout: HANDSHAKE_MS });
  // The SDK expects Node's `fetch`. That one does not accept connections of another undici, and would be a second copy in memory. The
  // package's own `fetch` behaves the same.
  const through = async (url: string, init: object) =>
    withRetryAfter(await fetch(url, { ...init, dispatcher }));
  return { dispatcher, fetch: through as typeof globalThis.fetch };
}

/** How long calls wait after a 429 without a number of seconds (s). Slack's own 429 always has one. */
const USUAL_REST_S = 30;
const LONGEST_REST_S = 3_600;

/** Gives every 429 a number of seconds. Without one, the SDK reports an ordinary failure, after which a post may have been made. */
function withRetryAfter(answer: Response): Response {
  if (answer.status !== 429) return answer;
  const given = Number.parseInt(answer.headers.get("retry-after") ?? "", 10);
  const seconds = Number.isNaN(given) ? USUAL_REST_S : Math.min(Math.max(given, 0), LONGEST_REST_S);
  const headers = new Headers(answer.headers);
  headers.set("retry-after", String(seconds));
  return new Response(answer.body, { status: answer.status, headers });
}
