// The acts of the service in a random history.

import type { ApprovalId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { APPROVALS } from "./cast.ts";
import { type Act, pick, type Playing, withRun } from "./playing.ts";
import type { ServiceRun } from "./service.ts";
import type { SimulatedWorld } from "./world.ts";

export const raise: Act = (playing) =>
  withRun(playing, (run, now) => {
    const { world, chance } = playing;
    playing.contents += 1;
    const id: ApprovalId = chance.of(APPROVALS);
    const content: Json = { action: "delete it", version: playing.contents };
    if (isOnItsWay(playing, run, id)) return;
    const form = world.records.forms.some((each) => each.run === run.id && each.approval === id);
    const waits = run.items.has(id) && isRecorded(world, run, id);
    if (!world.service.raise(run, id, content, now)) return;
    if (form) world.reached("a request changes while its form is open");
    if (waits) world.reached("a request changes after a decision on it, before one leaves");
  });

/**
 * Returns whether a decision has left and may still arrive. It cannot carry a condition in the service's interface, so it would be applied
 * to a changed request.
 */
const isOnItsWay = ({ world }: Playing, run: ServiceRun, id: ApprovalId): boolean =>
  world.records.sent.some(
    (each) => each.run === run.id && each.approval === id && each.arrivesBy > world.timeline.now,
  );

/** Returns whether someone was told that their decision or vote is recorded, and no decision on the approval has left. */
const isRecorded = ({ records }: SimulatedWorld, run: ServiceRun, id: ApprovalId): boolean => {
  const isOnIt = (each: { readonly run: ServiceRun["id"]; readonly approval: ApprovalId }): boolean =>
    each.run === run.id && each.approval === id;
  return (
    !records.sent.some(isOnIt) &&
    records.submits.some((each) => isOnIt(each) && each.told === "ok" && each.undoneAt === null)
  );
};

export const list: Act = (playing) =>
  withRun(playing, (run, now) => {
    const item = pick(playing.chance, run.items.values());
    if (item !== null) playing.world.service.list(run, item.id, !item.listed, now);
  });

export const elsewhere: Act = (playing) =>
  withRun(playing, (run, now) => {
    const { world, chance } = playing;
    const item = pick(chance, run.items.values());
    if (item !== null && world.service.resolveElsewhere(run, item.id, chance.of(["approve", "deny"]), now))
      world.reached("others resolve a request");
  });

export const hide: Act = (playing) => withRun(playing, (run) => void (run.known = !run.known));
export const end: Act = (playing) =>
  withRun(playing, (run, now) =>
    playing.world.service.end(run, playing.chance.of(["succeeded", "failed", "canceled"]), now),
  );

/** Others decide a request right before our next decision on it arrives, too late for our last look. */
export const overtake: Act = ({ world, chance }) => {
  world.service.overtakenBy = chance.of(["approve", "deny"]);
};
