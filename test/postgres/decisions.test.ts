// Once more with the bot on PostgreSQL: the journeys that write the most, and those that outlive a restart. `npm run test:postgres` runs all.

import { usePostgres } from "../make/world-database.ts";

usePostgres();
await import("../journeys/sending-decisions.test.ts");
await import("../journeys/restarts.test.ts");
await import("../journeys/replays.test.ts");
