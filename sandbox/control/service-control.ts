// The control API for the service and the gateway without the rest of the sandbox.

import { createChanges } from "../base/changes.ts";
import type { ControlAct } from "./control-api.ts";
import { type ControlHandler, createControlHandler } from "./handler.ts";
import { clockActs } from "./process-acts.ts";
import { runActs } from "./run-acts.ts";
import { gatewayActs, serviceActs } from "./server-acts.ts";
import { createServiceContext, type Servers, type ServiceContext } from "./servers.ts";
import { serviceReads } from "./service-reads.ts";

export function serverActs(context: ServiceContext): readonly ControlAct[] {
  return [...serviceActs(context), ...runActs(context), ...gatewayActs(context), ...clockActs(context.clock)];
}

/** Calls the listener after every change of the service, the gateway or the clock. */
export function serverChanges({ service, gateway, clock }: Servers, listener: () => void): () => void {
  const { subscribe } = service.runs;
  const ends = [
    subscribe(listener),
    service.requests.subscribe(listener),
    gateway.requests.subscribe(listener),
    clock.onChange(listener),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** Creates the handler, which must be served on a loopback port of its own. */
export function createServiceControl(servers: Servers): ControlHandler {
  const changes = createChanges();
  const context = createServiceContext(servers, changes.changed);
  serverChanges(servers, changes.changed);
  return createControlHandler({
    acts: serverActs(context),
    reads: serviceReads(context),
    onChange: changes.subscribe,
  });
}
