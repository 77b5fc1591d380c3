// The context for acts on the service and the gateway.

import type { SandboxClock } from "../base/clock.ts";
import type { Gateway } from "../service/start-gateway.ts";
import type { Service } from "../service/start-service.ts";
import { createServerHand, type ServerHand } from "./servers.ts";

export type Servers = {
  readonly service: Service;
  readonly gateway: Gateway;
  readonly clock: SandboxClock;
};

export type ServiceContext = Servers & {
  readonly serviceHand: ServerHand;
  readonly gatewayHand: ServerHand;
  /** Called after a change that no other event reports. */
  readonly changed: () => void;
};

export function createServiceContext(servers: Servers, changed: () => void): ServiceContext {
  return {
    ...servers,
    serviceHand: createServerHand(servers.service.control, changed),
    gatewayHand: createServerHand(servers.gateway.control, changed),
    changed,
  };
}
