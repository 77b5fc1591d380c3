import { expect, test } from "vitest";
import { observe } from "#src/domain/observe.ts";
import { DECISION_LINGER_MS } from "#src/domain/reused-id.ts";
import { aSnapshot, contextAt, deliveredRun } from "../make/history.ts";
import { NOON } from "../make/run.ts";

const again = { id: "apr_1", content: { action: "drop the database" } };
const alike = { id: "apr_1 (2)", content: { action: "read the wiki" } };

test.each([[[again, alike]], [[alike, again]]])(
  "no two requests get the same id of ours, even if a service id looks like it",
  (pending) => {
    const run = deliveredRun({ type: "confirmed", at: NOON, stillListed: null });
    const ms = DECISION_LINGER_MS + 1;
    const next = observe(run, aSnapshot(run, pending, { askedAt: NOON + ms }), contextAt(ms));
    expect(next.approvals.map(({ id }) => id).toSorted()).toEqual(["apr_1", "apr_1 (2)", "apr_1 (3)"]);
  },
);
