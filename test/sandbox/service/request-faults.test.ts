import { afterEach, beforeEach, expect, test } from "vitest";
import { startService } from "#sandbox/service/start-service.ts";
import type { Service } from "#sandbox/service/start-service.ts";
import { asking, create, decide, ended, read, send } from "./client.ts";

let service: Service;
beforeEach(async () => {
  service = await startService({ tempo: 0 });
});
afterEach(() => service.stop());

/** The client's error when a connection is refused, reset or closed within a body. */
const noAnswer = /fetch failed|terminated/;
const approve = { decision: "approve", reason: "fine" };
const phase = (id: string) => service.runs.get(id)?.phase;

test("a connection that is dropped before the effect leaves the approval pending", async () => {
  const { id, approvals } = await asking(service);
  service.control.fault({ route: "decide" }, { type: "drop" });
  await expect(decide(service, id, approvals[0], approve)).rejects.toThrow(noAnswer);
  expect(phase(id)).toBe("awaiting_approval");
  const [lost] = await service.requests
    .until((all) => all.some((one) => one.lost))
    .then((all) => all.slice(-1));
  expect(lost).toMatchObject({ route: "decide", fault: "drop", status: null, done: true });
});

test("an answer that is lost after the effect has still resolved the approval", async () => {
  const { id, approvals } = await asking(service);
  service.control.fault({ route: "decide" }, { type: "drop", effect: true });
  await expect(decide(service, id, approvals[0], approve)).rejects.toThrow(noAnswer);
  expect(await ended(service, id)).toMatchObject({ phase: "succeeded" });
});

test("an answer that is cut off has still resolved the approval", async () => {
  const { id, approvals } = await asking(service);
  service.control.fault({ route: "decide" }, { type: "cut" });
  await expect(decide(service, id, approvals[0], approve)).rejects.toThrow(noAnswer);
  expect(await ended(service, id)).toMatchObject({ phase: "succeeded" });
});

test("an answer that is sent slowly arrives completely, but late", async () => {
  const { id, approvals } = await asking(service);
  service.control.fault({ route: "decide" }, { type: "drip", everyMs: 1 });
  const { status, text } = await decide(service, id, approvals[0], approve);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ status: "approved" });
  expect(await ended(service, id)).toMatchObject({ phase: "succeeded" });
});

test("a delay comes before the effect, or after it if that is requested", async () => {
  const late = { type: "delay", ms: 60_000 } as const;
  const [before, after] = [await asking(service), await asking(service)];
  for (const [{ id, approvals }, effect] of [
    [before, false],
    [after, true],
  ] as const) {
    service.control.fault({ route: "decide" }, { ...late, effect });
    decide(service, id, approvals[0], approve).catch(() => undefined);
    await service.requests.until((all) => all.some(({ path, fault }) => path.includes(id) && fault !== null));
  }
  await ended(service, after.id);
  expect(phase(before.id)).toBe("awaiting_approval");
  expect(service.requests.all({ route: "decide" })).toMatchObject([{ status: null }, { status: null }]);
});

test("a gate holds a request before its effect until it is released", async () => {
  const { id, approvals } = await asking(service);
  const gate = service.control.fault({ method: "POST", route: "decide" }, { type: "gate" });
  const answer = decide(service, id, approvals[0], approve);
  await service.requests.until((all) => all.some((one) => one.fault === "gate"));
  expect(phase(id)).toBe("awaiting_approval");
  gate.release();
  expect(await answer).toMatchObject({ status: 200 });
});

test("a gate after the effect holds only the answer, and clearing all faults opens it", async () => {
  const { id, approvals } = await asking(service);
  service.control.fault({ route: "decide" }, { type: "gate", effect: true });
  const answer = decide(service, id, approvals[0], approve);
  await ended(service, id);
  expect(service.requests.all({ route: "decide" })).toMatchObject([{ status: null, done: false }]);
  service.control.clearFaults();
  expect(await answer).toMatchObject({ status: 200 });
});

test("a request that hangs gets no answer, even if it took effect", async () => {
  const { id, approvals } = await asking(service);
  service.control.fault({ route: "decide" }, { type: "hang", effect: true });
  const answer = decide(service, id, approvals[0], approve);
  await ended(service, id);
  await service.stop();
  await expect(answer).rejects.toThrow(noAnswer);
});

test("a fault occurs as often as requested, and only where it was requested", async () => {
  const id = await create(service, "Work forever");
  const fault = service.control.fault(
    { route: "read-run" },
    { type: "answer", status: 503, body: "busy" },
    2,
  );
  expect((await send(service, "GET", "/v1/health")).status).toBe(200);
  expect((await read(service, id)).status).toBe(503);
  expect((await read(service, id)).text).toBe("busy");
  expect((await read(service, id)).status).toBe(200);
  expect(fault.hits()).toBe(2);
});

test("a fault with an answer prevents the effect, unless the effect is requested", async () => {
  const answer = { type: "answer", status: 500, headers: { "retry-after": "7" } } as const;
  service.control.fault({ route: "create-run" }, answer);
  service.control.fault({ route: "create-run" }, { ...answer, effect: true });
  await create(service, "Just say hello");
  expect(service.runs.all()).toHaveLength(0);
  await create(service, "Just say hello");
  expect(service.runs.all()).toHaveLength(1);
});

test("a garbage body, a huge body and a redirect are sent as requested", async () => {
  const id = await create(service, "Work forever");
  service.control.fault({}, { type: "garbage" });
  service.control.fault({}, { type: "huge", length: 300_000 });
  service.control.fault({}, { type: "redirect", to: "http://127.0.0.1:9/elsewhere" });
  const garbage = await read(service, id);
  expect(() => JSON.parse(garbage.text) as unknown).toThrow(SyntaxError);
  const huge = await read(service, id);
  expect([huge.text.length, typeof huge.json["padding"]]).toEqual([300_000, "string"]);
  expect((await read(service, id)).status).toBe(307);
});

test("a service that is down refuses connections, and works again when it is up", async () => {
  const id = await create(service, "Work forever");
  await service.control.down();
  await expect(read(service, id)).rejects.toThrow(noAnswer);
  await service.control.up();
  expect(await read(service, id)).toMatchObject({ status: 200, json: { id } });
});

test("after a rotation only the new key is accepted", async () => {
  const old = { headers: { authorization: `Bearer ${service.apiKey}` } };
  const id = await create(service, "Work forever");
  const key = service.control.rotateKey();
  expect(service.apiKey).toBe(key);
  expect((await send(service, "GET", `/v1/agent/runs/${id}`, old)).status).toBe(401);
  expect((await read(service, id)).status).toBe(200);
});

test("approvals can be withdrawn, returned, changed, added and resolved without the client's knowledge", async () => {
  const { control } = service;
  const { id, approvals } = await asking(service, "Deploy with two approvals");
  const [first, second = ""] = approvals;
  const pending = async () => (await read(service, id)).json["pending_approvals"];

  control.withdrawApproval(id, first);
  expect(await pending()).toMatchObject([{ id: second }]);
  control.returnApproval(id, first);
  control.changeApproval(id, first, { action: "Deploy everything" });
  expect(await pending()).toMatchObject([{ id: first, action: "Deploy everything" }, { id: second }]);
  const third = control.addApproval(id, { action: "And one thing more" });
  control.resolveElsewhere(id, second, { verdict: "deny", reason: "no" });
  expect(await pending()).toMatchObject([{ id: first }, { id: third, action: "And one thing more" }]);
  expect(await decide(service, id, second, approve)).toMatchObject({ status: 409 });
});

test("runs can end, vanish and reappear, and start elsewhere", async () => {
  const { control } = service;
  const asked = await asking(service);
  expect(() => control.finish(asked.id, "done")).toThrow("approval pending");
  control.cancel(asked.id, "an operator");
  expect((await read(service, asked.id)).json).toMatchObject({ status: "canceled", reason: "an operator" });
  expect(await decide(service, asked.id, asked.approvals[0], approve)).toMatchObject({ status: 409 });

  const { id } = control.createRun("Work forever");
  control.vanish(id);
  expect((await read(service, id)).status).toBe(404);
  control.reappear(id);
  control.fail(id, "out of disk");
  expect((await read(service, id)).json).toMatchObject({
    status: "failed",
    error: { message: "out of disk" },
  });
});
