// Every fault of the disk, the clock and the machine, before each act of a person. It needs Linux with strace.

import { writeFileSync } from "node:fs";
import { startLane } from "../crash/lane.ts";
import { runCampaign } from "./fault-campaign.ts";
import { layStorage, STORAGE_FAULTS } from "./storage-faults.ts";

const CLOCK = new URL("jumping-clock.ts", import.meta.url).href;

await runCampaign({
  usage: "npm run campaign:storage -- [--only WORDS] [--lanes 2]",
  cases: Object.keys(STORAGE_FAULTS).flatMap((fault) =>
    (["command", "click", "submit"] as const).map((from) => ({
      name: `${fault}, from the ${from} on`,
      from,
      fault,
    })),
  ),
  start: (clockFile) => {
    writeFileSync(clockFile, "0");
    return startLane({ NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_FILE: clockFile });
  },
  lay: (lane, { fault }, clockFile) => layStorage(lane, fault, clockFile),
});
