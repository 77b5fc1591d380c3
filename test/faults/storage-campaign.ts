// Plays every fault of disk, clock and machine before each act of a person. Needs Linux with strace.

import { writeFileSync } from "node:fs";
import { startLane } from "../crash/lane.ts";
import { runCampaign } from "./fault-campaign.ts";
import { setUpStorageFault, STORAGE_CASES, withClock } from "./storage-faults.ts";

await runCampaign({
  usage: "npm run campaign:storage -- [--only WORDS] [--lanes 2]",
  cases: STORAGE_CASES,
  start: (clockFile) => {
    writeFileSync(clockFile, "0");
    return startLane((env) => withClock(env, clockFile));
  },
  setUpFault: setUpStorageFault,
});
