// Stops the bot at one exact place: in a call of its own that is answered only when someone lets go, or never.

import type { World } from "#sandbox/world/world.ts";

/** Between which two steps the process dies. */
export type Place = {
  /** A method of Slack's Web API, or a route of the service. */
  readonly call: string;
  /** Counted from the moment it is set up. */
  readonly nth: number;
  /**
   * `lost`: the call never takes effect. `late`: it takes effect when the next process is up already. `answered`: it took
   * effect, and its answer reaches nobody.
   */
  readonly cut: "lost" | "late" | "answered";
  /** Only messages to people count; left out: all but those. */
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
  // The letters of a life come when they come, also in the middle of the next life.
  const fits = ({ channel }: { readonly [field: string]: unknown }): boolean =>
    toPerson(channel) === notifications;
  slack.faults.next(call, { until: Promise.resolve() }, nth - 1, fits);
  const fault = {
    // Read at the moment the call is held, and at no other.
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
  if (nth > 1) service.control.fault({ route: call }, { kind: "delay", ms: 0 }, nth - 1);
  const kind = cut === "lost" ? "hang" : "gate";
  const fault = service.control.fault({ route: call }, { kind, effect: cut === "answered" });
  const stop = service.requests.subscribe(() => {
    const held = service.requests
      .all({ route: call })
      .some((request) => request.number > before && request.fault === kind);
    if (!held) return;
    stop();
    reached.resolve();
  });
  return { reached: reached.promise, release: () => fault.release() };
}

/** Takes the poll of the one run that is watched out of the game, so that the next looks are those of a decision. */
export async function holdPoll(world: World): Promise<Hold> {
  const held = hold(world, { call: "read-run", nth: 1, cut: "late" });
  await held.reached;
  return held;
}
