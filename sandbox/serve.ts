// `npm run service`: runs the reference service and the gateway alone.

import { type Clock, createSandboxClock } from "./base/sandbox-clock.ts";
import type { Servers } from "./control/servers.ts";
import { createServiceControl } from "./control/service-control.ts";
import { nameOfKey } from "./service/api-keys.ts";
import { type Listener, type Serve, startListener } from "./service/listener.ts";
import { helpText, readOptions, type Wanted } from "./service/shell-options.ts";
import { type Gateway, startGateway } from "./service/start-gateway.ts";
import { type Service, startService } from "./service/start-service.ts";
import { usageReport } from "./service/usage.ts";

try {
  const wanted = readOptions(process.argv.slice(2));
  if (wanted === "help") console.log(helpText());
  else await run(wanted);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

async function run(wanted: Wanted) {
  const clock = createSandboxClock();
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async () => void (await Promise.all(closers.map((close) => close())));
  try {
    const service = await serviceFor(wanted, clock);
    closers.push(service.stop);
    const gateway = await gatewayFor(wanted, clock);
    closers.push(gateway.stop);
    const control = await controlFor(wanted.controlPort, { service, gateway, clock });
    if (control !== null) closers.push(control.down);
    const report = () => console.log(usageReport(gateway.usage()));
    onSignals(report, () => closeAll().then(report));
    printAddresses(wanted, { service, gateway, control });
  } catch (error) {
    await closeAll();
    throw error;
  }
}

type Started = { readonly service: Service; readonly gateway: Gateway; readonly control: Listener | null };

function printAddresses({ key, gatewayKeys }: Wanted, { service, gateway, control }: Started) {
  console.log(`agent-run service  ${service.url}`);
  console.log(`its key            ${service.apiKey === key ? "(the one given)" : service.apiKey}`);
  console.log(`token gateway      ${gateway.url}`);
  for (const one of gateway.keys) {
    const shown = gatewayKeys === null ? one : "(as given)";
    console.log(`its key            ${shown}  reported as ${nameOfKey(one)}`);
  }
  if (control !== null) console.log(`control            ${control.url}/control`);
}

/** Stops on SIGINT and SIGTERM, and reports on SIGUSR2. A second signal has no effect. */
function onSignals(report: () => void, stop: () => Promise<void>) {
  let stopping = false;
  const once = () => {
    if (stopping) return;
    stopping = true;
    // A control request that waits may still hold a timer, but its client has disconnected.
    void stop().then(() => process.exit());
  };
  process.on("SIGINT", once);
  process.on("SIGTERM", once);
  if (process.platform !== "win32") process.on("SIGUSR2", report);
}

function serviceFor({ port, tempo, profile, state, key }: Wanted, clock: Clock): Promise<Service> {
  const apiKey = key === null ? {} : { apiKey: key };
  const starting = startService({ port, tempo, profile, clock, statePath: state, ...apiKey });
  return starting.catch(onPort(port, "--port"));
}

function gatewayFor(wanted: Wanted, clock: Clock): Promise<Gateway> {
  const { gatewayPort, gatewayKeys, state, tokenMs, tempo, requestsPerMinute } = wanted;
  return startGateway({
    port: gatewayPort,
    clock,
    statePath: state === null ? null : `${state}.gateway`,
    tokenMs: tokenMs * tempo,
    requestsPerMinute,
    ...(gatewayKeys === null ? {} : { keys: gatewayKeys }),
  }).catch(onPort(gatewayPort, "--gateway-port"));
}

async function controlFor(port: number | null, servers: Servers): Promise<Listener | null> {
  if (port === null) return null;
  const control = createServiceControl(servers);
  const serve: Serve = (request, response) => {
    if (!control(request, response)) response.writeHead(404).end();
  };
  return startListener({ host: "127.0.0.1", port }, serve).catch(onPort(port, "--control-port"));
}

function onPort(port: number, option: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    const words = `Port ${port} is in use. Choose another with ${option}, or use 0 for any free port.`;
    throw new Error(words, { cause: error });
  };
}
