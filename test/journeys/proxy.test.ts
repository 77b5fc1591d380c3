// The bot in a network where only a proxy leads outside: outside names cannot be resolved, and every outside connection is TLS.

import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { makeAuthority, makeCertificate } from "../make/certificates.ts";
import { accepted, createActing } from "../make/journey-acts.ts";
import { createSight } from "../make/journey-sight.ts";
import { PATIENT } from "../make/patient.ts";
import { type Proxy, PROXY_PASSWORD, startProxy } from "../make/proxy.ts";
import { ana, ben, opsAgents } from "../make/world.ts";

const SLACK = "slack.example.test";
const SERVICE = "agents.example.test";
const GATEWAY = "gateway.example.test";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-proxy-"));
  makeAuthority(folder, "ours");
  makeCertificate(folder, "server", "ours", [SLACK, SERVICE, GATEWAY].map((name) => `DNS:${name}`).join());
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Accepts TLS connections for each name and forwards them to the name's port. Resolves to its own port. */
async function startFront(where: () => { readonly [host: string]: number }): Promise<number> {
  const [key, cert] = ["server.key", "server.crt"].map((name) => readFileSync(join(folder, name)));
  const front = tls.createServer({ key, cert }, (near) => {
    const far = net.connect(where()[near.servername || ""] ?? 9, "127.0.0.1");
    near.pipe(far).pipe(near);
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  onTestFinished(() => void front.close());
  return (front.address() as AddressInfo).port;
}

const portOf = (url: string): number => Number(new URL(url).port);

type Behind = { readonly world: World; readonly proxy: Proxy; readonly printed: () => string };

/** Starts a bot behind the proxy, and waits until it is ready. `env` returns additional variables. */
async function startBehindProxy(env: (world: World) => { readonly [name: string]: string }): Promise<Behind> {
  const databaseUrl = `sqlite:${join(folder, `${Date.now()}.db`)}`;
  const world = await startWorld({
    databaseUrl,
    tempo: 0,
    slack: { publicUrl: `https://${SLACK}/`, timing: PATIENT },
  });
  onTestFinished(() => world.stop());
  const ports = {
    [SLACK]: portOf(world.slack.url),
    [SERVICE]: portOf(world.service.url),
    [GATEWAY]: portOf(world.gateway.url),
  };
  const front = await startFront(() => ports);
  const proxy = await startProxy({ [SLACK]: front, [SERVICE]: front, [GATEWAY]: front });
  const bot = startBot({
    ...world.env,
    SLACK_API_URL: `https://${SLACK}/api/`,
    AGENT_BASE_URL: `https://${SERVICE}`,
    GATEWAY_URL: `https://${GATEWAY}`,
    NODE_EXTRA_CA_CERTS: join(folder, "ours.crt"),
    HTTPS_PROXY: proxy.url,
    ...env(world),
  });
  onTestFinished(async () => void (await bot.end("SIGKILL")));
  await bot.ready(30_000);
  return { world, proxy, printed: () => bot.printed() };
}

test("a run, a decision, a file and the health check all go through the proxy", async () => {
  const { world, proxy, printed } = await startBehindProxy(() => ({}));
  const sight = createSight(world);
  const acting = createActing(world, sight);
  const { card } = await acting.asking(ana, opsAgents, "rotate the keys of billing-api");
  await acting.decide(ben, card, "Approve", "as planned");
  await acting.runAt("rotate the keys of billing-api", ({ phase }) => phase === "succeeded");
  await acting.run(ana, opsAgents, "huge request: rotate all keys");
  await sight.until(() => world.slack.workspace.files.size > 0);
  accepted(await acting.command(ana, opsAgents, "health"));
  await sight.until(() => proxy.asked.some((each) => each.includes(GATEWAY)));
  expect(new Set(proxy.asked)).toEqual(
    new Set([SLACK, SERVICE, GATEWAY].map((host) => `CONNECT ${host}:443`)),
  );
  for (const password of [PROXY_PASSWORD, encodeURIComponent(PROXY_PASSWORD)])
    expect(printed()).not.toContain(password);
});

test("hosts in NO_PROXY are called directly, and so is this machine", async () => {
  const { world, proxy } = await startBehindProxy(({ service }) => ({
    AGENT_BASE_URL: service.url,
    GATEWAY_URL: `https://${GATEWAY}`,
    NO_PROXY: `10.0.0.1, ${GATEWAY}`,
  }));
  const sight = createSight(world);
  const acting = createActing(world, sight);
  await acting.asking(ana, opsAgents, "rotate the keys of billing-api");
  accepted(await acting.command(ana, opsAgents, "health"));
  await sight.until(() => sight.ephemeralMessages(ana).length > 0);
  expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${SLACK}:443`]));
});
