// Acts on the service and the gateway as servers.

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
    { name: "service.loseNextAnswer", what: "the next request takes effect, and its answer is lost", args },
    ({ route }) => ({ fault: controller.fault({ route }, { kind: "drop", effect: true }) }),
  );
}

function ownActs({ service, changed }: ServiceContext): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "service.rotateKey",
        what: "from now on only another key is right; a bot that is restarted gets it",
        args: z.strictObject({
          key: z
            .string()
            .regex(/^[\x21-\x7e]{8,200}$/, "8 to 200 ASCII characters without spaces")
            .exactOptional()
            .describe("minted when left out; it is never shown"),
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
        what: "changes what the interface leaves open, and tells how it is then",
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
  gatewayController: gatewayHand,
  changed,
}: ServiceContext): readonly ControlAct[] {
  return [
    ...faultActs(
      "gateway",
      gatewayHand,
      gatewayRoutes.map(({ name }) => name),
    ),
    ...powerActs("gateway", gatewayHand),
    controlAct(
      {
        name: "gateway.status",
        what: "what its /healthz says; `ok` is well",
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
        what: "the next requests meet a fault, before or after they take effect; tells the fault's name",
        args: z.strictObject({
          fault: serverFault,
          route: z.enum(routes).exactOptional().describe("without it, any"),
          method: z.enum(["GET", "POST"]).exactOptional(),
          times,
        }),
      },
      ({ fault, times, ...match }) => ({ fault: controller.fault(match, fault, times) }),
    ),
    controlAct(
      {
        name: `${server}.release`,
        what: "lets go of what a gate holds; the fault strikes no more",
        args: z.strictObject({ fault: z.string().describe("its name") }),
      },
      ({ fault }) => controller.release(fault),
    ),
    controlAct(
      {
        name: `${server}.clearFaults`,
        what: "no fault strikes any more, all gates open; slowness stays",
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
        what: "every answer comes so much later",
        args: z.strictObject({
          ms: z.number().int().min(0).max(600_000).describe("0: as fast as it can"),
        }),
      },
      ({ ms }) => controller.slow(ms),
    ),
    controlAct({ name: `${server}.down`, what: "refuses all connections", args: nothing }, controller.down),
    controlAct({ name: `${server}.up`, what: "takes connections again", args: nothing }, controller.up),
  ];
}
