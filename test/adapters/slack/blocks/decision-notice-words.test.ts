// The words of the private notices about decisions claim no decision of a person who gave none.

import { expect, test } from "vitest";
import { privateNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import type { Decision } from "#src/domain/approval.ts";
import { anApproval, APPROVER, aWatchedRun, NOON, withApprovals } from "../../../make/run.ts";
import { printedMessage } from "./printed.ts";

test.each<[Partial<Decision>, string]>([
  [{}, "its time was up"],
  [{ stoppedBy: APPROVER }, "the run was stopped"],
])("the notice about a request that %o denied does not say that its reader decided it", (by, why) => {
  const delivery = { type: "confirmed", at: NOON, stillListed: true } as const;
  const approval = anApproval();
  const decision: Decision = {
    verdict: "deny",
    reason: "",
    by: null,
    at: NOON,
    digest: approval.request.digest,
    ...by,
  };
  const denied = withApprovals(aWatchedRun(), withDelivery(approval, decision, delivery));
  const notice = { type: "decision-still-listed", approval: approval.id } as const;
  const shown = printedMessage(privateNotice(notice, denied));
  expect(shown).toContain(why);
  expect(shown).toContain("end the run");
  expect(shown).not.toMatch(/you decided|your decision/i);
});
