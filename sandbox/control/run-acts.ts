// Acts on the service's runs and their approvals.

import { z } from "zod";
import { pendingOf, type Run } from "../service/service-run.ts";
import type { Service } from "../service/start-service.ts";
import { type ControlAct, controlAct } from "./control-api.ts";
import type { ServiceContext } from "./servers.ts";

const run = z.string().exactOptional().describe("its id; without it, the newest");
const approval = z.string().exactOptional().describe("its id; without it, the first that fits");
const action = z.string();
const details = z.record(z.string(), z.unknown());
const reason = z.string();

export function runActs(context: ServiceContext): readonly ControlAct[] {
  const { service } = context;
  return [
    ...askingActs(service),
    ...resolvingActs(service),
    ...endingActs(service),
    ...vanishingActs(context),
  ];
}

function askingActs({ control, runs }: Service): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "service.createRun",
        what: "a run begins at the service that nobody asked for in Slack; tells its id",
        args: z.strictObject({ task: z.string().min(1) }),
      },
      ({ task }) => ({ run: control.createRun(task).id }),
    ),
    controlAct(
      {
        name: "service.addApproval",
        what: "a run asks for one more approval; tells its id",
        args: z.strictObject({ run, action, details: details.default({}) }),
      },
      ({ run, ...ask }) => ({ approval: control.addApproval(runCalled(runs, run).id, ask) }),
    ),
    controlAct(
      {
        name: "service.changeApproval",
        what: "what an approval asks for becomes something else, under its old id",
        args: z.strictObject({
          run,
          approval,
          action: action.exactOptional(),
          details: details.exactOptional(),
        }),
      },
      ({ run, approval, ...to }) => {
        if (Object.keys(to).length === 0) throw new Error("Give an `action` or `details` to change it to.");
        control.changeApproval(...pending(runs, run, approval), to);
      },
    ),
  ];
}

function resolvingActs({ control, runs }: Service): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "service.withdrawApproval",
        what: "an approval is not asked for any more",
        args: z.strictObject({ run, approval }),
      },
      ({ run, approval }) => control.withdrawApproval(...pending(runs, run, approval)),
    ),
    controlAct(
      {
        name: "service.returnApproval",
        what: "a resolved or withdrawn approval is pending again, under its old id",
        args: z.strictObject({ run, approval }),
      },
      ({ run, approval }) => {
        const { id, approvals } = runCalled(runs, run);
        const resolved = approvals.find(
          ({ id, state }) => (approval ?? id) === id && state.type !== "pending",
        );
        if (resolved === undefined) throw new Error(`Run ${id} has no such approval that is resolved.`);
        control.returnApproval(id, resolved.id);
      },
    ),
    controlAct(
      {
        name: "service.resolveElsewhere",
        what: "someone decides on another way than Countersign",
        args: z.strictObject({
          run,
          approval,
          verdict: z.enum(["approve", "deny"]),
          reason: reason.nullable().default(null),
        }),
      },
      ({ run, approval, ...decision }) => control.resolveElsewhere(...pending(runs, run, approval), decision),
    ),
  ];
}

function endingActs({ control, runs }: Service): readonly ControlAct[] {
  return [
    controlAct(
      {
        name: "service.finish",
        what: "a run succeeds with this output",
        args: z.strictObject({ run, output: z.string().default("") }),
      },
      ({ run, output }) => control.finish(runCalled(runs, run).id, output),
    ),
    controlAct(
      {
        name: "service.fail",
        what: "a run fails with this message",
        args: z.strictObject({ run, message: z.string().default("An operator let it fail.") }),
      },
      ({ run, message }) => control.fail(runCalled(runs, run).id, message),
    ),
    controlAct(
      {
        name: "service.cancel",
        what: "a run is canceled for this reason",
        args: z.strictObject({ run, reason: reason.default("An operator canceled the run.") }),
      },
      ({ run, reason }) => control.cancel(runCalled(runs, run).id, reason),
    ),
  ];
}

function vanishingActs({ service: { control, runs }, changed }: ServiceContext): readonly ControlAct[] {
  const args = z.strictObject({ run });
  return [
    controlAct({ name: "service.vanish", what: "a run answers 404", args }, ({ run }) => {
      const { id } = runCalled(runs, run);
      control.vanish(id);
      changed();
    }),
    controlAct({ name: "service.reappear", what: "a run that vanished is there again", args }, ({ run }) => {
      const { id } = runCalled(runs, run);
      control.reappear(id);
      changed();
    }),
  ];
}

type Runs = Service["runs"];

function runCalled(runs: Runs, given: string | undefined): Run {
  const found = given === undefined ? runs.all().at(-1) : runs.get(given);
  if (found !== undefined) return found;
  throw new Error(given === undefined ? "The service has no run yet." : `The service has no run ${given}.`);
}

function pending(runs: Runs, run?: string, given?: string): [run: string, approval: string] {
  const asking = runCalled(runs, run);
  const found = pendingOf(asking).find(({ id }) => (given ?? id) === id);
  if (found !== undefined) return [asking.id, found.id];
  const what = given === undefined ? "asks for nothing" : `does not ask for ${given}`;
  throw new Error(`Run ${asking.id} ${what} now.`);
}
