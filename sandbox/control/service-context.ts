// What the acts of the service and the gateway act on.

import type { SandboxClock } from "../clock.ts";
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
  /** Called after an act has changed what is not told otherwise. */
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
