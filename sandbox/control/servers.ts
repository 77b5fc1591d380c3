// Controls one server of the sandbox, the service or the gateway. It remembers the faults it has set, to show and undo them.

import type { SandboxClock } from "../base/clock.ts";
import type { Fault, FaultHandle, Faults } from "../service/request-faults.ts";
import type { RequestMatch } from "../service/recorder.ts";
import type { Gateway } from "../service/start-gateway.ts";
import type { Service } from "../service/start-service.ts";

type Controlled = {
  readonly fault: Faults["add"];
  readonly faults: Faults["list"];
  readonly clearFaults: () => void;
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
};

export type ServerController = ReturnType<typeof createServerController>;

/** `changed` is called after anything that can be read here has changed. */
export function createServerController(control: Controlled, changed: () => void) {
  const slowness = createSlowness(control);
  const named = createNamedFaults(control);
  let up = true;
  const power = async (on: boolean): Promise<void> => {
    await (on ? control.up() : control.down());
    up = on;
    changed();
  };
  /** Puts the slowness behind all other faults again. */
  const settled = (ms = slowness.ms()): void => {
    slowness.set(ms);
    changed();
  };
  return {
    isUp: () => up,
    slowMs: slowness.ms,
    /** The faults in words, without the slowness. */
    faults: () => standingWords(control.faults(), slowness.fault()),
    slow: (ms: number): void => settled(ms),
    down: () => power(false),
    up: () => power(true),
    /** Returns the name by which the fault can be released. */
    fault: (match: RequestMatch, fault: Fault, times: number | "all" = 1): string => {
      const name = named.add(match, fault, times);
      settled();
      return name;
    },
    /** Ends the fault, and releases the requests that a gate holds. */
    release: (name: string): void => {
      named.release(name);
      settled();
    },
    /** The slowness stays. */
    clearFaults: (): void => {
      control.clearFaults();
      settled();
    },
  };
}

function createNamedFaults({ fault: add }: Controlled) {
  const handles = new Map<string, FaultHandle>();
  return {
    add: (match: RequestMatch, fault: Fault, times: number | "all"): string => {
      const name = `fault-${handles.size + 1}`;
      handles.set(name, add(match, fault, times));
      return name;
    },
    /** May be called twice. */
    release: (name: string): void => {
      const handle = handles.get(name);
      if (handle === undefined) throw new Error(`There is no fault "${name}".`);
      handle.release();
      handle.clear();
    },
  };
}

/** The oldest matching fault applies, so the slowness must stay behind all others, or they would never apply. */
function createSlowness(control: Controlled) {
  let standing: { readonly ms: number; readonly fault: Fault; readonly handle: FaultHandle } | null = null;
  return {
    ms: () => standing?.ms ?? 0,
    fault: () => standing?.fault,
    set: (ms: number): void => {
      standing?.handle.clear();
      const fault: Fault = { kind: "delay", ms };
      standing = ms === 0 ? null : { ms, fault, handle: control.fault({}, fault, "all") };
    },
  };
}

function standingWords(all: readonly Standing[], but: Fault | undefined): string[] {
  return all.filter(({ fault }) => fault !== but).map((one) => faultWords(one));
}

type Standing = { readonly match: RequestMatch; readonly fault: Fault; readonly left: number };

const ROUTE_WORDS: Readonly<Record<string, string>> = {
  "": "request",
  "create-run": "start of a run",
  "read-run": "look at a run",
  decide: "decision",
  health: "look at the health",
};

function faultWords({ match, fault, left }: Standing): string {
  const which = ROUTE_WORDS[match.route ?? ""] ?? match.route ?? match.method ?? "request";
  const whom =
    left === Infinity
      ? `every ${which}`
      : left === 1
        ? `the next ${which}`
        : `each of the next ${left} (${which})`;
  const effect = "effect" in fault && fault.effect ? ", after it took effect" : "";
  return `${whom}: ${kindWords(fault)}${effect}`;
}

function kindWords(fault: Fault): string {
  switch (fault.kind) {
    case "answer":
      return `HTTP ${fault.status}`;
    case "delay":
      return `${fault.ms} ms late`;
    case "gate":
      return "held until it is let go";
    case "hang":
      return "no answer, ever";
    case "drop":
      return "the connection is cut";
    case "cut":
      return "half an answer, after it took effect";
    case "drip":
      return "an answer that arrives letter by letter, after it took effect";
    case "garbage":
      return "an answer that is no JSON, after it took effect";
    case "huge":
      return "an answer that is far too long, after it took effect";
    case "redirect":
      return "sent elsewhere";
  }
}

// The context for acts on the service and the gateway.

export type Servers = {
  readonly service: Service;
  readonly gateway: Gateway;
  readonly clock: SandboxClock;
};

export type ServiceContext = Servers & {
  readonly serviceController: ServerController;
  readonly gatewayController: ServerController;
  /** Called after a change that no other event reports. */
  readonly changed: () => void;
};

export function createServiceContext(servers: Servers, changed: () => void): ServiceContext {
  return {
    ...servers,
    serviceController: createServerController(servers.service.control, changed),
    gatewayController: createServerController(servers.gateway.control, changed),
    changed,
  };
}
