// Reads of the service and the gateway: their state, the runs, and every request that reached them.

import { z } from "zod";
import type { Requests } from "../service/recorder.ts";
import type { Run } from "../service/service-run.ts";
import { type ControlRead, listRead, plainRead } from "./control-api.ts";
import type { ServiceContext } from "./servers.ts";

/** The state of the servers, as the page shows it. */
export function serverState({
  service,
  gateway,
  clock,
  serviceController,
  gatewayController,
}: ServiceContext) {
  return {
    url: service.url,
    gatewayUrl: gateway.url,
    up: serviceController.isUp(),
    gatewayUp: gatewayController.isUp(),
    gatewaySlowMs: gatewayController.slowMs(),
    gatewayStatus: gateway.control.status(),
    slowMs: serviceController.slowMs(),
    clockAheadMs: clock.aheadMs(),
    faults: [
      ...serviceController.faults(),
      ...gatewayController.faults().map((words) => `gateway, ${words}`),
    ],
    profile: service.control.profile(),
    vanished: service.control.vanished(),
  };
}

export function serviceReads(context: ServiceContext): readonly ControlRead[] {
  const { service, gateway } = context;
  return [
    plainRead("/control/service", "the state of the service, the gateway and the clock", () =>
      serverState(context),
    ),
    runsRead(context),
    requestsRead("/control/requests", "every request that reached the service", service.requests),
    requestsRead("/control/gateway/requests", "every request that reached the gateway", gateway.requests),
    listRead(
      {
        path: "/control/gateway/usage",
        what: "the tokens that each key used, by the hour; keys are shown by name only",
        query: z.strictObject({}),
      },
      "usage",
      () => gateway.usage(),
    ),
  ];
}

function runsRead({ service }: ServiceContext): ControlRead {
  const query = z.strictObject({
    run: z.string().exactOptional().describe("only the run with this id"),
    task: z.string().exactOptional().describe("only runs whose task contains this text"),
    phase: z
      .enum([
        "queued",
        "working",
        "awaiting_approval",
        "succeeded",
        "failed",
        "canceled",
      ] satisfies Run["phase"][])
      .exactOptional(),
  });
  const named = { path: "/control/runs", what: "the runs, as the service knows them", query };
  return listRead(named, "runs", ({ run, task = "", phase }) =>
    service.runs
      .all()
      .filter(({ id }) => run === undefined || id === run)
      .filter((one) => one.input.includes(task) && (phase === undefined || one.phase === phase)),
  );
}

function requestsRead(path: string, what: string, requests: Requests): ControlRead {
  const query = z.strictObject({
    after: z.coerce.number().int().min(0).default(0).describe("only requests with a higher number"),
    route: z.string().exactOptional().describe("such as `decide`"),
    method: z.string().exactOptional(),
    done: z.stringbool().exactOptional().describe("true: only requests that have ended"),
  });
  return listRead({ path, what, query }, "requests", ({ after, done, ...match }) =>
    requests
      .all(match)
      .filter((entry) => entry.number > after && (done === undefined || entry.done === done))
      // Copied, because an entry changes while its request is under way.
      .map((entry) => ({ ...entry })),
  );
}
