// Sends one decision to a service over HTTP, and reads what its answer says about it.

import { expect, test } from "vitest";
import { ApprovalId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { requestOf } from "#src/domain/observe.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { replaceApproval, type Run, runId } from "#src/domain/run.ts";
import { createPerform } from "#src/engine/perform-effect.ts";
import type { Chat, People } from "#src/ports.ts";
import type { Store } from "#src/ports/store.ts";
import { contextAt, deliveredRun } from "../../make/history.ts";
import { NOON } from "../../make/run.ts";
import { serviceAt, startServer } from "./service.ts";

const ASKED = { id: "apr_1", action: "Delete staging", requested_at: "2026-11-20T10:00:00Z" };

/** Resolves to the outcome of an approval of `ASKED` that the service answers with this record. */
async function sent(record: Json, volatile: readonly string[] = []) {
  const { url } = await startServer((_request, response) => response.end(JSON.stringify(record)));
  const perform = createPerform({
    agents: serviceAt(url),
    people: {} as People,
    chat: {} as Chat,
    store: {} as Store,
    context: () => contextAt(),
  });
  return perform(ofAsked(volatile), { type: "send-decision", approval: ApprovalId(ASKED.id) });
}

function ofAsked(volatile: readonly string[]): Run {
  const run = deliveredRun({ type: "sending", at: NOON, tries: 1, lost: false });
  const [approval] = run.approvals;
  const id = runId(run);
  if (approval === undefined || id === null) throw new Error("no approval");
  const item = {
    id: approval.serviceId,
    action: ASKED.action,
    requestedAt: ASKED.requested_at,
    content: ASKED,
  };
  const request = requestOf(id, item, contextAt(0, { ...BUILT_IN, volatile }));
  return replaceApproval(run, { ...approval, request });
}

test("a decision that the service applied to another request is not confirmed", async () => {
  expect(await sent({ ...ASKED, status: "approved" })).toEqual({ type: "confirmed" });
  expect(await sent({ ...ASKED, status: "approved", action: "Delete production" })).toMatchObject({
    type: "unsure",
    why: "The agent service answered HTTP 200, but it describes another request.",
    answered: expect.stringContaining("Delete production") as string,
  });
});

test("a field that the policy calls volatile does not make it another request", async () => {
  const later = { ...ASKED, status: "approved", requested_at: "2026-11-20T10:30:00Z" };
  expect(await sent(later)).toMatchObject({ type: "unsure" });
  expect(await sent(later, ["requested_at"])).toEqual({ type: "confirmed" });
});
