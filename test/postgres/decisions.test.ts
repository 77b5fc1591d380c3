// The journeys that write the most, and those that survive a restart, with the bot on PostgreSQL. `npm run test:postgres` runs all
// journeys.

import { usePostgres } from "../make/world-database.ts";

usePostgres();
await import("../journeys/sending-decisions.test.ts");
await import("../journeys/restarts.test.ts");
await import("../journeys/replays.test.ts");
