import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createSandboxClock } from "#sandbox/base/sandbox-clock.ts";
import { createServiceControl } from "#sandbox/control/service-control.ts";
import { startGateway } from "#sandbox/service/start-gateway.ts";
import { startService } from "#sandbox/service/start-service.ts";
import { controlOf } from "./controlled.ts";

test("a service that runs alone is controlled in the same way, at an address of its own", async ({
  onTestFinished,
}) => {
  const clock = createSandboxClock();
  const [service, gateway] = await Promise.all([startService({ clock, tempo: 1 }), startGateway({ clock })]);
  const handler = createServiceControl({ service, gateway, clock });
  const server = createServer((req, res) => {
    if (!handler(req, res)) res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await Promise.all([service.stop(), gateway.stop()]);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { act, read, send } = controlOf(url);

  const { run } = (await act("service.createRun", { task: "a slow thing" })) as { run: string };
  await act("clock.advance", { ms: 120_000 });
  expect(await read("/control/runs", { run, phase: "awaiting_approval", wait: "10" })).toHaveLength(1);
  await act("gateway.down");
  expect((await send("/control/service")).body).toMatchObject({ gatewayUp: false, clockAheadMs: 120_000 });
  const { acts } = (await send("/control")).body as { acts: { name: string }[] };
  expect(new Set(acts.map(({ name }) => name.split(".")[0]))).toEqual(
    new Set(["service", "gateway", "clock"]),
  );
  expect((await fetch(`${url}elsewhere`)).status).toBe(404);
});
