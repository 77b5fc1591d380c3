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
  serviceController: serviceHand,
  gatewayController: gatewayHand,
}: ServiceContext) {
  return {
    url: service.url,
    gatewayUrl: gateway.url,
    up: serviceHand.isUp(),
    gatewayUp: gatewayHand.isUp(),
    slowMs: serviceHand.slowMs(),
    clockAheadMs: clock.aheadMs(),
    faults: [...serviceHand.faults(), ...gatewayHand.faults().map((words) => `gateway, ${words}`)],
    profile: service.control.profile(),
    vanished: service.control.vanished(),
  };
}

export function serviceReads(context: ServiceContext): readonly ControlRead[] {
  const { service, gateway } = context;
  return [
    plainRead("/control/service", "how the service, the gateway and the clock stand", () =>
      serverState(context),
    ),
    runsRead(context),
    requestsRead("/control/requests", "every request that reached the service", service.requests),
    requestsRead("/control/gateway/requests", "every request that reached the gateway", gateway.requests),
    listRead(
      {
        path: "/control/gateway/usage",
        what: "the tokens that each key used, hour by hour; keys by their names only",
        query: z.strictObject({}),
      },
      "usage",
      () => gateway.usage(),
    ),
  ];
}

function runsRead({ service }: ServiceContext): ControlRead {
  const query = z.strictObject({
    run: z.string().exactOptional().describe("only this one"),
    task: z.string().exactOptional().describe("only those whose task has these words"),
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
  const named = { path: "/control/runs", what: "the service's runs, as the service knows them", query };
  return listRead(named, "runs", ({ run, task = "", phase }) =>
    service.runs
      .all()
      .filter((each) => run === undefined || each.id === run)
      .filter((each) => each.input.includes(task) && (phase === undefined || each.phase === phase)),
  );
}

function requestsRead(path: string, what: string, requests: Requests): ControlRead {
  const query = z.strictObject({
    after: z.coerce.number().int().min(0).default(0).describe("only those with a higher number"),
    route: z.string().exactOptional().describe("such as `decide`"),
    method: z.string().exactOptional(),
    done: z.stringbool().exactOptional().describe("true: only those that are over"),
  });
  return listRead({ path, what, query }, "requests", ({ after, done, ...match }) =>
    requests
      .all(match)
      .filter((each) => each.number > after && (done === undefined || each.done === done))
      // Entries change while their request lives.
      .map((each) => ({ ...each })),
  );
}
