// Acts on the service's runs and their approvals.

import { z } from "zod";
import { pendingOf, type Run } from "../service/service-run.ts";
import type { Service } from "../service/start-service.ts";
import { type ControlAct, controlAct } from "./control-api.ts";
import type { ServiceContext } from "./servers.ts";

const run = z.string().exactOptional().describe("the run's id; default: the newest run");
const approval = z.string().exactOptional().describe("the approval's id; default: the first possible one");
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
        what: "starts a run outside Slack; returns its id",
        args: z.strictObject({ task: z.string().min(1) }),
      },
      ({ task }) => ({ run: control.createRun(task).id }),
    ),
    controlAct(
      {
        name: "service.addApproval",
        what: "makes a run ask for one more approval; returns its id",
        args: z.strictObject({ run, action, details: details.default({}) }),
      },
      ({ run, ...ask }) => ({ approval: control.addApproval(runCalled(runs, run).id, ask) }),
    ),
    controlAct(
      {
        name: "service.changeApproval",
        what: "changes what an approval asks for; its id stays",
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
        what: "withdraws an approval: the run no longer asks for it",
        args: z.strictObject({ run, approval }),
      },
      ({ run, approval }) => control.withdrawApproval(...pending(runs, run, approval)),
    ),
    controlAct(
      {
        name: "service.returnApproval",
        what: "makes a resolved or withdrawn approval pending again, under the same id",
        args: z.strictObject({ run, approval }),
      },
      ({ run, approval }) => {
        const { id, approvals } = runCalled(runs, run);
        const resolved = approvals.find(
          ({ id, state }) => (approval ?? id) === id && state.type !== "pending",
        );
        if (resolved === undefined) throw new Error(`Run ${id} has no such approval to reopen.`);
        control.returnApproval(id, resolved.id);
      },
    ),
    controlAct(
      {
        name: "service.resolveElsewhere",
        what: "decides an approval outside Countersign",
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
        what: "lets a run succeed with this output",
        args: z.strictObject({ run, output: z.string().default("") }),
      },
      ({ run, output }) => control.finish(runCalled(runs, run).id, output),
    ),
    controlAct(
      {
        name: "service.fail",
        what: "lets a run fail with this message",
        args: z.strictObject({ run, message: z.string().default("An operator ended the run.") }),
      },
      ({ run, message }) => control.fail(runCalled(runs, run).id, message),
    ),
    controlAct(
      {
        name: "service.cancel",
        what: "cancels a run for this reason",
        args: z.strictObject({ run, reason: reason.default("An operator canceled the run.") }),
      },
      ({ run, reason }) => control.cancel(runCalled(runs, run).id, reason),
    ),
  ];
}

function vanishingActs({ service: { control, runs }, changed }: ServiceContext): readonly ControlAct[] {
  const args = z.strictObject({ run });
  return [
    controlAct(
      { name: "service.vanish", what: "makes the service answer 404 for a run", args },
      ({ run }) => {
        const { id } = runCalled(runs, run);
        control.vanish(id);
        changed();
      },
    ),
    controlAct({ name: "service.reappear", what: "makes a vanished run reappear", args }, ({ run }) => {
      const { id } = runCalled(runs, run);
      control.reappear(id);
      changed();
    }),
  ];
}

type Runs = Service["runs"];

function runCalled(runs: Runs, id: string | undefined): Run {
  const found = id === undefined ? runs.all().at(-1) : runs.get(id);
  if (found !== undefined) return found;
  throw new Error(id === undefined ? "The service has no runs yet." : `The service has no run ${id}.`);
}

function pending(runs: Runs, run?: string, approval?: string): [run: string, approval: string] {
  const asking = runCalled(runs, run);
  const found = pendingOf(asking).find(({ id }) => (approval ?? id) === id);
  if (found !== undefined) return [asking.id, found.id];
  const what = approval === undefined ? "asks for nothing" : `does not ask for ${approval}`;
  throw new Error(`Run ${asking.id} ${what} now.`);
}
