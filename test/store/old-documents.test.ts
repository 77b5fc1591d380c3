import { expect, test } from "vitest";
import { decide } from "#src/core/take-decision.ts";
import { fromRow, toRow } from "#src/store/run-row.ts";
import { contextAt, listedRun } from "../make/history.ts";
import { APPROVER, TEAM } from "../make/run.ts";

/** What version 1 did not write. */
const LATER = ["ruling", "votes", "since", "readers", "audience"];

test("a run that was written before there were policies is read, and can be decided", () => {
  const run = listedRun("apr_1");
  const approvals = run.approvals.map((approval) =>
    Object.fromEntries(Object.entries(approval).filter(([name]) => !LATER.includes(name))),
  );
  const doc = JSON.stringify({ ...run, approvals });
  const stored = fromRow({ ...toRow(run), key: run.key, revision: 7, doc_version: 1, doc });
  expect(stored).toEqual({ run, revision: 7 });
  const [approval] = stored.run.approvals;
  if (approval === undefined) throw new Error("nothing is listed");
  const { id, version, request } = approval;
  const by = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true } as const;
  const submission = {
    approval: id,
    version,
    digest: request.digest,
    was: request,
    verdict: "approve",
    reason: "",
    by,
  } as const;
  expect(decide(stored.run, submission, contextAt())).toMatchObject({ ok: true });
});
