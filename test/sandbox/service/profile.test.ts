import { afterEach, expect, test } from "vitest";
import type { Profile } from "#src/sandbox/service/profile.ts";
import { startService } from "#src/sandbox/service/start-service.ts";
import type { Service } from "#src/sandbox/service/start-service.ts";
import { asking, create, decide, ended, read, send } from "./client.ts";

const text: unknown = expect.any(String);

let service: Service;
afterEach(() => service.stop());

async function start(profile: Partial<Profile>) {
  service = await startService({ tempo: 0, profile });
  return service;
}

test.for([
  [
    "full",
    {
      id: text,
      action: text,
      status: "pending",
      requested_at: text,
    },
  ],
  ["id and action", { id: text, action: text }],
  ["lacking", { id: text, requested_at: text }],
  ["bare id", text],
] as const)("pending approvals can have the shape: %s", async ([pendingShape, item]) => {
  await start({ pendingShape });
  const { id } = await asking(service);
  expect((await read(service, id)).json["pending_approvals"]).toEqual([item]);
});

test("by itself the service adds the tool, its arguments, the environment and the risk", async () => {
  await start({});
  const { id } = await asking(service, "Deploy v2.3 of billing to staging");
  expect((await read(service, id)).json["pending_approvals"]).toMatchObject([
    { action: "Deploy v2.3 of billing to staging", tool: "deploy", environment: "staging", risk: "medium" },
  ]);
});

test("after a decision the next reads are as stale as asked", async () => {
  await start({ staleReads: 2 });
  const { id, approvals } = await asking(service);
  await decide(service, id, approvals[0], { decision: "approve" });
  await ended(service, id);
  const seen = [await read(service, id), await read(service, id), await read(service, id)];
  expect(seen.map(({ json }) => json["status"])).toEqual([
    "awaiting_approval",
    "awaiting_approval",
    "succeeded",
  ]);
});

test("another deny word takes the place of the usual one", async () => {
  await start({ denyWord: "reject", deniedStatus: "rejected" });
  const { id, approvals } = await asking(service);
  expect((await decide(service, id, approvals[0], { decision: "deny" })).status).toBe(400);
  const { json } = await decide(service, id, approvals[0], { decision: "reject" });
  expect(json["status"]).toBe("rejected");
});

test("a reason can be required to deny", async () => {
  await start({ reasonRequired: "to deny" });
  const { id, approvals } = await asking(service);
  expect((await decide(service, id, approvals[0], { decision: "deny", reason: " " })).status).toBe(400);
  expect((await decide(service, id, approvals[0], { decision: "deny", reason: "no" })).status).toBe(200);
});

test("a decision answered with 204 has no body", async () => {
  await start({ decideStatus: 204 });
  const { id, approvals } = await asking(service);
  expect(await decide(service, id, approvals[0], { decision: "approve" })).toMatchObject({
    status: 204,
    text: "",
  });
});

test("success bodies need not be JSON", async () => {
  await start({ successBody: "text" });
  expect(await send(service, "GET", "/v1/health")).toMatchObject({ status: 200, text: "OK, thank you.\n" });
});

test.for([
  ["other json", /^\{"detail":/],
  ["text", /^There is no run/],
  ["empty", /^$/],
] as const)("errors can come as: %s", async ([errorBody, told]) => {
  await start({ errorBody });
  const answer = await read(service, "run_0");
  expect(answer.status).toBe(404);
  expect(answer.text).toMatch(told);
});

test("a run can work and resume under names of their own, or under none", async () => {
  await start({ runningState: "executing", resumedState: "resuming" });
  const id = await create(service, "Work forever");
  await service.runs.until(id, ({ phase }) => phase === "working");
  expect((await read(service, id)).json).toEqual({ id, status: "executing" });
  const approval = service.control.addApproval(id, { action: "Reboot" });
  await decide(service, id, approval, { decision: "approve" });
  expect((await read(service, id)).json).toEqual({ id, status: "resuming" });
  service.control.profile({ runningState: null, resumedState: null });
  expect((await read(service, id)).json).toEqual({ id, status: "queued" });
});

test("an Idempotency-Key is ignored unless the profile honours it", async () => {
  await start({});
  const body = JSON.stringify({ input: "Work forever" });
  const post = (body: string) =>
    send(service, "POST", "/v1/agent/runs", { body, headers: { "idempotency-key": '"one"' } });
  const [first, second] = [await post(body), await post(body)];
  expect(first.json["id"]).not.toBe(second.json["id"]);

  service.control.profile({ honoursIdempotencyKey: true });
  const [third, fourth] = [await post(body), await post(body)];
  expect(third).toEqual(fourth);
  expect((await post('{"input":"Something else, forever"}')).status).toBe(422);
  expect(service.runs.all()).toHaveLength(3);
});
