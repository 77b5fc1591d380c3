// Controls one server of the sandbox, the service or the gateway. It remembers the faults that it has injected, to show and end them.

import type { SandboxClock } from "../base/sandbox-clock.ts";
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

/** Calls `changed` after every change that can be read here. */
export function createServerController(control: Controlled, changed: () => void) {
  const slowness = createSlowness(control);
  const named = createNamedFaults(control);
  let up = true;
  const setPower = async (on: boolean): Promise<void> => {
    await (on ? control.up() : control.down());
    up = on;
    changed();
  };
  /** Moves the slowness behind all other faults again, and reports the change. */
  const moveSlownessLast = (ms = slowness.ms()): void => {
    slowness.set(ms);
    changed();
  };
  return {
    isUp: () => up,
    slowMs: slowness.ms,
    /** Describes the faults, without the slowness. */
    faults: () => describeFaults(control.faults(), slowness.fault()),
    slow: (ms: number): void => moveSlownessLast(ms),
    down: () => setPower(false),
    up: () => setPower(true),
    /** Returns the name by which the fault can be released. */
    fault: (match: RequestMatch, fault: Fault, times: number | "all" = 1): string => {
      const name = named.add(match, fault, times);
      moveSlownessLast();
      return name;
    },
    /** Ends the fault, and releases the requests that a gate holds. */
    release: (name: string): void => {
      named.release(name);
      moveSlownessLast();
    },
    /** Ends all faults. The slowness stays. */
    clearFaults: (): void => {
      control.clearFaults();
      moveSlownessLast();
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
    /** May be called more than once. */
    release: (name: string): void => {
      const handle = handles.get(name);
      if (handle === undefined) throw new Error(`There is no fault "${name}".`);
      handle.release();
      handle.clear();
    },
  };
}

/** Only the oldest matching fault applies. The slowness matches every request, so it must stay behind all others. */
function createSlowness(control: Controlled) {
  let active: { readonly ms: number; readonly fault: Fault; readonly handle: FaultHandle } | null = null;
  return {
    ms: () => active?.ms ?? 0,
    fault: () => active?.fault,
    set: (ms: number): void => {
      active?.handle.clear();
      const fault: Fault = { type: "delay", ms };
      active = ms === 0 ? null : { ms, fault, handle: control.fault({}, fault, "all") };
    },
  };
}

function describeFaults(all: readonly ActiveFault[], except: Fault | undefined): string[] {
  return all.filter(({ fault }) => fault !== except).map((one) => describeFault(one));
}

type ActiveFault = { readonly match: RequestMatch; readonly fault: Fault; readonly left: number };

const ROUTE_NAMES: Readonly<Record<string, string>> = {
  "": "request",
  "create-run": "start of a run",
  "read-run": "read of a run",
  decide: "decision",
  health: "health check",
};

function describeFault({ match, fault, left }: ActiveFault): string {
  const which = ROUTE_NAMES[match.route ?? ""] ?? match.route ?? match.method ?? "request";
  const whom =
    left === Infinity
      ? `every ${which}`
      : left === 1
        ? `the next ${which}`
        : `each of the next ${left} (${which})`;
  const effect = "effect" in fault && fault.effect ? ", after it took effect" : "";
  return `${whom}: ${describeKind(fault)}${effect}`;
}

function describeKind(fault: Fault): string {
  switch (fault.type) {
    case "answer":
      return `HTTP ${fault.status}`;
    case "delay":
      return `${fault.ms} ms late`;
    case "gate":
      return "held until it is released";
    case "hang":
      return "never answered";
    case "drop":
      return "the connection is cut";
    case "cut":
      return "half an answer, after it took effect";
    case "drip":
      return "an answer that arrives character by character, after it took effect";
    case "garbage":
      return "an answer that is not JSON, after it took effect";
    case "huge":
      return "an answer that is far too long, after it took effect";
    case "redirect":
      return "redirected";
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
  /** Must be called after a change that no other event reports. */
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
