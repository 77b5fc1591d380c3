// Acts on the servers of the service and the gateway.

import { z } from "zod";
import { agentRoutes } from "../service/agent-api.ts";
import { gatewayRoutes } from "../service/gateway-api.ts";
import { profileChange } from "../service/profile-table.ts";
import { type ControlAct, controlAct } from "./control-api.ts";
import { serverFault, times } from "./fault-args.ts";
import type { ServerController, ServiceContext } from "./servers.ts";

const nothing = z.strictObject({});

export function serviceActs(context: ServiceContext): readonly ControlAct[] {
  const { serviceController: controller } = context;
  const routes = agentRoutes.map(({ name }) => name);
  return [
    ...faultActs("service", controller, routes),
    loseNextAnswer(controller),
    ...powerActs("service", controller),
    ...ownActs(context),
  ];
}

function loseNextAnswer(controller: ServerController): ControlAct {
  const args = z.strictObject({ route: z.enum(["create-run", "read-run", "decide"]).default("decide") });
  return controlAct(
    { name: "service.loseNextAnswer", what: "the next request takes effect, but its answer is lost", args },
    ({ route }) => ({ fault: controller.fault({ route }, { type: "drop", effect: true }) }),
  );
}

function ownActs({ service, changed }: ServiceContext): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "service.rotateKey",
        what: "replaces the API key; a bot that is restarted gets the new key",
        args: z.strictObject({
          key: z
            .string()
            .regex(/^[\x21-\x7e]{8,200}$/, "8 to 200 ASCII characters without spaces")
            .exactOptional()
            .describe("default: a random key; it is never shown"),
        }),
      },
      ({ key }) => {
        service.control.rotateKey(key);
        changed();
      },
    ),
    controlAct(
      {
        name: "service.profile",
        what: "changes the behavior that the interface document leaves open, or breaks the document on purpose; returns the whole profile",
        args: profileChange,
      },
      (change) => {
        const profile = service.control.profile(change);
        changed();
        return profile;
      },
    ),
  ];
}

export function gatewayActs({
  gateway,
  gatewayController: controller,
  changed,
}: ServiceContext): readonly ControlAct[] {
  return [
    ...faultActs(
      "gateway",
      controller,
      gatewayRoutes.map(({ name }) => name),
    ),
    ...powerActs("gateway", controller),
    controlAct(
      {
        name: "gateway.status",
        what: "sets what /healthz answers; `ok` means healthy",
        args: z.strictObject({ status: z.string().min(1), message: z.string().default("") }),
      },
      (status) => {
        gateway.control.status(status);
        changed();
      },
    ),
  ];
}

type Server = "service" | "gateway";

function faultActs(
  server: Server,
  controller: ServerController,
  routes: readonly string[],
): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: `${server}.fault`,
        what: "injects a fault into the next requests, before or after they take effect; returns the name of the fault",
        args: z.strictObject({
          fault: serverFault,
          route: z.enum(routes).exactOptional().describe("default: any"),
          method: z.enum(["GET", "POST"]).exactOptional(),
          times,
        }),
      },
      ({ fault, times, ...match }) => ({ fault: controller.fault(match, fault, times) }),
    ),
    controlAct(
      {
        name: `${server}.release`,
        what: "ends a fault, and releases the requests that its gate holds",
        args: z.strictObject({ fault: z.string().describe("the name of the fault") }),
      },
      ({ fault }) => controller.release(fault),
    ),
    controlAct(
      {
        name: `${server}.clearFaults`,
        what: "ends all faults and opens all gates; a delay set with `slow` stays",
        args: nothing,
      },
      controller.clearFaults,
    ),
  ];
}

function powerActs(server: Server, controller: ServerController): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: `${server}.slow`,
        what: "delays every answer",
        args: z.strictObject({
          ms: z.number().int().min(0).max(600_000).describe("0: no delay"),
        }),
      },
      ({ ms }) => controller.slow(ms),
    ),
    controlAct({ name: `${server}.down`, what: "refuses all connections", args: nothing }, controller.down),
    controlAct({ name: `${server}.up`, what: "accepts connections again", args: nothing }, controller.up),
  ];
}
