// Stop and its lifting, pressed in a run's thread or on a card. The press is trusted only for who pressed, and where.

import { auditEntry } from "../audit/entry.ts";
import { liftStop, refusalToLift, refusalToStop, rulesFor, stopRun } from "../domain/brake.ts";
import type { Person, Refusal } from "../domain/authorization.ts";
import type { ChannelId, RunKey, TeamId, UserId } from "../domain/ids.ts";
import type { Principals } from "../domain/policy/policy.ts";
import { ok, type Result } from "../domain/result.ts";
import { isStoppable, isStopped, type Run } from "../domain/run.ts";
import { lookUp, SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import { CLICK_AGE_MS } from "./open-form.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** `run` null: the button carried no valid key. */
export type BrakePress = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly run: RunKey | null;
};

export type StopRun = {
  /** Everything that was not sent is denied when this resolves to ok. Rejects with PortError if it could not be stored. */
  stop(press: BrakePress): Promise<Result<Run, RefusedAttempt>>;
  lift(press: BrakePress): Promise<Result<Run, RefusedAttempt>>;
};

export function createStopRun(deps: DecideDeps): StopRun {
  return {
    stop: (press) => brake(deps, press, STOP),
    lift: (press) => brake(deps, press, LIFT),
  };
}

/** What is written, and who may. */
type Brake = {
  readonly step: "stop" | "lift";
  readonly what: "stopped" | "stop-lifted";
  readonly apply: typeof stopRun;
  readonly refusal: typeof refusalToStop;
  /** How old the facts about the person may be (ms). To let approvals be given again needs fresh ones. */
  readonly maxAgeMs: number;
  /** Whether the press has anything to do. */
  readonly wanted: (run: Run) => boolean;
};

const STOP: Brake = {
  step: "stop",
  what: "stopped",
  apply: stopRun,
  refusal: refusalToStop,
  maxAgeMs: CLICK_AGE_MS,
  wanted: (run) => !isStopped(run),
};
const LIFT: Brake = {
  step: "lift",
  what: "stop-lifted",
  apply: liftStop,
  refusal: refusalToLift,
  maxAgeMs: SUBMIT_AGE_MS,
  wanted: isStopped,
};

async function brake(
  deps: DecideDeps,
  press: BrakePress,
  { step, what, apply, refusal, wanted, maxAgeMs }: Brake,
): Promise<Result<Run, RefusedAttempt>> {
  const { team, user, channel, run: key } = press;
  const run = key === null ? null : ((await deps.store.load(key))?.run ?? null);
  if (key === null || run === null || run.team !== team || run.channel !== channel)
    return refused(deps, { refusal: { type: "unknown" }, run: null }, press, { step });
  const person = await personFor(deps, run, user, maxAgeMs);
  const no: Refusal | null = "type" in person ? person : refusal(person, run, deps.context().policy);
  if (no !== null) return refused(deps, { refusal: no, run }, press, { step });
  const after = await deps.engine.transact<Refusal | null>(
    key,
    (newest) => {
      if (!isStoppable(newest)) return { run: newest, value: { type: "closed", why: "run-over" } };
      if (!wanted(newest)) return { run: newest, value: null };
      const ctx = deps.context();
      const entry = auditEntry(newest, { at: ctx.now, what, outcome: what, by: { team, user } });
      return { run: apply(newest, user, ctx), value: null, sideWrites: { audit: [entry] } };
    },
    { mustHold: false },
  );
  if (after === null) return refused(deps, { refusal: { type: "unknown" }, run }, press, { step });
  if (after.value !== null) return refused(deps, { refusal: after.value, run }, press, { step });
  return ok(after.run);
}

/** Facts about the person for all the rules of the run. */
function personFor(deps: DecideDeps, run: Run, user: UserId, maxAgeMs: number): Promise<Person | Refusal> {
  const lists = rulesFor(run, deps.context().policy).map(({ approvers }) => approvers);
  const named = lists.flatMap((each) => (each === "anyone" ? [] : [each]));
  const principals: Principals = {
    users: [],
    groups: [...new Set(named.flatMap(({ groups }) => groups))],
    channels: [...new Set(named.flatMap(({ channels }) => channels))],
  };
  return lookUp(deps, run, { user, principals, maxAgeMs });
}
