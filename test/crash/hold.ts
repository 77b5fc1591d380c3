// Stops the bot at one exact place: in a call of its own that is answered only when the test releases it, or never.

import type { World } from "#sandbox/world/world.ts";

/** The call in which the process dies. */
export type Place = {
  /** A method of Slack's Web API, or a route of the service. */
  readonly call: string;
  /** Which of these calls it is, counted from the moment the hold is set up. */
  readonly nth: number;
  /**
   * `lost`: the call never takes effect. `late`: it takes effect when the next process is already up. `answered`: it takes effect, but its
   * answer is lost.
   */
  readonly cut: "lost" | "late" | "answered";
  /** If true, only direct messages to people count. Left out: all others count. */
  readonly notifications?: boolean;
};

export type Hold = { readonly reached: Promise<void>; release(): void };

const ROUTES = new Set(["create-run", "read-run", "decide"]);

export function hold(world: World, place: Place): Hold {
  return ROUTES.has(place.call) ? holdService(world, place) : holdSlack(world, place);
}

function holdSlack({ slack }: World, { call, nth, cut, notifications = false }: Place): Hold {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const toPerson = (channel: unknown): boolean => typeof channel === "string" && channel.startsWith("U");
  // Direct messages may arrive at any time, even in the middle of the next life.
  const fits = ({ channel }: { readonly [field: string]: unknown }): boolean =>
    toPerson(channel) === notifications;
  slack.faults.next(call, { until: Promise.resolve() }, nth - 1, fits);
  const fault = {
    // Read only at the moment when the call is held.
    get until() {
      reached.resolve();
      return gate.promise;
    },
    when: cut === "answered" ? ("after" as const) : ("before" as const),
    ...(cut === "lost" && { drop: "before" as const }),
  };
  slack.faults.next(call, fault, 1, fits);
  return { reached: reached.promise, release: () => gate.resolve() };
}

function holdService({ service }: World, { call, nth, cut }: Place): Hold {
  const reached = Promise.withResolvers<void>();
  const before = service.requests.all().length;
  if (nth > 1) service.control.fault({ route: call }, { type: "delay", ms: 0 }, nth - 1);
  const type = cut === "lost" ? "hang" : "gate";
  const fault = service.control.fault({ route: call }, { type, effect: cut === "answered" });
  const stop = service.requests.subscribe(() => {
    const held = service.requests
      .all({ route: call })
      .some((request) => request.number > before && request.fault === type);
    if (!held) return;
    stop();
    reached.resolve();
  });
  return { reached: reached.promise, release: () => fault.release() };
}

/** Holds the poll of the only watched run, so that the next reads are those of a decision. */
export async function holdPoll(world: World): Promise<Hold> {
  const held = hold(world, { call: "read-run", nth: 1, cut: "late" });
  await held.reached;
  return held;
}
