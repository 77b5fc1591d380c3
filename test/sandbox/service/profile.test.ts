import { afterEach, expect, test } from "vitest";
import { plainProfile } from "#sandbox/service/profile.ts";
import type { Profile } from "#sandbox/service/profile.ts";
import { profileChange, profileTable } from "#sandbox/service/profile-table.ts";
import { startService } from "#sandbox/service/start-service.ts";
import type { Service } from "#sandbox/service/start-service.ts";
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

test("by default, the service adds the tool, its arguments, the environment and the risk", async () => {
  await start({});
  const { id } = await asking(service, "Deploy v2.3 of billing to staging");
  expect((await read(service, id)).json["pending_approvals"]).toMatchObject([
    { action: "Deploy v2.3 of billing to staging", tool: "deploy", environment: "staging", risk: "medium" },
  ]);
});

test("after a decision, the next reads are stale as often as requested", async () => {
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

test("another deny word can replace the usual one", async () => {
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

test("a run can work and resume under custom names, or under none", async () => {
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

test("an Idempotency-Key is ignored unless the profile honors it", async () => {
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

test("errors can have other statuses and a common code", async () => {
  const statuses = {
    invalidStatus: 422,
    unauthorizedStatus: 403,
    unknownStatus: 400,
    resolvedStatus: 422,
  } as const;
  await start({ ...statuses, errorCodes: "invalid_request" });
  const { id, approvals } = await asking(service);
  const approve = { decision: "approve" };
  await decide(service, id, approvals[0], approve);
  const answers = [
    await send(service, "POST", "/v1/agent/runs", { body: "{}" }),
    await send(service, "GET", `/v1/agent/runs/${id}`, { headers: { authorization: "Bearer no" } }),
    await read(service, "run_0"),
    await decide(service, id, "apr_0", approve),
    await decide(service, id, approvals[0], approve),
    await send(service, "GET", "/v1/nothing"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([422, 403, 400, 400, 422, 404]);
  for (const { json } of answers) expect(json).toMatchObject({ error: { code: "invalid_request" } });
});

test("a repeated decision can be answered as before, but a different one never is", async () => {
  await start({ sameDecisionAgain: "answered" });
  const { id, approvals } = await asking(service);
  const first = await decide(service, id, approvals[0], { decision: "deny", reason: "no" });
  expect(await decide(service, id, approvals[0], { decision: "deny", reason: "no!" })).toEqual(first);
  expect((await decide(service, id, approvals[0], { decision: "approve" })).status).toBe(409);
  expect(service.runs.get(id)?.approvals).toMatchObject([{ state: { verdict: "deny", reason: "no" } }]);
});

test.for([
  ["seconds", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/],
  ["offset", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/],
] as const)("times can be written in: %s", async ([timestamps, form]) => {
  await start({ timestamps });
  const { id, approvals } = await asking(service);
  const asked = (await read(service, id)).json["pending_approvals"] as { requested_at: string }[];
  const { json } = await decide(service, id, approvals[0], { decision: "approve" });
  await ended(service, id);
  const over = (await read(service, id)).json;
  const made = await send(service, "POST", "/v1/agent/runs", { body: '{"input":"Work forever"}' });
  const times = [asked[0]?.requested_at, json["resolved_at"], over["completed_at"], made.json["created_at"]];
  for (const time of times) expect(time).toMatch(form);
});

test("unknown fields can be refused", async () => {
  await start({ extraFields: "refused" });
  const body = '{"input":"Work forever","model":"x"}';
  expect(await send(service, "POST", "/v1/agent/runs", { body })).toMatchObject({
    status: 400,
    json: { error: { message: "'model' is not a field of this request." } },
  });
  const { id, approvals } = await asking(service);
  expect((await decide(service, id, approvals[0], { decision: "approve", by: "me" })).status).toBe(400);
  expect((await decide(service, id, approvals[0], { decision: "approve", reason: "" })).status).toBe(200);
});

test("a value that a switch does not accept is refused with an explanation, and changes nothing", async () => {
  await start({});
  const wrong = { denyWord: "approve", staleReads: -1, deniedStatus: "denied" };
  expect(() => service.control.profile(wrong)).toThrow(
    '"denyWord" takes a word other than approve.\n"staleReads" takes a whole number from 0 to 1000.',
  );
  expect(service.control.profile()).toEqual(plainProfile);
  await expect(startService({ profile: { runningState: "succeeded" } })).rejects.toThrow('"runningState"');
});

test("the table has each switch once, and each accepts its default and all its choices", () => {
  expect(profileTable.map(({ name }) => name).sort()).toEqual(Object.keys(plainProfile).sort());
  for (const { name, usual, choices, schema } of profileTable) {
    expect(usual).toEqual(plainProfile[name]);
    for (const value of choices ?? [usual])
      expect(profileChange.safeParse({ [name]: value }).success).toBe(true);
    expect(schema.safeParse({}).success).toBe(false);
  }
});

/** Whether the service's answers have the bodies that the interface document shows. The run must wait for the approval. */
async function followsDocument(run: string, approval: string): Promise<boolean> {
  const input = { body: JSON.stringify({ input: "Deploy" }) };
  const [health, created, seen, error, decided] = [
    await send(service, "GET", "/v1/health"),
    await send(service, "POST", "/v1/agent/runs", input),
    await read(service, run),
    await read(service, "run_0"),
    await decide(service, run, approval, { decision: "approve", reason: "tested" }),
  ].map(({ json }) => json);
  return (
    health?.["status"] === "ok" &&
    created?.["status"] === "queued" &&
    Array.isArray(seen?.["pending_approvals"]) &&
    typeof (error?.["error"] as Record<string, unknown> | undefined)?.["code"] === "string" &&
    typeof decided?.["id"] === "string"
  );
}

test("the table names each value with which the service breaks the interface document, and no other", async () => {
  await start({});
  for (const { name, choices, breaks } of profileTable) {
    const broken: unknown[] = [];
    for (const value of choices ?? []) {
      service.control.profile(plainProfile);
      const { id, approvals } = await asking(service);
      service.control.profile({ [name]: value });
      if (!(await followsDocument(id, approvals[0] ?? ""))) broken.push(value);
    }
    expect({ [name]: breaks }).toEqual({ [name]: broken });
  }
});
