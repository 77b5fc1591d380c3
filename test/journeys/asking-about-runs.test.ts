import { describe, expect, test } from "vitest";
import { buttonsOf, textOf } from "../make/journey-sight.ts";
import { idOf, says } from "../make/message-id.ts";
import {
  ana,
  ben,
  cat,
  guest,
  opsAgents,
  outsider,
  payments,
  random,
  releases,
  aWorld,
} from "../make/world.ts";
import { literal } from "../make/world-database.ts";

const TASK = "deploy billing-api to production";
const SECRET = "pay the secret invoice";

describe.concurrent("/agent status, list and pending", () => {
  test("show the state of a channel's runs to its members", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const done = await world.run(ben, opsAgents, "just say done");
    await world.saidIn(done, "outcome:succeeded");
    const { id } = await world.runAt(TASK);

    await world.command(cat, opsAgents, `status \`${id}\``);
    const status = await world.told(cat, "answer:status", TASK);
    for (const words of [`@${ana}`, id, "Deploy billing-api"]) expect(status).toContain(words);
    await world.command(cat, releases, "list");
    const list = await world.told(cat, "answer:list", "just say done");
    expect(list).toContain(TASK);
    await world.command(cat, opsAgents, "pending");
    expect(await world.told(cat, "answer:pending", "Deploy billing-api")).not.toContain("just say done");
    // Guests cannot decide, so they see no requests.
    await world.command(guest, opsAgents, "pending");
    expect(await world.told(guest, "answer:pending:empty")).not.toContain("Deploy billing-api");

    await world.decide(ben, card, "Approve", "");
    await world.becomes(card, "approved");
    await world.command(ben, opsAgents, "pending");
    await world.told(ben, "answer:pending:empty");
  });

  test("show nothing of a run to people outside its channel", async (context) => {
    const world = await aWorld(context);
    await world.asking(ana, payments, SECRET);
    const { id } = await world.runAt(SECRET);
    await world.command(cat, opsAgents, `status ${id}`);
    expect(await world.told(cat, "command-refusal:unknown-run")).not.toContain(SECRET);
    await world.command(cat, opsAgents, "list");
    await world.told(cat, "answer:list:empty");
    await world.command(cat, opsAgents, "pending");
    await world.told(cat, "answer:pending:empty");
    await world.command(cat, opsAgents, `watch ${id}`);
    await world.command(cat, opsAgents, `unwatch ${id}`);
    await world.until(
      () =>
        world.ephemeralMessages(cat).filter((each) => says("command-refusal:unknown-run", each)).length === 3,
    );
    expect(world.ephemeralsFor(cat).join("\n")).not.toMatch(/secret|payments|C0PAYMENTS/);

    await world.command(ben, opsAgents, "pending");
    await world.told(ben, "answer:pending", SECRET);
  });

  test.for(["list", "pending", "status"])(
    "%s shows nothing, and says that nothing was changed, if Slack does not return the memberships",
    async (question, context) => {
      const world = await aWorld(context, { troubled: true });
      await world.asking(ana, opsAgents, TASK);
      const { id } = await world.runAt(TASK);
      world.slack.faults.next("users.conversations", { http: 500 });
      await world.command(cat, opsAgents, question === "status" ? `status ${id}` : question);
      const told = await world.until(() => world.ephemeralMessages(cat)[0]);
      expect(textOf(told)).not.toContain(TASK);
      expect(idOf(told)).toBe("answer:not-read");
    },
  );

  test("status says that trying again does not help if the stored run cannot be read", async (context) => {
    const world = await aWorld(context, { troubled: true, tampered: true });
    await world.asking(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    await world.database.sql(`update runs set doc = 'cut off' where service_run_id = ${literal(id)}`);
    await world.command(ben, opsAgents, `status ${id}`);
    await world.told(ben, "answer:unreadable-run");
  });
});

describe.concurrent("/agent watch", () => {
  test("adopts a run that was started elsewhere, and the person who adopts it may not decide its requests", async (context) => {
    const world = await aWorld(context, { profile: { readEchoesInput: true } });
    const { id } = world.service.control.createRun(TASK);
    await world.command(ben, releases, `watch ${id}`);
    await world.told(ben, "answer:watching");
    const opening = await world.until(() => world.posted(releases)[0]);
    await world.reads(opening, `@${ben}`, TASK);
    const card = await world.cardOf(opening);
    await world.isRefused(ben, card, "Approve", "requester");
    await world.decide(cat, card, "Approve", "adopted and approved");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "adopted and approved" }]);
    expect(world.tasksSent()).toEqual([]);
  });

  test("a second time changes neither the requester nor the channel", async (context) => {
    const world = await aWorld(context);
    const { opening } = await world.asking(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    await world.command(ben, releases, `watch ${id}`);
    expect(await world.told(ben, "command-refusal:already-watched")).toContain(opsAgents);
    expect(world.posted(releases)).toEqual([]);
    expect(textOf(opening)).toContain(`@${ana}`);
  });

  test.for([
    ["a guest", guest, "command-refusal:guest"],
    ["someone of another workspace", outsider, "command-refusal:outsider"],
  ] as const)("is not for %s", async ([, person, refusal], context) => {
    const world = await aWorld(context);
    const { id } = world.service.control.createRun(TASK);
    await world.command(person, opsAgents, `watch ${id}`);
    await world.told(person, refusal);
    expect(world.posted()).toEqual([]);
  });

  test("says that nothing was done if the service does not answer", async (context) => {
    const world = await aWorld(context);
    const { id } = world.service.control.createRun(TASK);
    await world.service.control.down();
    await world.command(ana, opsAgents, `watch ${id}`);
    await world.told(ana, "command-refusal:service-silent");
    expect(world.posted()).toEqual([]);
  });

  test("says so if Countersign cannot post in the channel", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { id } = world.service.control.createRun(TASK);
    await world.command(ana, random, `watch ${id}`);
    await world.told(ana, "notice:cannot-post");
  });

  test("adopts a run that has ended, and reports its end", async (context) => {
    const world = await aWorld(context);
    const { id } = world.service.control.createRun("just say it was here before");
    await world.service.runs.until(id, ({ ending }) => ending !== null);
    await world.command(ana, opsAgents, `watch ${id}`);
    const opening = await world.until(() => world.posted(opsAgents)[0]);
    await world.saidIn(opening, "outcome:succeeded", "it was here before");
  });
});

describe.concurrent("/agent unwatch", () => {
  test("closes the open cards and says so in the thread", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    await world.command(ana, opsAgents, `unwatch ${id}`);
    await world.told(ana, "answer:unwatched");
    await world.becomes(card, "closed");
    await world.becomes(opening, "run:dropped");
    expect(buttonsOf(card)).toEqual([]);
    await world.command(ana, opsAgents, `unwatch ${id}`);
    await world.told(ana, "command-refusal:not-watched");
  });

  test("can be undone by watching again, with a card that works", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    await world.command(ana, opsAgents, `unwatch ${id}`);
    await world.becomes(card, "closed");
    await world.command(cat, opsAgents, `watch ${id}`);
    await world.becomes(card, "pending");
    await world.isRefused(ana, card, "Approve", "requester");
    await world.decide(cat, card, "Approve", "watched again");
    await world.saidIn(opening, "outcome:succeeded");
  });

  test("is refused while a decision is being sent", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    const gate = world.service.control.fault({ route: "decide" }, { type: "gate" });
    await world.decide(ben, card, "Approve", "on its way");
    await world.service.requests.until(() => gate.hits() === 1);
    await world.command(ana, opsAgents, `unwatch ${id}`);
    await world.told(ana, "command-refusal:deciding");
    gate.release();
    await world.becomes(card, "approved");
  });
});

describe.concurrent("/agent health", () => {
  test("shows the service, the gateway, the watching and the store if all are healthy", async (context) => {
    const world = await aWorld(context);
    await world.asking(ana, opsAgents, TASK);
    await world.command(ana, opsAgents, "health");
    const told = await world.told(ana, "answer:health:ok");
    for (const words of [
      "1.4.2",
      "sandbox-gateway",
      "small local model",
      "POST /v1/messages",
      "1 run",
      "Store",
    ])
      expect(told).toContain(words);
    const health = world.service.requests.all({ route: "health" });
    expect(health.map(({ key }) => key)).toEqual(["none"]);
    expect(world.world.gateway.requests.all().map(({ key, path }) => [key, path])).toEqual([
      ["none", "/healthz"],
    ]);
  });

  test("says that the service is down", async (context) => {
    const world = await aWorld(context);
    await world.service.control.down();
    await world.command(ana, opsAgents, "health");
    const told = await world.told(ana, "answer:health:faulty");
    expect(told).toContain("nothing listens");
    expect(told).toContain("sandbox-gateway");
  });

  test("quotes the gateway when it is degraded", async (context) => {
    const world = await aWorld(context);
    world.world.gateway.control.status({ status: "degraded", message: "Billing is late." });
    await world.command(ana, opsAgents, "health");
    const told = await world.told(ana, "answer:health:faulty");
    expect(told).toContain("degraded");
    expect(told).toContain("Billing is late.");
    expect(told).toContain("1.4.2");
  });

  test("says that the service refuses the key, although its own health check passes", async (context) => {
    const world = await aWorld(context);
    await world.asking(ana, opsAgents, TASK);
    world.service.control.rotateKey();
    await world.service.requests.until((all) => all.at(-1)?.status === 401);
    await world.lateBy(0);
    await world.command(ana, opsAgents, "health");
    const told = await world.told(ana, "answer:health:faulty");
    expect(told).toMatch(/401|key/);
  });
});
