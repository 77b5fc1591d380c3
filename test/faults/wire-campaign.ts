// Plays every kind of fault on every call to the service and to Slack.

import { type Environment, type Lane, startLane } from "../crash/lane.ts";
import { startReplicaLane } from "../crash/replica-lane.ts";
import { startPostgres } from "../make/postgres.ts";
import { runCampaign } from "./fault-campaign.ts";
import { WIRE_CASES } from "./wire-cases.ts";
import { setUpWireFault, forWire } from "./wire-faults.ts";

await runCampaign({
  usage: `npm run campaign:wire -- [--only WORDS] [--lanes 2] [--replicas 3]
Several replicas need PostgreSQL on this machine.`,
  cases: WIRE_CASES,
  start: (keyFile, replicas) => {
    const env = (given: Environment) => forWire(given, keyFile);
    return replicas === 1 ? startLane(env) : startReplicas(replicas, env);
  },
  setUpFault: setUpWireFault,
});

async function startReplicas(replicas: number, env: (given: Environment) => Environment): Promise<Lane> {
  const server = await startPostgres();
  const lane = await startReplicaLane(server, { replicas, env });
  return {
    ...lane,
    stop: async () => {
      await lane.stop();
      await server.stop();
    },
  };
}
