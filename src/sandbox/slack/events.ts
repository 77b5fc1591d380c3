// The Events API: only what the manifest subscribes to, and again when it was not acknowledged.

import type { Deliver, Outcome } from "./delivery.ts";
import type { Ground } from "./ground.ts";
import type { Json } from "./rules-check.ts";

type Needs = Pick<Ground, "workspace" | "manifest" | "timing" | "now">;

export type Events = ReturnType<typeof createEvents>;

export const createEvents = (needs: Needs & { readonly deliver: Deliver }) => {
  const timers = new Set<NodeJS.Timeout>();
  const attempt = async (body: Json, count: number, reason: string): Promise<void> => {
    const retry = count > 0 ? { retry: { attempt: count, reason } } : {};
    const outcome = await needs.deliver({ kind: "events_api", body, ...retry });
    const delay = needs.timing.retryDelaysMs[count];
    if (outcome.ok || delay === undefined || (outcome.why === "http_error" && outcome.last)) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      void attempt(body, count + 1, reasonOf(outcome));
    }, delay);
    timers.add(timer);
  };
  return {
    /** `name` as the manifest has it, such as `message.channels`. Settles after the first attempt. */
    send: async (name: string, event: Json): Promise<void> => {
      if (needs.manifest.events.has(name)) await attempt(callback(event, needs), 0, "");
    },
    stop: (): void => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
};

const reasonOf = (outcome: Outcome & { ok: false }): string =>
  ({ timeout: "http_timeout", unreachable: "connection_failed", http_error: "http_error" })[outcome.why];

const callback = (event: Json, { workspace, now }: Needs): Json => ({
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
