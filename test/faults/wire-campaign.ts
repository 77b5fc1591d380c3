// Every kind of fault on every call to the service and to Slack.

import { runCampaign } from "./fault-campaign.ts";
import { WIRE_CASES } from "./wire-cases.ts";
import { layOnWire, startWireLane } from "./wire-faults.ts";

await runCampaign({
  usage: "npm run campaign:wire -- [--only WORDS] [--lanes 2]",
  cases: WIRE_CASES,
  start: startWireLane,
  lay: layOnWire,
});
