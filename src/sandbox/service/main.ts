// The reference service and the gateway alone, from the shell.

import { parseArgs } from "node:util";
import { startGateway } from "./start-gateway.ts";
import { startService } from "./start-service.ts";
import { tasks } from "./tasks.ts";

const options = {
  port: { type: "string", default: "4010" },
  "gateway-port": { type: "string", default: "4011" },
  key: { type: "string" },
  state: { type: "string" },
  tempo: { type: "string", default: "1" },
  help: { type: "boolean", default: false },
} as const;

const usage = `Runs the reference agent-run service and the token gateway on this machine.

  --port <n>          the service's port (4010; 0: any free one)
  --gateway-port <n>  the gateway's port (4011; 0: any free one)
  --key <key>         the service's API key (minted when left out)
  --state <file>      keeps the runs in this file over restarts
  --tempo <factor>    on all durations: 0.1 is ten times as fast, 0 does not wait at all (1)

The words of a task choose what its run does:

${tasks.map(({ words, what }) => `  ${words.padEnd(22)} ${what}`).join("\n")}
`;

try {
  const given = parseArgs({ options }).values;
  if (given.help) console.log(usage);
  else await run(given);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

type Given = { port: string; "gateway-port": string; tempo: string; key?: string; state?: string };

async function run(given: Given) {
  const port = numberIn("--port", given.port);
  const gatewayPort = numberIn("--gateway-port", given["gateway-port"]);
  const tempo = numberIn("--tempo", given.tempo);
  const apiKey = given.key === undefined ? {} : { apiKey: given.key };
  const service = await startService({ port, tempo, statePath: given.state ?? null, ...apiKey });
  console.log(`agent-run service  ${service.url}`);
  console.log(`its key            ${given.key === undefined ? service.apiKey : "(the one given)"}`);
  const gateway = await startGateway({ port: gatewayPort }).catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  console.log(`token gateway      ${gateway.url}`);
  console.log(`its key            ${gateway.keys.join(" ")}`);

  const stop = () => void Promise.all([service.stop(), gateway.stop()]);
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

function numberIn(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number) || number < 0) {
    throw new Error(`${name} must be a number of 0 or more, for example ${name} 0; given: ${text}`);
  }
  return number;
}
