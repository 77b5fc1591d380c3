// The policy's saved tasks: who is offered which, what is started, and what the audit stores.

import { describe, expect, test } from "vitest";
import { ChannelId, GroupId } from "#src/domain/ids.ts";
import type { SavedTask } from "#src/domain/policy/saved-task.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const DEV = GroupId("S0DEV");
const BY = { team: TEAM, user: REQUESTER, channel: CHANNEL };
const aTask = (facts: Partial<SavedTask> = {}): SavedTask => ({
  name: "deploy",
  description: "Deploys a service",
  text: "Deploy {service}",
  fields: [{ name: "service", label: "Service", choices: null, required: true }],
  channels: null,
  who: null,
  ...facts,
});

async function benchWith(...tasks: readonly SavedTask[]): Promise<Bench> {
  const bench = await createBench();
  bench.policy = { ...aPolicy({}), tasks };
  return bench;
}

const start = (bench: Bench, saved: object, intention = "1") =>
  bench.flow.startRun.start(BY, {
    input: "",
    intention,
    answerUrl: null,
    saved: { name: "deploy", values: { service: "billing" }, ...saved },
  });
const entries = async ({ store }: Bench) =>
  (await store.auditAfter(0, ["started", "refused"], 9)).map(({ entry }) => entry);

describe("a saved task", () => {
  test("starts a run with its filled-in text, which the audit stores beside its name", async () => {
    const bench = await benchWith(aTask());
    const started = await start(bench, {});
    if (!started.ok) throw new Error(started.error.type);
    expect((await bench.store.load(started.value))?.run.input).toBe("Deploy billing");
    const [entry] = await entries(bench);
    expect(entry).toMatchObject({ what: "started", savedTask: "deploy", by: { user: REQUESTER } });
    expect(await bench.store.auditText(entry?.digest ?? "")).toBe("Deploy billing");
  });

  test.each<[string, SavedTask, object, string]>([
    ["of a name that is gone", aTask({ name: "other" }), {}, "saved-task-gone"],
    ["for another channel", aTask({ channels: [ChannelId("C0ELSE")] }), {}, "not-your-task"],
    ["for another group", aTask({ who: { users: [], groups: [DEV], channels: [] } }), {}, "not-your-task"],
    ["with an empty field", aTask(), { values: { service: "" } }, "saved-task-unfinished"],
    ["with a field too many", aTask(), { values: { service: "a", env: "b" } }, "saved-task-unfinished"],
    ["that was changed under an open form", aTask(), { digest: "0123456789ab" }, "saved-task-changed"],
  ])("%s starts nothing, and the audit says so", async (_name, task, saved, type) => {
    const bench = await benchWith(task);
    expect(await start(bench, saved)).toMatchObject({ ok: false, error: { type } });
    expect(await entries(bench)).toMatchObject([{ what: "refused", step: "start", refusal: type }]);
  });

  test("starts under a newer policy that has the same task", async () => {
    const bench = await benchWith(aTask());
    const [offered] = await bench.flow.startRun.offered(BY);
    bench.policy = { ...bench.policy, version: "ba9876543210" };
    expect((await start(bench, { digest: offered?.digest })).ok).toBe(true);
  });

  test("cannot be started by a person who may start nothing", async () => {
    const bench = await benchWith(aTask());
    const only = { users: [APPROVER], groups: [], channels: [] };
    bench.policy = { ...bench.policy, starters: [{ channels: null, who: only }] };
    expect(await start(bench, {})).toMatchObject({ error: { type: "not-starter" } });
  });

  test("starts nothing if Slack does not say whether the person may start anything", async () => {
    const bench = await benchWith(aTask());
    const only = { users: [], groups: [], channels: [ChannelId("C0HIDDEN")] };
    bench.policy = { ...bench.policy, starters: [{ channels: null, who: only }] };
    bench.people.memberOf = () => Promise.resolve(new Map());
    expect(await start(bench, {})).toMatchObject({ error: { type: "unverified" } });
  });

  test("is offered in the channels and to the people that the policy names, and not if Slack does not say who someone is", async () => {
    const forDev = aTask({ name: "dev", who: { users: [], groups: [DEV], channels: [] } });
    const elsewhere = aTask({ name: "elsewhere", channels: [ChannelId("C0ELSE")] });
    const bench = await benchWith(aTask(), forDev, elsewhere);
    const offered = async () => (await bench.flow.startRun.offered(BY)).map(({ task }) => task.name);
    expect(await offered()).toEqual(["deploy"]);
    bench.people.sets = new Set([DEV]);
    expect(await offered()).toEqual(["deploy", "dev"]);
    bench.people.memberOf = () => Promise.reject(failure("timeout"));
    expect(await offered()).toEqual(["deploy"]);
  });

  test("is found by its name in a typed line, complete or with missing fields", async () => {
    const bench = await benchWith(aTask());
    const named = (line: string) => bench.flow.startRun.named(line);
    expect(named("deploy")).toMatchObject({ lacks: true });
    expect(named("deploy service=billing")).toMatchObject({
      lacks: false,
      saved: { name: "deploy", values: { service: "billing" } },
    });
    expect(named("deploy sevice=billing")).toMatchObject({ lacks: false });
    expect(named("deploy billing to production")).toBeNull();
  });
});
