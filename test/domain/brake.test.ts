// Who may stop a run, and who may lift the stop.

import { expect, test } from "vitest";
import type { Refusal } from "#src/domain/authorization.ts";
import { refusalToLift, refusalToStop } from "#src/domain/brake.ts";
import type { UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { aPolicy } from "../make/policy.ts";
import { anApproval, APPROVER, aWatchedRun, NOON, REQUESTER, withApprovals } from "../make/run.ts";
import { member, SECOND } from "../make/voting.ts";

const LAX = { policy: aPolicy({ selfApproval: true }, { selfApproval: false }), now: NOON };
const newRun = { ...aWatchedRun(), mayHaveAsked: [SECOND] };
const asking = withApprovals(newRun, anApproval());

const typeOf = (refusal: Refusal | null): Refusal["type"] | null => refusal?.type ?? null;
const toLift = (run: Run, user: UserId) => typeOf(refusalToLift(member(user), run, LAX));
const toStop = (run: Run, user: UserId) => typeOf(refusalToStop(member(user), run, LAX));

test.each([
  ["with a request", asking],
  ["before the first request", newRun],
])(
  "under a rule that lets the requester approve, people who may have asked for the run can stop it but not lift the stop (%s)",
  (_, run) => {
    const people = [REQUESTER, SECOND, APPROVER];
    expect(people.map((user) => toLift(run, user))).toEqual(["requester", "requester", null]);
    expect(people.map((user) => toStop(run, user))).toEqual([null, null, null]);
  },
);
