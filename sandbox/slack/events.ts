// The Events API: sends the events that the manifest subscribes to and its scopes allow, and resends unacknowledged events.

import type { Outcome, Payload, Sent } from "./delivery.ts";
import type { SlackContext } from "./slack-context.ts";
import type { Json } from "./json-object.ts";

type Needs = Pick<SlackContext, "workspace" | "manifest" | "timing" | "now" | "scopes"> & {
  readonly send: (payload: Payload) => Sent;
};

export type Events = ReturnType<typeof createEvents>;

/** docs.slack.dev, events: the scope that each event needs. app_home_opened needs none. */
export const eventScopes: ReadonlyMap<string, string | null> = new Map([
  ["app_home_opened", null],
  ["app_mention", "app_mentions:read"],
  ["message.channels", "channels:history"],
  ["message.groups", "groups:history"],
  ["message.im", "im:history"],
  // For private channels, the caller passes groups:read instead.
  ["member_joined_channel", "channels:read"],
]);

/** `of` is the number of the first delivery in the traffic log, or 0 if there was none. */
type Attempt = { readonly body: Json; readonly count: number; readonly reason: string; readonly of: number };

export function createEvents(needs: Needs) {
  const timers = new Set<NodeJS.Timeout>();
  const attempt = async ({ body, count, reason, of }: Attempt): Promise<void> => {
    const retry = count > 0 ? { retry: { attempt: count, reason, of } } : {};
    const { number, outcome } = needs.send({ kind: "events_api", body, ...retry });
    const result = await outcome;
    const delay = needs.timing.retryDelaysMs[count];
    if (result.ok || delay === undefined || (result.why === "http_error" && result.last)) return;
    const next = { body, count: count + 1, reason: reasonOf(result), of: count > 0 ? of : number };
    const timer = setTimeout(() => {
      timers.delete(timer);
      void attempt(next);
    }, delay);
    timers.add(timer);
  };
  const receives = (name: string, needed?: string): boolean => {
    const scope = needed ?? eventScopes.get(name) ?? null;
    return needs.manifest.events.has(name) && (scope === null || needs.scopes.has(scope));
  };
  return {
    /** Sends an event. `name` is its name in the manifest, `needed` a scope other than the default. Settles after the first attempt. */
    send: async (name: string, event: Json, needed?: string): Promise<void> => {
      if (receives(name, needed))
        await attempt({ body: callback(event, needs), count: 0, reason: "", of: 0 });
    },
    stop: (): void => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

const reasonOf = (outcome: Outcome & { ok: false }): string =>
  ({ timeout: "http_timeout", unreachable: "connection_failed", http_error: "http_error" })[outcome.why];

const callback = (event: Json, { workspace, now }: Needs): Json => ({
  token: "deprecated",
  team_id: workspace.team.id,
  api_app_id: workspace.app.id,
  event: { ...event, event_ts: workspace.nextTs() },
  type: "event_callback",
  event_id: workspace.nextId("Ev"),
  event_time: Math.floor(now() / 1000),
  authorizations: [
    {
      enterprise_id: null,
      team_id: workspace.team.id,
      user_id: workspace.app.person,
      is_bot: true,
      is_enterprise_install: false,
    },
  ],
  is_ext_shared_channel: false,
});
