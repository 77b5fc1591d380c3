// Every kind of fault on every call to the service and to Slack.

import { startLane } from "../crash/lane.ts";
import { runCampaign } from "./fault-campaign.ts";
import { WIRE_CASES } from "./wire-cases.ts";
import { layOnWire, withKeyFile } from "./wire-faults.ts";

await runCampaign({
  usage: "npm run campaign:wire -- [--only WORDS] [--lanes 2]",
  cases: WIRE_CASES,
  start: (keyFile) => startLane((given) => withKeyFile(given, keyFile)),
  lay: layOnWire,
});
