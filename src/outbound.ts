// Connections to the outside, directly or through the proxies that the environment names.

import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch, Pool } from "undici";
import type { Proxies } from "./config.ts";

/** Opens connections with these settings. The caller closes them. */
export type Open = (options: Agent.Options) => Dispatcher;

/** A proxy never leads back to the machine that asks it. Go's net/http has the same rule. */
const THIS_MACHINE = "localhost,127.0.0.1,::1";

/** A proxy that takes a connection and then says nothing must not use up the time limit of a whole call (ms). */
const PROXY_ANSWER_MS = 5_000;

export function createOpen(proxies: Proxies | null): Open {
  if (proxies === null) return (options) => new Agent(options);
  const { http, https, except } = proxies;
  return (options) =>
    new EnvHttpProxyAgent({
      ...options,
      // Without these texts undici would read the environment itself; an empty one means no proxy.
      httpProxy: http ?? "",
      httpsProxy: https ?? "",
      noProxy: `${except},${THIS_MACHINE}`,
      clientFactory: (origin, given) => new Pool(origin, { ...given, headersTimeout: PROXY_ANSWER_MS }),
    });
}

/** `fetch` sends each call over the dispatcher. */
export type SlackConnections = { readonly dispatcher: Dispatcher; readonly fetch: typeof globalThis.fetch };

/** The connections to Slack. The caller destroys the dispatcher. */
export function openSlack(proxies: Proxies | null): SlackConnections {
  const dispatcher = createOpen(proxies)({ allowH2: false });
  // The SDK wants Node's `fetch`, which does not take connections of another undici and would be a second one in memory. The package's own
  // behaves alike.
  const through = (url: string, init: object) => fetch(url, { ...init, dispatcher });
  return { dispatcher, fetch: through as typeof globalThis.fetch };
}
